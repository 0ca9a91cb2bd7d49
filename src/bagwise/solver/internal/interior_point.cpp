// Tube regression by Mehrotra's predictor-corrector interior point method.
//
//   Every side j of a row has h_j(x) = side_j . x - c_j, a multiplier 0 <= alpha_j <= C_j, and slacks
//   s_j >= 0 (the loss) and p_j = s_j - h_j(x) >= 0, with
//
//     R'(x) + sum_j alpha_j side_j = 0,    alpha_j p_j = mu,    (C_j - alpha_j) s_j = mu,    mu -> 0.
//
//   Eliminating alpha, s and p from a Newton step leaves the system of newton_system.h with the weights
//   D_j = 1 / (p_j / alpha_j + s_j / (C_j - alpha_j)). The number of steps hardly depends on the data.
//
// Given   a problem and options, perhaps a certified start.
// Returns the best certified point met.
// See     Mehrotra (1992), SIAM J. Optim. 2; Ferris and Munson (2002), SIAM J. Optim. 13, for this structure.
// Test    tube_regression_test.cpp certifies the answers by code of its own.
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

// What complementarity a warm start begins with, in units of its gap's share. Measured on TL-LLP's rounds of
// 330 to 1,320 rows: 10 needs 8 to 13 steps in the second round and 4 to 10 in the sixth, a cold start 9
// to 15.
constexpr double kNear = 10;

// The sides that cost something: first the upper ones, then the lower ones.
class InteriorPoint {
 public:
  InteriorPoint(const TubeProblem& problem, const TubeOptions& options, NewtonSystem::Road road,
                const TubeSolution* start)
      : p_(problem),
        rows_(problem, options.threads),
        system_(rows_, road),
        n_(static_cast<Index>(problem.size())),
        cost_(side_losses(problem).cost) {
    used_ = (cost_ > 0).cast<double>();
    count_ = used_.sum();
    if (start != nullptr)
      start_near(*start);
    else
      start_anywhere(options.threads);
  }

  [[nodiscard]] TubeMultipliers multipliers() const { return to_multipliers(alpha_); }
  [[nodiscard]] const TubePlanes& planes() const { return x_; }
  // The gap as the complementarity tells it: right once the residuals are gone.
  [[nodiscard]] double relative_gap() const {
    double primal = x_.shared.squaredNorm() / 2 + (cost_ * s_).sum();
    for (std::size_t t = 0; t < p_.tasks(); ++t) {
      if (std::isfinite(p_.lambda[t])) primal += p_.lambda[t] / 2 * x_.own[t].squaredNorm();
    }
    return 2 * count_ * mu() / std::max(primal, std::numeric_limits<double>::min());
  }
  [[nodiscard]] double mu() const {
    return ((alpha_ * slack_ + (cost_ - alpha_) * s_) * used_).sum() / std::max(1.0, 2 * count_);
  }
  [[nodiscard]] bool finite() const { return alpha_.allFinite() && s_.allFinite() && slack_.allFinite(); }

  // One predictor-corrector step; false if no step can be made.
  bool advance() {
    const double mu_now = mu();
    const Array room = cost_ - alpha_;
    const Array infeasible = s_ - h_ - slack_;
    const TubePlanes dual = lagrangian_gradient(rows_, x_, alpha_);
    weight_ = (used_ > 0).select((slack_ / alpha_ + s_ / room).inverse(), 0.0);
    Array bias_weight = 1e-14 * sum_by_task(p_, weight_, rows_.threads());
    bias_weight = (bias_weight > 0).select(bias_weight, bias_weight.sum());  // tasks without rows
    if (!system_.factor(weight_, bias_weight)) return false;

    const Array zero = Array::Zero(2 * n_);
    Direction affine = direction(zero, zero, infeasible, dual);
    const double reach = step_to_boundary(affine, 1.0);
    const double mu_affine = (((alpha_ + reach * affine.alpha) * (slack_ + reach * affine.slack) +
                               (room - reach * affine.alpha) * (s_ + reach * affine.s)) *
                              used_)
                                 .sum() /
                             (2 * count_);
    const double target = std::pow(mu_affine / mu_now, 3) * mu_now;
    const Array first = target - affine.alpha * affine.slack, second = target + affine.alpha * affine.s;
    Direction combined = direction(first, second, infeasible, dual);
    const double length = step_to_boundary(combined, 0.995);
    if (!(length > 1e-12)) return false;
    add_scaled(x_, length, combined.x);
    h_ += length * combined.h;
    alpha_ += length * combined.alpha;
    s_ += length * combined.s;
    slack_ += length * combined.slack;
    return true;
  }

