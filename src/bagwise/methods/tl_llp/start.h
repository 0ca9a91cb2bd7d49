// TL-LLP as a start for methods that look at single rows: fitted at fixed options to rows scaled already.
//
// What becomes of the scores is the other method's business (alter_psvm/starts.h).
#pragma once

#include <span>
#include <vector>

#include "bagwise/methods/tl_llp/tl_llp.h"

namespace bagwise {

// Rows are exact; costs and pulls are TL-LLP's defaults, which ask a quarter of the target's cost of a
// source. With a kernel, the other method's own.
TlLlpOptions tl_llp_start(const KernelChoice& choice, const KernelFunction& kernel);

// Tasks: sources in order, the target last, all scaled already; `context.scaling` is not looked at. The fit's
// model has a plane, or an expansion, for each. On a path it is solved as roughly as other fits there.
Result<Fit> fit_tl_llp_start(std::span<const BaggedData* const> tasks, TlLlpOptions options,
                             const Context& context);

// Its scores of the target's rows.
Result<std::vector<double>> tl_llp_scores(std::span<const BaggedData* const> tasks,
                                          const TlLlpOptions& options, const Context& context);

}  // namespace bagwise
