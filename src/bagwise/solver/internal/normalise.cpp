#include "bagwise/solver/internal/normalise.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "bagwise/comm/over_ranks.h"
#include "bagwise/solver/internal/blocks.h"

namespace bagwise::internal {
namespace {

using Index = Eigen::Index;

// Offsets below this many times the spread, and units within these bounds, cost less than a digit.
constexpr double kTolerableOffset = 2, kSmallUnit = 1e-2, kLargeUnit = 1e2;

double largest_of(std::span<const double> values) {
  double largest = 0;
  for (const double v : values) largest = std::max(largest, std::abs(v));
  return largest;
}

// One pass over dense rows: per task the sum of rows, and over all rows the largest value.
struct Sums {
  std::vector<Vector> row;
  std::vector<double> count;
  double largest = 0;
};
Sums sum_rows(const TubeProblem& p, const DenseView& rows, unsigned threads) {
  const auto d = static_cast<Index>(rows.columns);
  Sums sums{std::vector<Vector>(p.tasks(), Vector::Zero(d)), std::vector<double>(p.tasks(), 0), 0};
  const auto parts =
      parts_of_blocks(rows.rows, threads, Sums{}, [&](std::size_t from, std::size_t to, Sums& part) {
        part.row.resize(p.tasks());
        part.count.assign(p.tasks(), 0);
        part.largest = largest_of({rows.values + from * rows.columns, (to - from) * rows.columns});
        for (std::size_t i = from; i < to; ++i) {
          const std::size_t t = p.task_of(i);
          if (part.row[t].size() == 0) part.row[t] = Vector::Zero(d);
          part.row[t] += Eigen::Map<const Vector>(rows.row(i).data(), d);
          part.count[t] += 1;
        }
      });
  for (const Sums& part : parts) {
    sums.largest = std::max(sums.largest, part.largest);
    for (std::size_t t = 0; t < p.tasks(); ++t) {
      if (part.count[t] == 0) continue;
      sums.row[t] += part.row[t];
      sums.count[t] += part.count[t];
    }
  }
  for (Vector& row : sums.row) sum_over_ranks(p.comm, {row.data(), rows.columns});
  sum_over_ranks(p.comm, sums.count);
  sums.largest = max_over_ranks(p.comm, sums.largest);
  return sums;
}

// sqrt of the mean of |a_i - centre|^2 over the rows, and of |centre|^2.
struct Spread {
  double rows = 0, offset = 0;
};
Spread spread_of(const TubeProblem& p, const DenseView& rows, const std::vector<Vector>& centre,
                 double largest, unsigned threads) {
  const auto d = static_cast<Index>(rows.columns);
  std::vector<double> length(p.tasks());
  for (std::size_t t = 0; t < p.tasks(); ++t) length[t] = (centre[t] / largest).squaredNorm();
  double square = sum_blocks(rows.rows, threads, [&](std::size_t from, std::size_t to) {
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) {
      sum +=
          ((Eigen::Map<const Vector>(rows.row(i).data(), d) - centre[p.task_of(i)]) / largest).squaredNorm();
    }
    return sum;
  });
  double offset = 0;
  for (std::size_t i = 0; i < rows.rows; ++i) offset += length[p.task_of(i)];
  square = sum_over_ranks(p.comm, square);
  offset = sum_over_ranks(p.comm, offset);
  const auto n = static_cast<double>(std::max<std::size_t>(sum_over_ranks(p.comm, rows.rows), 1));
  return {std::sqrt(square / n) * largest, std::sqrt(offset / n) * largest};
}

// Below this, products of a few squares and costs stay numbers.
constexpr double kMostProduct = 1e200;

double dearest_of(const TubeProblem& p) {
  return max_over_ranks(p.comm, std::max(largest_of(p.cost_above), largest_of(p.cost_below)));
}

}  // namespace

bool is_beyond_range(const TubeProblem& p) {
  const double largest = max_over_ranks(p.comm, largest_of(stored_values(p.rows)));
  return !(largest * largest * std::max(dearest_of(p), 1.0) < kMostProduct);
}

