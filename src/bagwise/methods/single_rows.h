// What methods that label single rows have in common, from options to the model's expansion.
#pragma once

#include <fmt/format.h>

#include <span>

#include "bagwise/methods/bag_checks.h"
#include "bagwise/methods/inv_cal/inv_cal.h"
#include "bagwise/methods/kernel_model.h"
#include "bagwise/methods/registry.h"
#include "bagwise/methods/scaling.h"

namespace bagwise {

// That options, rows and bags are fit to begin with; gives the scaling.
template <class Options>
Result<Scaling> check_and_scale(const TrainingTask& target, const Options& options, const Context& context) {
  if (const auto faults = validate(options); !faults.empty())
    return Error{fmt::format("{}", fmt::join(faults, "; "))};
  if (auto checked = check_kernel_choice(options.kernel_choice()); !checked) return checked.error();
  if (auto checked = check_rows_at_hand({&target, 1}, context); !checked) return checked.error();
  if (auto checked = check_target_bags(target.reduced); !checked) return checked.error();
  return fit_scaling(options.scale, target.reduced.moments, target.reduced.feature_names, context.scaling);
}

// InvCal of the same kernel, for rows that are scaled already, at its default cost.
InvCalOptions inv_cal_start(const KernelChoice& choice, const KernelFunction& kernel);

// f(x) = sum_j weights_j k(x_j, x) + bias as the model's only task; rows of weight 0 are left out.
void set_row_weights(const KernelFunction& kernel, const RowsView& rows, std::span<const double> weights,
                     TaskModel task, Model& model);

}  // namespace bagwise