 private:
  void start_anywhere(unsigned threads) {
    x_ = planes_of(p_, to_multipliers(Array::Zero(2 * n_)), threads);
    set_best_biases(p_, x_, threads);
    h_ = side_products(rows_, x_) - side_losses(p_).constant;
    // Start well inside: slacks of the size of the residuals. With more rows than unknowns most multipliers
    // end at a bound, so they start in the middle; else the rows can be fitted and they end far below a large
    // cost, so they start at what would move the planes by a thousand times the residuals.
    const double room = std::max(1e-3, (h_.abs() * used_).sum() / std::max(1.0, count_));
    alpha_ = cost_ / 2;
    if (p_.size() <= p_.features() + p_.tasks()) {
      const std::vector<double> scale = kernel_scales(p_);
      for (Index j = 0; j < 2 * n_; ++j) {
        const std::size_t t = p_.task_of(static_cast<std::size_t>(j % n_));
        alpha_[j] = std::min(alpha_[j], 1000 * room / scale[t]);
      }
    }
    s_ = h_.max(0.0) + room;
    slack_ = s_ - h_;
  }

  // From a solution nearby: its planes, its multipliers kept mu / |h| away from their bounds, and slacks that
  // make every complementarity mu. What gap the start has tells mu.
  void start_near(const TubeSolution& start) {
    x_ = start.planes;
    h_ = side_products(rows_, x_) - side_losses(p_).constant;
    const double mu =
        std::max(kNear * start.report.gap() / std::max(1.0, 2 * count_), std::numeric_limits<double>::min());
    alpha_ = to_sides(start.multipliers);
    s_ = slack_ = Array::Ones(2 * n_);
    for (Index j = 0; j < 2 * n_; ++j) {
      if (used_[j] == 0) continue;
      const double margin = std::min(mu / (std::abs(h_[j]) + 2 * mu / cost_[j]), cost_[j] / 2);
      alpha_[j] = std::clamp(alpha_[j], margin, cost_[j] - margin);
      slack_[j] = mu / alpha_[j];
      s_[j] = mu / (cost_[j] - alpha_[j]);
    }
  }

  struct Direction {
    TubePlanes x;
    Array h, alpha, s, slack;
  };

  // first, second: what alpha p and (C - alpha) s shall become.
  Direction direction(const Array& first, const Array& second, const Array& infeasible,
                      const TubePlanes& dual) {
    const Array room = cost_ - alpha_;
    const Array k = (used_ > 0).select(first / alpha_ - slack_ - second / room + s_ - infeasible, 0.0);
    NewtonSystem::Step step = system_.solve(dual, k);
    Direction d{std::move(step.x), std::move(step.products), std::move(step.reaction), {}, {}};
    d.s = (used_ > 0).select((second - room * s_ + s_ * d.alpha) / room, 0.0);
    d.slack = (used_ > 0).select(d.s - d.h + infeasible, 0.0);
    return d;
  }

  // The longest step up to 1 that keeps alpha, C - alpha, s and p positive, times `fraction`.
  [[nodiscard]] double step_to_boundary(const Direction& d, double fraction) const {
    double length = 1 / fraction;
    for (Index i = 0; i < 2 * n_; ++i) {
      if (used_[i] == 0) continue;
      if (d.alpha[i] < 0) length = std::min(length, -alpha_[i] / d.alpha[i]);
      if (d.alpha[i] > 0) length = std::min(length, (cost_[i] - alpha_[i]) / d.alpha[i]);
      if (d.s[i] < 0) length = std::min(length, -s_[i] / d.s[i]);
      if (d.slack[i] < 0) length = std::min(length, -slack_[i] / d.slack[i]);
    }
    return fraction * length;
  }

  const TubeProblem& p_;
  TubeRows rows_;
  NewtonSystem system_;
  Index n_;
  Array cost_, used_;
  double count_ = 0;
  TubePlanes x_;
  Array h_, alpha_, s_, slack_, weight_;
};

}  // namespace

TubeSolution solve_interior_point(const TubeProblem& p, const TubeOptions& options, const Observer& observer,
                                  NewtonSystem::Road road, const TubeSolution* start) {
  InteriorPoint point(p, options, road, start);
  TubeSolution best = start != nullptr ? *start : certify(p, point.multipliers(), &point.planes(), options);
  int steps = 0, without_gain = 0;
  bool stopped = false;
  while (steps < options.max_iterations && best.report.termination != Termination::kConverged &&
         without_gain < 3) {
    stopped = tell(observer, {"solving", static_cast<double>(steps), 0, point.relative_gap()}) == Next::kStop;
    const bool moved = !stopped && point.advance() && point.finite();
    if (moved) ++steps;
    // Certifying costs about a third of a step: only where it may succeed, or at the end.
    if (moved && point.relative_gap() > 3 * options.gap_tolerance && steps < options.max_iterations) continue;
    TubeSolution now = certify(p, point.multipliers(), &point.planes(), options);
    without_gain = now.report.gap() < best.report.gap() ? 0 : without_gain + 1;
    if (without_gain == 0) best = std::move(now);
    if (!moved) break;
  }
  if (stopped && best.report.termination != Termination::kConverged)
    best.report.termination = Termination::kStopped;
  best.report.iterations = steps;
  best.report.algorithm = "interior-point";
  return best;
}

}  // namespace bagwise::internal
