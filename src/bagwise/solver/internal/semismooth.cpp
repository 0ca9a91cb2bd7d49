// Tube regression by the augmented Lagrangian method with semismooth Newton steps.
//
//   Every side j of a row has h_j(x) = side_j . x - c_j and costs C_j max(0, h_j). With multipliers alpha in
//   [0, C] and a penalty sigma_j, the inner problem
//
//     min_x  R(x) + sum_j max_{0 <= a <= C_j} (a h_j(x) - (a - alpha_j)^2 / (2 sigma_j)) + rho/2 |b -
//     b_before|^2
//
//   is smooth and piecewise quadratic: a_j = clamp(alpha_j + sigma_j h_j, 0, C_j) is its derivative by h_j,
//   and only sides strictly inside their clamp (rows at the edge of their tube) enter the Hessian, with
//   weight sigma_j. At a solution those are at most features + tasks many, so a Newton step costs little more
//   than two products with the rows. Then alpha := a, sigma grows, and so on until the certified gap is
//   reached.
//
// Given   a problem, options, perhaps a start.
// Returns the best certified point met.
// See     Li, Sun, Toh (2018), A highly efficient semismooth Newton augmented Lagrangian method, SIAM J.
// Optim. 28. Test    tube_regression_test.cpp certifies the answers by code of its own.
#include <algorithm>
#include <cmath>
#include <limits>

#include "bagwise/solver/internal/algorithms.h"
#include "bagwise/solver/internal/certificate.h"
#include "bagwise/solver/internal/side_products.h"

namespace bagwise::internal {
namespace {

using Array = Eigen::ArrayXd;
using Index = Eigen::Index;

class AugmentedLagrangian {
 public:
  AugmentedLagrangian(const TubeProblem& problem, const TubeOptions& options)
      : p_(problem), rows_(problem, options.threads), system_(rows_), loss_(side_losses(problem)) {
    // Each task's penalty is in units of its own part of the kernel, (1 + 1/lambda_t) |a|^2.
    const std::vector<double> scale = kernel_scales(problem);
    unit_ = Eigen::Map<const Array>(scale.data(), static_cast<Index>(scale.size()));
    unit_ = unit_.max(std::numeric_limits<double>::min()).inverse();
    const auto n = static_cast<Index>(problem.size());
    sigma_.resize(2 * n);
  }

  // Takes multipliers, planes and a penalty as the centre of the next inner problem.
  void centre(Array alpha, TubePlanes x, double sigma) {
    alpha_ = std::move(alpha);
    const Index n = sigma_.size() / 2;
    for (Index i = 0; i < n; ++i) {
      sigma_[i] = sigma_[n + i] = sigma * unit_[static_cast<Index>(p_.task_of(static_cast<std::size_t>(i)))];
    }
    rho_ = 1e-8 * sigma * unit_;
    x_ = std::move(x);
    before_ = x_;
    h_ = side_products(rows_, x_) - loss_.constant;
    update();
  }

  [[nodiscard]] const Array& multipliers() const { return a_; }
  [[nodiscard]] const TubePlanes& planes() const { return x_; }
  // How far the inner problem is from its solution: |gradient|^2 in the metric of the regulariser.
  [[nodiscard]] double squared_gradient() const {
    double sum = gradient_.shared.squaredNorm();
    for (std::size_t t = 0; t < p_.tasks(); ++t) {
      if (std::isfinite(p_.lambda[t])) sum += gradient_.own[t].squaredNorm() / p_.lambda[t];
    }
    return sum;
  }
  // How far the multipliers have moved from the centre, in the same units.
  [[nodiscard]] double squared_move() const { return ((a_ - alpha_).square() / sigma_).sum(); }

  // One Newton step with line search; false if none can be made.
  bool advance() {
    const Array weight = ((a_ > 0) && (a_ < loss_.cost)).select(sigma_, 0.0);
    if (!system_.factor(weight, rho_)) return false;
    const NewtonSystem::Step step = system_.solve(gradient_, Array::Zero(a_.size()));
    const double length = step_length(step.x, step.products);
    if (!(length > 0)) return false;
    add_scaled(x_, length, step.x);
    h_ += length * step.products;
    update();
    return true;
  }

 private:
  void update() {
    a_ = (alpha_ + sigma_ * h_).max(0.0).min(loss_.cost);
    gradient_ = lagrangian_gradient(rows_, x_, a_);
    for (std::size_t t = 0; t < p_.tasks(); ++t)
      gradient_.bias[t] += rho_[static_cast<Index>(t)] * (x_.bias[t] - before_.bias[t]);
  }

