// The log-cosh problem by truncated Newton steps: conjugate gradients with a preconditioner, then a line
// search.
//
// The preconditioner is a diagonal first. A system that takes as many products as a Cholesky factor of the
// Hessian would cost gets that factor, and later systems, whose Hessian is near it, use it again until it is
// too old for them.
#include "bagwise/solver/log_cosh.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "bagwise/linalg/blas.h"
#include "bagwise/solver/internal/log_cosh_rows.h"

namespace bagwise {
namespace {

using internal::LogCoshHessian;
using internal::LogCoshRows;

// M^-1 r for a matrix M near the Hessian.
class Preconditioner {
 public:
  void use_rough(LogCoshHessian::Rough rough) {
    rough_ = std::move(rough);
    factored_ = false;
  }
  [[nodiscard]] bool use_factor(ColMatrix hessian) { return factored_ = factor_.factor(std::move(hessian)); }
  [[nodiscard]] bool is_factor() const { return factored_; }
  [[nodiscard]] Vector apply(const Vector& r) const {
    Vector out = r;
    if (factored_) {
      factor_.solve_in_place(out);
      return out;
    }
    const Eigen::Index d = r.size() - 1;
    out.head(d) -= r[d] * rough_.mean;
    out.array() /= rough_.diagonal.array();
    out[d] -= rough_.mean.dot(out.head(d));
    return out;
  }

 private:
  LogCoshHessian::Rough rough_;
  Cholesky factor_;
  bool factored_ = false;
};

// Solves F'' step = -gradient until r.M^-1 r has shrunk by `reduction`^2, by at most `limit` products, whose
// number it returns; one more if they do not do.
int conjugate_gradients(const LogCoshHessian& hessian, const Preconditioner& m, const Vector& gradient,
                        double reduction, int limit, Vector& step) {
  step = Vector::Zero(gradient.size());
  Vector r = -gradient, y = m.apply(r), direction = y;
  double rho = r.dot(y);
  const double enough = reduction * reduction * rho;
  int products = 0;
  for (; products < limit && rho > enough; ++products) {
    const Vector product = hessian.times(direction);
    const double curvature = direction.dot(product);
    if (!(curvature > 0)) break;
    const double length = rho / curvature;
    step += length * direction;
    r -= length * product;
    y = m.apply(r);
    const double before = rho;
    rho = r.dot(y);
    direction = y + (rho / before) * direction;
  }
  return rho <= enough ? products : products + 1;
}

// The method, with what it keeps from step to step.
class TruncatedNewton {
 public:
  TruncatedNewton(const LogCoshProblem& problem, const LogCoshOptions& options)
      : problem_(problem),
        options_(options),
        all_(problem.rows, options.threads),
        rows_(problem, all_),
        hessian_(problem, all_),
        w_(Vector::Zero(problem.linear.size())) {
    now_ = evaluate(w_);
    first_ = now_.gradient.norm();
    constexpr Eigen::Index kLargestFactor = 4096;  // 128 MB
    can_factor_ = options.steps != LogCoshSteps::kGradients && w_.size() <= kLargestFactor;
  }

  [[nodiscard]] bool finite() const { return std::isfinite(now_.value) && std::isfinite(lower_bound()); }
  [[nodiscard]] double gradient_norm() const { return now_.gradient.norm(); }
  [[nodiscard]] double relative_gradient() const { return first_ > 0 ? gradient_norm() / first_ : 0; }
  [[nodiscard]] double lower_bound() const {
    return now_.value - now_.gradient.squaredNorm() / (2 * problem_.lambda);
  }
  [[nodiscard]] bool converged() const { return relative_gradient() <= options_.tolerance; }
  [[nodiscard]] bool certified() const {
    return now_.value - lower_bound() <= options_.tolerance * std::abs(now_.value);
  }

  // One Newton step; false if rounding lets none go further down.
  bool advance() {
    if (try_step()) return true;
    if (careful_) return false;
    // What looks like the end may be a system that was not solved well enough: once more, with all care.
    careful_ = true;
    now_ = evaluate(w_);
    return try_step();
  }

  [[nodiscard]] LogCoshSolution solution() const {
    LogCoshSolution out{w_, relative_gradient(), passes_, {}};
    out.report.primal = now_.value;
    out.report.dual = lower_bound();
    out.report.algorithm = "truncated-newton";
    return out;
  }

