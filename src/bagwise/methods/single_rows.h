// What methods that look at single rows have in common, from options to the model's expansion.
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bagwise/bags/feature_moments.h"
#include "bagwise/methods/bag_checks.h"
#include "bagwise/methods/kernel_model.h"
#include "bagwise/methods/registry.h"
#include "bagwise/methods/scaling.h"

namespace bagwise {

// What a fit begins with, of the rows of all tasks.
struct PreparedRows {
  FeatureMoments moments;  // as they were read
  Scaling scaling;
  std::vector<std::string> warnings;
};

// Tasks: sources in order, the target last. Errors: options, rows or bags that are not fit to begin with.
template <class Options>
Result<PreparedRows> check_and_scale(std::span<const TrainingTask> tasks, const Options& options,
                                     const Context& context) {
  if (const auto faults = validate(options); !faults.empty())
    return Error{fmt::format("{}", fmt::join(faults, "; "))};
  if (auto checked = check_kernel_choice(options.kernel_choice()); !checked) return checked.error();
  if (auto checked = check_rows_at_hand(tasks, context); !checked) return checked.error();
  const ReducedBags& target = tasks.back().reduced;
  if (auto checked = check_target_bags(target); !checked) return checked.error();
  PreparedRows out{target.moments, {}, {}};
  for (const TrainingTask& source : tasks.first(tasks.size() - 1)) {
    if (auto checked = check_source_bags(source, source.reduced, target, out.warnings); !checked)
      return checked.error();
    out.moments.merge(source.reduced.moments);
  }
  auto scaling = fit_scaling(options.scale, out.moments, target.feature_names, context.scaling);
  if (!scaling) return scaling.error();
  out.scaling = std::move(*scaling);
  return out;
}

// Another method's options with this kernel, as it is on rows that are scaled already, and its defaults else:
// for a start.
template <class Options>
Options with_kernel(const KernelChoice& choice, const KernelFunction& kernel) {
  Options out;
  out.kernel = choice.kernel;
  out.degree = choice.degree;
  out.nystrom = choice.nystrom;
  if (!choice.is_linear()) out.gamma = kernel.gamma;
  return out;
}

// Scores of the target's rows, which are as the fit saw them.
Result<std::vector<double>> target_scores(const Result<Fit>& fit, const BaggedData& target, unsigned threads);

// f(x) = sum_j weights_j k(x_j, x) + bias as the model's only task; rows of weight 0 are left out.
void set_row_weights(const KernelFunction& kernel, const RowsView& rows, std::span<const double> weights,
                     TaskModel task, Model& model);

}  // namespace bagwise
