#include "bagwise/methods/single_rows.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "bagwise/methods/number_range.h"
#include "bagwise/methods/scorer.h"

namespace bagwise {

Result<std::vector<double>> target_scores(const Result<Fit>& fit, const BaggedData& target,
                                          unsigned threads) {
  if (!fit) return fit.error();
  // Scores of a kernel take as long as the fit.
  if (fit->model.expansion && fit->model.training.termination == "stopped") return stopped_error();
  auto out = Scorer(fit->model, fit->model.tasks.size() - 1).scores(target.features.view(), threads);
  if (!std::all_of(out.begin(), out.end(), [](double f) { return std::isfinite(f); }))
    return overflow_error();
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
