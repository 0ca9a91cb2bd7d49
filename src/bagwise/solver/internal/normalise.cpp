#include "bagwise/solver/internal/normalise.h"

#include <algorithm>
#include <cmath>

namespace bagwise::internal {
namespace {

using Index = Eigen::Index;

// Offsets below this many times the spread, and units within these bounds, cost less than a digit.
constexpr double kTolerableOffset = 2, kSmallUnit = 1e-2, kLargeUnit = 1e2;

double largest_value(const TubeProblem& p) {
  return std::visit(
      [](const auto& rows) {
        double largest = 0;
        if constexpr (std::is_same_v<std::decay_t<decltype(rows)>, DenseView>) {
          for (std::size_t i = 0; i < rows.rows * rows.columns; ++i)
            largest = std::max(largest, std::abs(rows.values[i]));
        } else {
          for (const double v : rows.values) largest = std::max(largest, std::abs(v));
        }
        return largest;
      },
      p.rows);
}

// The mean row of each task.
std::vector<Vector> task_means(const TubeProblem& p, const DenseView& rows) {
  std::vector<Vector> mean(p.tasks(), Vector::Zero(static_cast<Index>(rows.columns)));
  std::vector<double> count(p.tasks(), 0);
  for (std::size_t i = 0; i < rows.rows; ++i) count[p.task_of(i)] += 1;
  for (std::size_t i = 0; i < rows.rows; ++i) {
    const std::size_t t = p.task_of(i);
    mean[t] += Eigen::Map<const Vector>(rows.row(i).data(), static_cast<Index>(rows.columns)) / count[t];
  }
  return mean;
}

// sqrt of the mean of |a_i - centre|^2 over the rows, and of |centre|^2.
struct Spread {
  double rows = 0, offset = 0;
};
Spread spread_of(const TubeProblem& p, const DenseView& rows, const std::vector<Vector>& centre,
                 double largest) {
  double square = 0, offset = 0;
  for (std::size_t i = 0; i < rows.rows; ++i) {
    const Vector& c = centre[p.task_of(i)];
    for (std::size_t j = 0; j < rows.columns; ++j) {
      const double middle = c[static_cast<Index>(j)] / largest, value = rows.row(i)[j] / largest - middle;
      square += value * value;
      offset += middle * middle;
    }
  }
  const auto n = static_cast<double>(std::max<std::size_t>(rows.rows, 1));
  return {std::sqrt(square / n) * largest, std::sqrt(offset / n) * largest};
}

}  // namespace

std::optional<NormalisedProblem> NormalisedProblem::make(const TubeProblem& p) {
  const double largest = largest_value(p);
  if (!(largest > 0) || !std::isfinite(largest)) return std::nullopt;
  NormalisedProblem out;
  const auto* dense = std::get_if<DenseView>(&p.rows);
  Spread spread;
  if (dense != nullptr) {
    out.centre_ = task_means(p, *dense);
    spread = spread_of(p, *dense, out.centre_, largest);
  } else {
    out.centre_.assign(p.tasks(), Vector::Zero(static_cast<Index>(p.features())));
    const auto& rows = std::get<CsrView>(p.rows);
    double square = 0;
    for (const double v : rows.values) square += (v / largest) * (v / largest);
    spread.rows = std::sqrt(square / static_cast<double>(rows.rows)) * largest;
  }
  // Rows that are all alike have no spread of their own: rounding is all that is left of it.
  // A power of two, so that going back and forth is exact.
  out.unit_ = std::exp2(std::round(std::log2(spread.rows > 1e-14 * largest ? spread.rows : largest)));
  const bool fine =
      spread.offset <= kTolerableOffset * out.unit_ && out.unit_ >= kSmallUnit && out.unit_ <= kLargeUnit;
  const double square = out.unit_ * out.unit_;
  const double dearest = std::max(*std::max_element(p.cost_above.begin(), p.cost_above.end()),
                                  *std::max_element(p.cost_below.begin(), p.cost_below.end()));
  if (fine || !(square > 1e-200) || !(square * std::max(dearest, 1.0) < 1e200)) return std::nullopt;

  out.problem_ = p;
  for (auto* costs : {&out.problem_.cost_above, &out.problem_.cost_below}) {
    for (double& c : *costs) c *= square;
  }
  for (auto* shifts : {&out.problem_.shift_above, &out.problem_.shift_below}) {
    for (double& s : *shifts) s /= out.unit_;
  }
  if (dense != nullptr) {
    out.dense_ = DenseRows(dense->rows, dense->columns);
    for (std::size_t i = 0; i < dense->rows; ++i) {
      const Vector& c = out.centre_[p.task_of(i)];
      for (std::size_t j = 0; j < dense->columns; ++j) {
        out.dense_(i, j) = (dense->row(i)[j] - c[static_cast<Index>(j)]) / out.unit_;
      }
    }
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
