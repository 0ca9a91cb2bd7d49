#include "conv_psvm/task.h"

#include <algorithm>
#include <cstdlib>

#include "bagwise/linalg/dense_copy.h"
#include "bagwise/methods/grouped_rows.h"
#include "bagwise/methods/inv_cal/inv_cal.h"
#include "support/generated_bags.h"

namespace bagwise::bench {

BaggedData make_task(GeneratorKind kind) {
  GeneratorOptions options = generator_preset(kind, GeneratorPreset::kRelated, 1);
  options.source_rows = 2;
  options.target_rows = 2000;
  options.test_rows = 2;
  Rng rng(1);
  return in_bags(generated(options).target, 8, rng);
}

DenseTask dense_task(const BaggedData& data) {
  GroupedRows grouped = group_rows(data, {});
  return {dense_copy(grouped.rows()), std::move(grouped.bag_start), data.bags.proportions};
}

Cuts make_cuts(const DenseTask& task, const ConvPsvmOptions& options) {
  BaggedData data;
  data.features = Features(task.rows);
  for (std::size_t j = 0; j < task.rows.columns(); ++j) data.feature_names.emplace_back(1, 'x');
  for (std::size_t k = 0; k < task.proportions.size(); ++k) {
    data.bags.names.emplace_back(1, 'b');
    data.bags.proportions.push_back(task.proportions[k]);
    data.bag_of_row.insert(data.bag_of_row.end(), task.bag_start[k + 1] - task.bag_start[k],
                           static_cast<std::uint32_t>(k));
  }
  const auto scores = inv_cal_scores(data, {}, {});
  if (!scores) std::abort();
  const FeasibleLabels feasible(task.bag_start, task.proportions, options.epsilon);
  return cutting_planes(task.rows.view(), task.rows.columns(), feasible, {feasible.best(*scores)}, options,
                        {});
}

double master_value(const DenseTask& task, std::span<const Labels> labels, double cost,
                    const MasterAnswer& answer) {
  double sum = 0;
  std::vector<double> f(task.rows.rows(), 0.0);
  for (std::size_t s = 0; s < labels.size(); ++s) {
    const auto u = answer.u.row(static_cast<Eigen::Index>(s));
    if (answer.mu[s] > 0) sum += u.squaredNorm() / answer.mu[s] / 2;
    for (std::size_t j = 0; j < f.size(); ++j) {
      for (std::size_t c = 0; c < task.rows.columns(); ++c)
        f[j] += labels[s][j] * u[static_cast<Eigen::Index>(c)] * task.rows(j, c);
    }
  }
  for (const double value : f) sum += cost * std::max(0.0, 1 - value);
  return sum;
}

}  // namespace bagwise::bench
