#include "bagwise/methods/recalibrate.h"

#include <cassert>
#include <vector>

#include "bagwise/bags/rows_by_bag.h"
#include "bagwise/methods/scorer.h"

namespace bagwise {

Probability fit_bag_sigmoid(std::span<const double> scores, std::span<const std::uint32_t> bag_of_row,
                            const Bags& bags) {
  assert(scores.size() == bag_of_row.size());
  const RowsByBag order(bag_of_row, bags.size());
  std::vector<double> grouped;
  grouped.reserve(scores.size());
  for (const std::size_t i : order.row) grouped.push_back(scores[i]);
  return fit_bag_sigmoid(grouped, order.start, bags.proportions);
}

void recalibrate(Model& model, std::span<const TrainingTask> tasks, unsigned threads) {
  assert(model.tasks.size() <= tasks.size());
  tasks = tasks.last(model.tasks.size());
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    if (tasks[t].rows == nullptr) continue;
    const BaggedData& data = *tasks[t].rows;
    const auto f = Scorer(model, t).scores(data.features.view(), threads);
    model.tasks[t].probability = fit_bag_sigmoid(f, data.bag_of_row, data.bags);
  }
}

}  // namespace bagwise
