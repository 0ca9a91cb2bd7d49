#include "bagwise/data/feature_noise.h"

#include <cassert>
#include <cmath>
#include <numeric>

#include "bagwise/core/random.h"
#include "bagwise/linalg/dense_copy.h"

namespace bagwise {
namespace {

// Of every feature, over the rows of all tables.
std::vector<double> standard_deviations(std::span<const DenseRows> tables) {
  const std::size_t features = tables[0].columns();
  std::vector<double> mean(features, 0.0), out(features, 0.0);
  double rows = 0;
  for (const DenseRows& table : tables) {
    for (std::size_t i = 0; i < table.rows(); ++i) {
      for (std::size_t j = 0; j < features; ++j) mean[j] += table(i, j);
    }
    rows += static_cast<double>(table.rows());
  }
  for (double& value : mean) value /= rows;
  for (const DenseRows& table : tables) {
    for (std::size_t i = 0; i < table.rows(); ++i) {
      for (std::size_t j = 0; j < features; ++j) out[j] += (table(i, j) - mean[j]) * (table(i, j) - mean[j]);
    }
  }
  for (double& value : out) value = std::sqrt(value / rows);
  return out;
}

}  // namespace

void put_feature_noise(std::span<Dataset* const> tables, double share, std::uint64_t seed) {
  if (share <= 0 || tables.empty()) return;
  std::vector<DenseRows> rows;
  for (const Dataset* table : tables) {
    assert(table->features.columns() == tables[0]->features.columns());
    rows.push_back(dense_copy(table->features.view()));
  }
  std::vector<double> deviation = standard_deviations(rows);
  Rng of_features(seed, 0);
  for (double& value : deviation) value *= 2 * of_features.uniform();
  for (std::size_t t = 0; t < rows.size(); ++t) {
    Rng rng(seed, 1 + t);
    std::vector<std::size_t> order(rows[t].rows());
    std::iota(order.begin(), order.end(), std::size_t{0});
    shuffle(std::span(order), rng);
    const auto noisy = static_cast<std::size_t>(std::round(share * static_cast<double>(order.size())));
    for (std::size_t n = 0; n < noisy; ++n) {
      const auto row = rows[t].row(order[n]);
      for (std::size_t j = 0; j < row.size(); ++j) row[j] += deviation[j] * rng.normal();
    }
    tables[t]->features = Features(std::move(rows[t]));
  }
}

}  // namespace bagwise
