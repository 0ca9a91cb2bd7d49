#include "tube_regression/sparse_task.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "bagwise/core/random.h"

namespace bagwise::bench {
namespace {

// Columns by rank of popularity: the share of rank r is proportional to 1 / (r + 10), as words have it, or
// the same for all. Ranks are spread over the columns at random, as in a vocabulary sorted by spelling.
class Columns {
 public:
  Columns(std::size_t columns, bool zipf, Rng& rng) : column_(columns), weight_(columns, 1.0) {
    double sum = 0;
    for (std::size_t r = 0; r < columns; ++r) {
      column_[r] = static_cast<std::int32_t>(r);
      sum += zipf ? 1 / static_cast<double>(r + 10) : 1.0;
      cumulative_.push_back(sum);
    }
    for (double& c : cumulative_) c /= sum;
    shuffle(std::span(column_), rng);
    // Inverse document frequency, from the expected share of documents of 40 words.
    for (std::size_t r = 0; zipf && r < columns; ++r) {
      const double share = cumulative_[r] - (r == 0 ? 0.0 : cumulative_[r - 1]);
      weight_[r] = 1 - std::log(std::min(1.0, 40 * share));
    }
  }

  // One document: `count` different columns, of unit length, added to `row` times `factor`. Returns its
  // inner product with `plane`.
  double draw(std::size_t count, bool zipf, double factor, const std::vector<double>& plane, Rng& rng,
              std::map<std::int32_t, double>& row) const {
    std::map<std::int32_t, double> document;
    while (document.size() < count) {
      const auto at = std::upper_bound(cumulative_.begin(), cumulative_.end(), rng.uniform());
      const auto r = std::min(static_cast<std::size_t>(at - cumulative_.begin()), column_.size() - 1);
      double value = rng.normal();
      if (zipf) {
        double times = 1;  // how often the word occurs: once more with probability 0.3
        while (rng.uniform() < 0.3) ++times;
        value = (1 + std::log(times)) * weight_[r];
      }
      document.emplace(column_[r], value);
    }
    double square = 0, product = 0;
    for (const auto& [j, value] : document) square += value * value;
    for (const auto& [j, value] : document) {
      product += plane[static_cast<std::size_t>(j)] * value / std::sqrt(square);
      row[j] += factor * value / std::sqrt(square);
    }
    return product;
  }

 private:
  std::vector<std::int32_t> column_;
  std::vector<double> cumulative_, weight_;
};

}  // namespace

std::string_view name(SparseKind kind) {
  switch (kind) {
    case SparseKind::kDocuments:
      return "documents";
    case SparseKind::kBags:
      return "bags";
    case SparseKind::kUniform:
      return "uniform";
  }
  return "";
}

void make_sparse_task(SparseKind kind, const SparseShape& shape, std::uint64_t seed, SparseTask& task) {
  constexpr std::size_t kBagSize = 4;
  constexpr double kNoise = 0.5;
  Rng rng(seed);
  const bool zipf = kind != SparseKind::kUniform;
  const Columns columns(shape.columns, zipf, rng);
  std::vector<double> plane(shape.columns);
  for (double& w : plane) w = rng.normal();
  Csr& rows = task.rows;
  rows = {};
  rows.columns = shape.columns;
  TubeProblem& p = task.problem;
  p = {};
  for (std::size_t i = 0; i < shape.rows; ++i) {
    std::map<std::int32_t, double> row;
    if (kind == SparseKind::kBags) {
      double positive = 0;
      for (std::size_t k = 0; k < kBagSize; ++k) {
        const double product = columns.draw(shape.nonzeros / kBagSize, zipf, 1.0 / kBagSize, plane, rng, row);
        positive += product + kNoise * rng.normal() > 0 ? 1 : 0;
      }
      const double share = std::clamp(positive / kBagSize, 0.5 / kBagSize, 1 - 0.5 / kBagSize);
      p.target.push_back(std::log(share / (1 - share)));
    } else {
      const double product = columns.draw(shape.nonzeros, zipf, 1.0, plane, rng, row);
      p.target.push_back(product + kNoise * rng.normal());
    }
    for (const auto& [j, value] : row) {
      rows.index.push_back(j);
      rows.values.push_back(value);
    }
    rows.start.push_back(static_cast<std::int64_t>(rows.values.size()));
  }
  p.rows = rows.view();
  p.tube.assign(p.size(), 0.1);
  set_cost(p, 1);
}

void set_cost(TubeProblem& problem, double cost) {
  problem.cost_above.assign(problem.size(), cost);
  problem.cost_below = problem.cost_above;
}

}  // namespace bagwise::bench
