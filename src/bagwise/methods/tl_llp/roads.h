// The roads of a TL-LLP fit: linear, kernel, and kernel by landmarks. Internal to methods/tl_llp/.
#pragma once

#include <string>
#include <vector>

#include "bagwise/bags/feature_moments.h"
#include "bagwise/methods/tl_llp/tl_llp.h"

namespace bagwise::tl_llp {

// What every road starts from.
struct Prepared {
  std::span<const TrainingTask> tasks = {};   // sources in order, the target last
  std::vector<const ReducedBags*> data = {};  // of each task
  Scaling scaling = {};
  FeatureMoments moments = FeatureMoments(0);  // of all tasks; only where scaling or a kernel needs them
  std::vector<std::string> warnings = {};
};

Result<Fit> fit_linear(const Prepared& prepared, const TlLlpOptions& options, const Context& context);
Result<Fit> fit_with_kernel(const Prepared& prepared, const TlLlpOptions& options, const Context& context);
Result<Fit> fit_with_landmarks(const Prepared& given, const TlLlpOptions& options, const Context& context);

// The bound of a row, and the mean bound of a bag's rows.
double bound_of_row(const BaggedData& data, std::size_t row, const TlLlpOptions& options);
double bound_of_bag(const ReducedBags& data, std::size_t bag, const TlLlpOptions& options);

// The training report but for its tasks: what the last convex solve and the rounds say.
TrainingReport report_rounds(const RoundsCourse& rounds, const SolveReport& last, const Prepared& prepared,
                             const TlLlpOptions& options, const Context& context);

}  // namespace bagwise::tl_llp
