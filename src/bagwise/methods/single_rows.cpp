#include "bagwise/methods/single_rows.h"

#include <utility>
#include <vector>

namespace bagwise {

InvCalOptions inv_cal_start(const KernelChoice& choice, const KernelFunction& kernel) {
  InvCalOptions out;
  out.kernel = choice.kernel;
  out.degree = choice.degree;
  out.nystrom = choice.nystrom;
  if (!choice.is_linear()) out.gamma = kernel.gamma;
  return out;
}

void set_row_weights(const KernelFunction& kernel, const RowsView& rows, std::span<const double> weights,
                     TaskModel task, Model& model) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    kept.push_back(i);
    task.weights.push_back(weights[i]);
  }
  model.expansion = Expansion{kernel, take_rows(rows, kept)};
  model.tasks = {std::move(task)};
}

}  // namespace bagwise
