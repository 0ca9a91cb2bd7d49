#include "bagwise/solver/internal/coordinate_start.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "bagwise/core/random.h"
#include "bagwise/solver/internal/best_bias.h"
#include "bagwise/solver/internal/side_products.h"

namespace bagwise::internal {
namespace {

// Rows are visited in random order by groups of neighbours, so that memory is mostly read in order.
constexpr std::size_t kGroup = 32;

class Descent {
 public:
  explicit Descent(const TubeProblem& problem)
      : p_(problem),
        rows_(std::get<CsrView>(problem.rows)),
        bias_square_(kernel_scales(problem)[0]),
        b_(problem.size(), 0.0),
        square_(problem.size()),
        w_(Vector::Zero(static_cast<Eigen::Index>(problem.features()))) {
    const Unbiased nothing{Vector::Zero(static_cast<Eigen::Index>(p_.size())), {0.0}};
    bias_ = best_biases(p_, nothing, 1)[0];
    for (std::size_t i = 0; i < p_.size(); ++i) {
      square_[i] = bias_square_;
      for (auto k = rows_.start[i]; k < rows_.start[i + 1]; ++k) square_[i] += value(k) * value(k);
    }
    groups_.resize((p_.size() + kGroup - 1) / kGroup);
    std::iota(groups_.begin(), groups_.end(), std::size_t{0});
  }

  void pass(Rng& rng) {
    shuffle(std::span(groups_), rng);
    for (const std::size_t group : groups_) {
      const std::size_t end = std::min(p_.size(), (group + 1) * kGroup);
      for (std::size_t i = group * kGroup; i < end; ++i) visit(i);
    }
  }

  [[nodiscard]] CoordinateStart result() const {
    CoordinateStart out;
    for (const double b : b_) {
      out.multipliers.above.push_back(std::max(0.0, -b));
      out.multipliers.below.push_back(std::max(0.0, b));
    }
    out.planes = {w_, {Vector::Zero(w_.size())}, {bias_}};
    return out;
  }

 private:
  [[nodiscard]] double value(std::int64_t k) const { return rows_.values[static_cast<std::size_t>(k)]; }

  void visit(std::size_t i) {
    const auto from = static_cast<std::size_t>(rows_.start[i]);
    const auto count = static_cast<std::size_t>(rows_.start[i + 1]) - from;
    const double* values = rows_.values.data() + from;
    const std::int32_t* index = rows_.index.data() + from;
    double* w = w_.data();
    double sum = bias_ - p_.target[i], other = 0;
    std::size_t k = 0;
    for (; k + 1 < count; k += 2) {
      sum += values[k] * w[index[k]];
      other += values[k + 1] * w[index[k + 1]];
    }
    if (k < count) sum += values[k] * w[index[k]];
    const double residual = sum + other, square = square_[i];
    const double free = b_[i] - residual / square, width = p_.tube[i] / square;
    double next = free > width ? free - width : free < -width ? free + width : 0.0;
    next = std::clamp(next, -p_.cost_above[i], p_.cost_below[i]);
    const double change = next - b_[i];
    if (change == 0) return;
    b_[i] = next;
    bias_ += change * bias_square_;
    for (k = 0; k < count; ++k) w[index[k]] += change * values[k];
  }

  const TubeProblem& p_;
  CsrView rows_;
  double bias_square_, bias_ = 0;
  std::vector<double> b_, square_;  // square_: of the row's length, and B
  Vector w_;
  std::vector<std::size_t> groups_;
};

}  // namespace

bool has_coordinate_start(const TubeProblem& p) {
  return std::holds_alternative<CsrView>(p.rows) && p.tasks() == 1 && !std::isfinite(p.lambda[0]) &&
         !p.shifted();
}

CoordinateStart coordinate_start(const TubeProblem& problem, int passes, const Observer& observer) {
  Descent descent(problem);
  Rng rng(1);
  bool stopped = false;
  for (int k = 0; k < passes && !stopped; ++k) {
    stopped = tell(observer, {"solving", 0, 0, std::numeric_limits<double>::infinity()}) == Next::kStop;
    if (!stopped) descent.pass(rng);
  }
  CoordinateStart out = descent.result();
  out.stopped = stopped;
  return out;
}

}  // namespace bagwise::internal
