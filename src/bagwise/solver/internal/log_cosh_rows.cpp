#include "bagwise/solver/internal/log_cosh_rows.h"

#include <cmath>
#include <limits>

#include "bagwise/linalg/kernels.h"

namespace bagwise::internal {
namespace {

using Index = Eigen::Index;
using ArrayMap = Eigen::Map<Eigen::ArrayXd>;
using ConstArrayMap = Eigen::Map<const Eigen::ArrayXd>;

}  // namespace

LogCoshRows::LogCoshRows(const LogCoshProblem& problem, const PiecedRows& rows)
    : problem_(problem), rows_(rows), margin_(rows.rows()), slope_(rows.rows()), curvature_(rows.rows()) {}

// Per row, with e = exp(-2 |z|) nothing overflows:
//   log(exp(z) + exp(-z)) = |z| + log(1 + e),  tanh(z) = +-(1 - e)/(1 + e),  its derivative 4 e/(1 + e)^2
LogCoshRows::Value LogCoshRows::evaluate(const Vector& w) {
  const StoredWeights x = to_stored(problem_, w);
  const PassSum sum = rows_.sum([&](std::size_t from, std::size_t to, PassSum& part) {
    multiply_block(rows_.view(), from, x.weights, {margin_.data() + from, to - from});
    ArrayMap z(margin_.data() + from, static_cast<Index>(to - from)), slope(slope_.data() + from, z.size());
    ArrayMap e(curvature_.data() + from, z.size());
    z += x.constant;
    e = (-2 * z.abs()).exp();
    part.value.add((z.abs() + e.log1p()).sum());
    slope = z.sign() * (1 - e) / (1 + e);
    e = 4 * e / (1 + e).square();
    part.constant += slope.sum();
    add_block(rows_.view(), from, {slope.data(), to - from}, part.columns);
  });
  const double loss = sum.value.value(), penalty = 0.5 * problem_.lambda * w.squaredNorm();
  const double linear_size = (problem_.linear.array() * w.array()).abs().sum();
  return {(loss - problem_.linear.dot(w)) + penalty, loss + linear_size + penalty,
          (from_stored(problem_, sum) - problem_.linear) + problem_.lambda * w};
}

// By Newton's method on the slope, kept between lengths known to be too short and too long. The slope may
// jump there: too short is the safe side, as F falls all the way to it.
double LogCoshRows::best_length(const Vector& w, const Vector& direction, double enough) const {
  const StoredWeights x = to_stored(problem_, direction);
  std::vector<double> along(rows_.rows());
  rows_.over_blocks([&](std::size_t, std::size_t from, std::size_t to) {
    multiply_block(rows_.view(), from, x.weights, {along.data() + from, to - from});
    ArrayMap(along.data() + from, static_cast<Index>(to - from)) += x.constant;
  });
  struct Slope {
    double first = 0, second = 0;
  };
  const double square = problem_.lambda * direction.squaredNorm();
  const double constant = problem_.lambda * w.dot(direction) - problem_.linear.dot(direction);
  const auto slope_at = [&](double length) {
    std::vector<Slope> parts(rows_.pieces());
    rows_.over_blocks([&](std::size_t piece, std::size_t from, std::size_t to) {
      const auto n = static_cast<Index>(to - from);
      const ConstArrayMap step(along.data() + from, n);
      const Eigen::ArrayXd z = ConstArrayMap(margin_.data() + from, n) + length * step,
                           e = (-2 * z.abs()).exp();
      parts[piece].first += (z.sign() * (1 - e) / (1 + e) * step).sum();
      parts[piece].second += (4 * e / (1 + e).square() * step.square()).sum();
    });
    Slope sum{constant + length * square, square};
    for (const Slope& part : parts) sum.first += part.first, sum.second += part.second;
    return sum;
  };
  constexpr int kTrials = 100;
  constexpr double kFarther = 10;
  double low = -1, high = std::numeric_limits<double>::infinity(), length = 0;
  for (int k = 0; k < kTrials; ++k) {
    const Slope slope = slope_at(length);
    (slope.first <= 0 ? low : high) = length;
    if (slope.first <= 0 && slope.first >= -enough) break;
    const double newton = length - slope.first / slope.second, reach = kFarther * (1 + length);
    if (newton > low && newton < std::min(high, reach)) {
      length = newton;
    } else {
      length = std::isinf(high) ? reach : (low + high) / 2;
    }
  }
  return low;
}

}  // namespace bagwise::internal
