#include "mean_map/task.h"

#include <cmath>
#include <cstdlib>

#include "bagwise/bags/deal.h"

namespace bagwise::bench {
namespace {

DenseRows written_out(const RowsView& rows) {
  DenseRows out(row_count(rows), column_count(rows));
  if (const auto* dense = std::get_if<DenseView>(&rows)) {
    for (std::size_t i = 0; i < dense->rows; ++i) std::ranges::copy(dense->row(i), out.row(i).begin());
    return out;
  }
  const auto& sparse = std::get<CsrView>(rows);
  for (std::size_t i = 0; i < sparse.rows; ++i) {
    for (auto k = static_cast<std::size_t>(sparse.start[i]);
         k < static_cast<std::size_t>(sparse.start[i + 1]); ++k)
      out(i, static_cast<std::size_t>(sparse.index[k])) = sparse.values[k];
  }
  return out;
}

}  // namespace

Task make_task(GeneratorKind kind, std::size_t rows, std::size_t bag_size) {
  GeneratorOptions options;
  options.kind = kind;
  options.source_rows = rows;
  options.target_rows = options.test_rows = 2;
  auto data = generate(options);
  if (!data) std::abort();
  Rng rng(1);
  auto dealt = deal_bags(std::move(data->source), bag_size, rng);
  if (!dealt) std::abort();
  auto bagged = attach_proportions(std::move(dealt->instances), "generated", &dealt->proportions);
  if (!bagged) std::abort();
  Task out;
  out.data = std::move(*bagged);
  out.reduced = reduce(out.data);
  out.linear = mean_operator_sum(class_means(out.reduced.sums, out.reduced.bags.proportions), {});
  out.dense = written_out(out.data.features.view());
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
