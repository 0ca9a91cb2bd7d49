#include "mean_map/task.h"

#include <cmath>
#include <cstdlib>

#include "bagwise/linalg/dense_copy.h"
#include "support/generated_bags.h"

namespace bagwise::bench {

Task make_task(GeneratorKind kind, std::size_t rows, std::size_t bag_size) {
  GeneratorOptions options;
  options.kind = kind;
  options.source_rows = rows;
  options.target_rows = options.test_rows = 2;
  Rng rng(1);
  Task out;
  out.data = in_bags(generated(options).source, bag_size, rng);
  out.reduced = reduce(out.data);
  out.linear = mean_operator_sum(class_means(out.reduced.sums, out.reduced.bags.proportions), {});
  out.dense = dense_copy(out.data.features.view());
  return out;
}

double objective(const Task& task, double lambda, const Vector& weights) {
  const std::size_t d = task.dense.columns();
  long double sum = 0;
  for (std::size_t i = 0; i < task.dense.rows(); ++i) {
    long double z = weights[static_cast<Eigen::Index>(d)];
    for (std::size_t j = 0; j < d; ++j)
      z += static_cast<long double>(task.dense(i, j)) * weights[static_cast<Eigen::Index>(j)];
    sum += std::abs(z) + std::log1p(std::exp(-2 * std::abs(z)));
  }
  for (Eigen::Index j = 0; j < weights.size(); ++j) {
    const long double w = weights[j];
    sum += static_cast<long double>(lambda) / 2 * w * w - task.linear[j] * w;
  }
  return static_cast<double>(sum);
}

}  // namespace bagwise::bench