std::optional<NormalisedProblem> NormalisedProblem::make(const TubeProblem& p, unsigned threads) {
  NormalisedProblem out;
  const auto* dense = std::get_if<DenseView>(&p.rows);
  Sums sums;
  if (dense != nullptr) sums = sum_rows(p, *dense, threads);
  const double largest =
      dense != nullptr ? sums.largest : max_over_ranks(p.comm, largest_of(std::get<CsrView>(p.rows).values));
  if (!(largest > 0) || !std::isfinite(largest)) return std::nullopt;
  Spread spread;
  if (dense != nullptr) {
    for (std::size_t t = 0; t < p.tasks(); ++t)
      out.centre_.push_back(sums.row[t] / std::max(sums.count[t], 1.0));
    spread = spread_of(p, *dense, out.centre_, largest, threads);
  } else {
    out.centre_.assign(p.tasks(), Vector::Zero(static_cast<Index>(p.features())));
    const auto& rows = std::get<CsrView>(p.rows);
    double square = 0;
    for (const double v : rows.values) square += (v / largest) * (v / largest);
    square = sum_over_ranks(p.comm, square);
    spread.rows = std::sqrt(square / static_cast<double>(sum_over_ranks(p.comm, rows.rows))) * largest;
  }
  // Rows that are all alike have no spread of their own: rounding is all that is left of it.
  // A power of two, so that going back and forth is exact.
  out.unit_ = std::exp2(std::round(std::log2(spread.rows > 1e-14 * largest ? spread.rows : largest)));
  const bool fine =
      spread.offset <= kTolerableOffset * out.unit_ && out.unit_ >= kSmallUnit && out.unit_ <= kLargeUnit;
  const double square = out.unit_ * out.unit_;
  if (fine || !(square > 1 / kMostProduct) || !(square * std::max(dearest_of(p), 1.0) < kMostProduct))
    return std::nullopt;

  out.problem_ = p;
  for (auto* costs : {&out.problem_.cost_above, &out.problem_.cost_below}) {
    for (double& c : *costs) c *= square;
  }
  for (auto* shifts : {&out.problem_.shift_above, &out.problem_.shift_below}) {
    for (double& s : *shifts) s /= out.unit_;
  }
  if (dense != nullptr) {
    out.dense_ = DenseRows(dense->columns);
    double* const to = out.dense_.append(dense->rows);
    const auto d = static_cast<Index>(dense->columns);
    over_blocks(dense->rows, threads, [&](std::size_t first, std::size_t last) {
      for (std::size_t i = first; i < last; ++i) {
        Eigen::Map<Vector>(to + i * dense->columns, d) =
            (Eigen::Map<const Vector>(dense->row(i).data(), d) - out.centre_[p.task_of(i)]) / out.unit_;
      }
    });
    out.problem_.rows = out.dense_.view();
  } else {
    CsrView rows = std::get<CsrView>(p.rows);
    out.sparse_values_.assign(rows.values.begin(), rows.values.end());
    for (double& v : out.sparse_values_) v /= out.unit_;
    rows.values = out.sparse_values_;
    out.problem_.rows = rows;
  }
  return out;
}

TubeSolution NormalisedProblem::to_normalised(const TubeSolution& solution) const {
  TubeSolution out = solution;
  for (std::size_t t = 0; t < out.planes.own.size(); ++t) {
    out.planes.bias[t] += solution.planes.weights(t).dot(centre_[t]);
    out.planes.own[t] *= unit_;
  }
  out.planes.shared *= unit_;
  for (auto* side : {&out.multipliers.above, &out.multipliers.below}) {
    for (double& a : *side) a *= unit_ * unit_;
  }
  return out;
}

TubeSolution NormalisedProblem::to_original(TubeSolution solution) const {
  solution.planes.shared /= unit_;
  for (std::size_t t = 0; t < solution.planes.own.size(); ++t) {
    solution.planes.own[t] /= unit_;
    solution.planes.bias[t] -= solution.planes.weights(t).dot(centre_[t]);
  }
  for (auto* side : {&solution.multipliers.above, &solution.multipliers.below}) {
    for (double& a : *side) a /= unit_ * unit_;
  }
  solution.report.primal /= unit_ * unit_;
  solution.report.dual /= unit_ * unit_;
  return solution;
}

}  // namespace bagwise::internal