  // Near the root of the slope along `step`, which is piecewise linear and only grows.
  [[nodiscard]] double step_length(const TubePlanes& step, const Array& dh) const {
    double constant = x_.shared.dot(step.shared), linear = step.shared.squaredNorm();
    for (std::size_t t = 0; t < p_.tasks(); ++t) {
      if (std::isfinite(p_.lambda[t])) {
        constant += p_.lambda[t] * x_.own[t].dot(step.own[t]);
        linear += p_.lambda[t] * step.own[t].squaredNorm();
      }
      const double rho = rho_[static_cast<Index>(t)];
      constant += rho * (x_.bias[t] - before_.bias[t]) * step.bias[t];
      linear += rho * step.bias[t] * step.bias[t];
    }
    const auto slope = [&](double s) {
      return constant + s * linear + ((alpha_ + sigma_ * (h_ + s * dh)).max(0.0).min(loss_.cost) * dh).sum();
    };
    const double first = slope(0);
    if (!(first < 0)) return 0;
    const double enough = 0.1 * -first;
    double low = 0, low_slope = first, high = 1, high_slope = slope(1);
    for (int k = 0; k < 60 && high_slope < -enough; ++k) {  // still falling: go further
      low = high, low_slope = high_slope;
      high *= 2;
      high_slope = slope(high);
    }
    if (std::abs(high_slope) <= enough) return high;
    for (int k = 0; k < 60; ++k) {
      const double secant = low - low_slope * (high - low) / (high_slope - low_slope);
      const double s = std::clamp(secant, low + 0.05 * (high - low), high - 0.05 * (high - low));
      const double value = slope(s);
      if (std::abs(value) <= enough) return s;
      (value < 0 ? low : high) = s;
      (value < 0 ? low_slope : high_slope) = value;
    }
    return low;
  }

  const TubeProblem& p_;
  TubeRows rows_;
  NewtonSystem system_;
  SideLosses loss_;
  Array unit_, rho_;  // per task
  Array sigma_, alpha_, h_, a_;
  TubePlanes x_, before_, gradient_;
};

}  // namespace

TubeSolution solve_semismooth(const TubeProblem& p, const TubeOptions& options, const TubeSolution* start,
                              const Observer& observer) {
  // Measured on bag means of 330 to 20,000 rows: the first penalty may be off by 100 either way without harm;
  // growth by 3 needs half the steps of growth by 10.
  constexpr double kFirstPenalty = 10, kGrowth = 3, kLooseness = 0.25;
  constexpr int kInnerSteps = 50, kPatience = 12;
  TubeMultipliers first{std::vector<double>(p.size(), 0.0), std::vector<double>(p.size(), 0.0)};
  if (start != nullptr) first = start->multipliers;
  TubeSolution best = certify(p, std::move(first), start != nullptr ? &start->planes : nullptr, options);
  AugmentedLagrangian inner(p, options);
  Array alpha = to_sides(best.multipliers);
  TubePlanes x = best.planes;
  double sigma = kFirstPenalty;  // in units of each task's kernel
  int steps = 0, without_gain = 0;
  bool stopped = false;
  while (!stopped && steps < options.max_iterations && without_gain < kPatience &&
         best.report.termination != Termination::kConverged) {
    inner.centre(alpha, x, sigma);
    for (int k = 0; k < kInnerSteps && steps < options.max_iterations; ++k, ++steps) {
      stopped = tell(observer, {"solving", static_cast<double>(steps), 0, best.report.relative_gap()}) ==
                Next::kStop;
      if (stopped || (k > 0 && inner.squared_gradient() <= kLooseness * inner.squared_move())) break;
      if (!inner.advance()) break;
    }
    alpha = inner.multipliers();
    x = inner.planes();
    if (!alpha.allFinite()) break;
    TubeSolution now = certify(p, to_multipliers(alpha), &x, options);
    without_gain = now.report.gap() < best.report.gap() ? 0 : without_gain + 1;
    if (without_gain == 0) best = std::move(now);
    sigma *= kGrowth;
  }
  if (stopped && best.report.termination != Termination::kConverged)
    best.report.termination = Termination::kStopped;
  best.report.iterations = steps;
  best.report.algorithm = "semismooth";
  return best;
}

}  // namespace bagwise::internal