 private:
  bool try_step() {
    const Vector step = newton_step();
    const double slope = now_.gradient.dot(step);
    if (!(slope < 0)) return false;
    // The whole step if it gains and leaves little of the slope, else as far as is best. Steps that need a
    // search come in a row: after one, the search is first.
    constexpr double kArmijo = 1e-4, kSteep = 0.5, kFlat = 0.1;
    Vector trial = w_;
    LogCoshRows::Value value;
    const auto search = [&] {
      const double length = rows_.best_length(trial, step, -kFlat * slope);
      trial += length * step;
      value = evaluate(trial);
      ++passes_;
      return length;
    };
    if (search_first_) {
      const double length = search();
      search_first_ = length < kSteep || length > 1 / kSteep;
    } else {
      trial += step;
      value = evaluate(trial);
      search_first_ = !(value.value <= now_.value + kArmijo * slope &&
                        std::abs(value.gradient.dot(step)) <= -kSteep * slope);
      if (search_first_) search();
    }
    // Near the end values no longer tell points apart, but gradients do.
    constexpr double kRounding = 1e-14;
    const bool level = std::abs(value.value - now_.value) <= kRounding * now_.magnitude;
    if (value.value < now_.value || (level && value.gradient.norm() < gradient_norm())) {
      w_ = std::move(trial);
      now_ = std::move(value);
      return true;
    }
    return false;
  }

  LogCoshRows::Value evaluate(const Vector& w) {
    ++passes_;
    return rows_.evaluate(w);
  }

  Vector newton_step() {
    // Exact enough for superlinear convergence, but not more exact than the answer is to be.
    constexpr double kLoose = 0.25, kMargin = 0.1;
    constexpr int kLimit = 1000, kRefinements = 10;
    const double relative = relative_gradient();
    double reduction =
        std::clamp(std::cbrt(relative), std::min(kLoose, kMargin * options_.tolerance / relative), kLoose);
    if (careful_) reduction = 1e-6;
    hessian_.take(rows_.curvature());
    if (!preconditioner_.is_factor()) preconditioner_.use_rough(hessian_.rough());
    Vector step;
    const auto solved = [&](int limit) {
      const int products =
          conjugate_gradients(hessian_, preconditioner_, now_.gradient, reduction, limit, step);
      passes_ += hessian_.share() * std::min(products, limit);
      return products <= limit;
    };
    // A system that takes as many products as a factor would cost gets the factor.
    int patience = kLimit;
    if (can_factor_) patience = static_cast<int>(std::min<double>(kLimit, hessian_.matrix_cost()));
    if (can_factor_ && (careful_ || options_.steps == LogCoshSteps::kFactors)) patience = 0;
    if (solved(patience) || !can_factor_) return step;
    passes_ += hessian_.share();
    can_factor_ = preconditioner_.use_factor(hessian_.matrix());
    if (!can_factor_) preconditioner_.use_rough(hessian_.rough());
    solved(can_factor_ ? kRefinements : kLimit);  // a new factor is the Hessian up to rounding
    return step;
  }

  const LogCoshProblem& problem_;
  const LogCoshOptions& options_;
  internal::PiecedRows all_;
  LogCoshRows rows_;
  LogCoshHessian hessian_;
  Preconditioner preconditioner_;
  Vector w_;
  LogCoshRows::Value now_;
  double first_ = 0, passes_ = 1;
  bool can_factor_ = false, search_first_ = false, careful_ = false;
};

[[maybe_unused]] bool well_formed(const LogCoshProblem& p) {
  const std::size_t d = column_count(p.rows);
  return static_cast<std::size_t>(p.linear.size()) == d + 1 && p.lambda > 0 &&
         p.shift.size() == p.factor.size() && (p.factor.empty() || p.factor.size() == d);
}

}  // namespace

LogCoshSolution solve_log_cosh(const LogCoshProblem& problem, const LogCoshOptions& options,
                               const Observer& observer) {
  assert(well_formed(problem));
  const SerialBlas serial;
  TruncatedNewton newton(problem, options);
  int steps = 0;
  bool stopped = false;
  while (newton.finite() && !(newton.converged() && newton.certified()) && steps < options.max_iterations) {
    const double gap = newton.solution().report.relative_gap();
    stopped = tell(observer, {"solving", static_cast<double>(steps), 0, gap}) == Next::kStop;
    if (stopped || !newton.advance()) break;
    ++steps;
  }
  LogCoshSolution out = newton.solution();
  out.report.termination = !newton.finite()     ? Termination::kNumericalFault
                           : newton.converged() ? Termination::kConverged
                           : stopped            ? Termination::kStopped
                                                : Termination::kIterationLimit;
  out.report.iterations = steps;
  return out;
}

}  // namespace bagwise
