#include "bagwise/solver/count_regression.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>

#include "bagwise/linalg/blas.h"
#include "bagwise/solver/internal/count_rows.h"

namespace bagwise {
namespace {

using internal::CountRows;

// Where the search is, with all it needs to go on.
struct Point {
  Vector z, f;
  Vector slope;  // of the loss in f
  double loss = 0, value = 0;
  Vector gradient;  // of F in z
};

// The inverse of the Hessian as the last steps tell it, and a diagonal before them.
class Memory {
 public:
  void reset(const Vector& diagonal) {
    diagonal_ = diagonal;
    pairs_.clear();
  }
  void add(Vector step, Vector change) {
    const double product = step.dot(change);
    // A pair that tells of no curvature is of no use.
    if (!(product > 1e-10 * std::sqrt(step.squaredNorm() * change.squaredNorm()))) return;
    scale_ = product / change.cwiseProduct(change).cwiseQuotient(diagonal_).sum();
    if (pairs_.size() == kPairs) pairs_.pop_front();
    pairs_.push_back({std::move(step), std::move(change), 1 / product});
  }
  [[nodiscard]] bool empty() const { return pairs_.empty(); }
  [[nodiscard]] Vector times(Vector v) const {
    std::vector<double> along(pairs_.size());
    for (std::size_t i = pairs_.size(); i-- > 0;) {
      along[i] = pairs_[i].inverse * pairs_[i].step.dot(v);
      v -= along[i] * pairs_[i].change;
    }
    v = v.cwiseQuotient(diagonal_) * (pairs_.empty() ? 1.0 : scale_);
    for (std::size_t i = 0; i < pairs_.size(); ++i)
      v += (along[i] - pairs_[i].inverse * pairs_[i].change.dot(v)) * pairs_[i].step;
    return v;
  }

 private:
  static constexpr std::size_t kPairs = 20;
  struct Pair {
    Vector step, change;
    double inverse;  // 1 / step.change
  };
  Vector diagonal_;
  double scale_ = 1;
  std::deque<Pair> pairs_;
};

// F along a line from a point, as a function of how far: f is known without a pass.
class Line {
 public:
  Line(CountRows& rows, const Point& from, const Vector& direction)
      : rows_(rows), from_(from), direction_(direction), along_(rows.products(direction)) {
    const auto held = rows.held();
    linear_ = from.z.head(held).dot(direction.head(held));
    square_ = direction.head(held).squaredNorm();
    penalty_ = rows.penalty(from.z);
  }
  struct Value {
    double length = 0, value = 0, slope = 0;
  };
  Value at(double length) {
    f_ = from_.f + length * along_;
    loss_ = rows_.loss(f_, slope_);
    return {length, penalty_ + length * (linear_ + length * square_ / 2) + loss_,
            linear_ + length * square_ + slope_.dot(along_)};
  }
  // Makes the length last tried a point.
  void take(double length, double value, Point& to) {
    to.z = from_.z + length * direction_;
    to.f = std::move(f_);
    to.slope = std::move(slope_);
    to.loss = loss_;
    to.value = value;
  }

 private:
  CountRows& rows_;
  const Point& from_;
  const Vector& direction_;
  Vector along_, f_, slope_;
  double linear_ = 0, square_ = 0, penalty_ = 0, loss_ = 0;
};

// The lowest point of the cubic with these values and slopes, kept away from both ends.
double between(const Line::Value& a, const Line::Value& b) {
  const double width = b.length - a.length;
  const double c = a.slope + b.slope - 3 * (b.value - a.value) / width;
  const double root = c * c - a.slope * b.slope;
  double at = 0.5;
  if (root >= 0) {
    const double d = std::copysign(std::sqrt(root), width);
    at = 1 - (b.slope + d - c) / (b.slope - a.slope + 2 * d);
  }
  if (!(at > 0.1)) at = 0.1;
  return a.length + std::min(at, 0.9) * width;
}

// A length at which F is lower and its slope a good part smaller (the strong Wolfe conditions); 0 if rounding
// lets none be found. The length returned is the one last tried.
Line::Value search(Line& line, const Line::Value& zero) {
  constexpr double kArmijo = 1e-4, kFlat = 0.5, kLongest = 1e6;
  constexpr int kTries = 30;
  Line::Value low = zero, high = zero, now;
  bool bracket = false;
  double length = 1;
  for (int i = 0; i < kTries; ++i) {
    now = line.at(length);
    const bool finite = std::isfinite(now.value) && std::isfinite(now.slope);
    const bool falls =
        finite && now.value <= zero.value + kArmijo * length * zero.slope && now.value <= low.value;
    if (falls && std::abs(now.slope) <= -kFlat * zero.slope) return now;
    if (!falls) {
      high = now;
      bracket = true;
    } else {
      // The side on which a lower point must be, seen from here.
      const bool beyond = bracket ? now.slope * (high.length - now.length) < 0 : now.slope < 0;
      if (!beyond) {
        high = low;
        bracket = true;
      }
      low = now;
    }
    if (!bracket) {
      if (length >= kLongest) break;
      length *= 3;
    } else if (!std::isfinite(high.value) || !std::isfinite(high.slope)) {
      length = low.length + 0.1 * (high.length - low.length);
    } else {
      length = between(low, high);
    }
    if (bracket && std::abs(high.length - low.length) <= 1e-12 * std::max(low.length, high.length)) break;
  }
  if (low.length > 0 && low.value < zero.value) return low.length == now.length ? now : line.at(low.length);
  return zero;
}

bool finite(const TubePlanes& planes) {
  const auto is_finite = [](const Vector& v) { return v.allFinite(); };
  return is_finite(planes.shared) && std::all_of(planes.own.begin(), planes.own.end(), is_finite) &&
         std::all_of(planes.bias.begin(), planes.bias.end(), [](double b) { return std::isfinite(b); });
}

}  // namespace

double count_objective(const CountProblem& problem, const TubePlanes& planes, unsigned threads) {
  CountRows rows(problem, threads);
  const Vector z = rows.from_planes(planes);
  Vector slope;
  return rows.penalty(z) + rows.loss(rows.products(z), slope);
}

namespace {

// The search from a start, at one share of the costs after the other.
class Descent {
 public:
  Descent(const CountProblem& problem, const TubePlanes& start, unsigned threads) : rows_(problem, threads) {
    now_.z = rows_.from_planes(start);
    now_.f = rows_.products(now_.z);
    now_.loss = rows_.loss(now_.f, now_.slope);
    now_.value = rows_.penalty(now_.z) + now_.loss;
    now_.gradient = gradient(now_);
  }

  // Squares of features may overflow where their sums do not.
  [[nodiscard]] bool finite() const {
    return std::isfinite(now_.value) && now_.gradient.allFinite() && rows_.diagonal().allFinite();
  }
  [[nodiscard]] double convex_share() const { return rows_.convex_share(); }
  [[nodiscard]] double value() const { return now_.value; }
  [[nodiscard]] double decrement() const { return decrement_; }
  [[nodiscard]] double passes() const { return rows_.passes(); }
  [[nodiscard]] TubePlanes planes() const { return rows_.to_planes(now_.z); }

  // Everything but the penalty is proportional to the share: no pass.
  void set_share(double share) {
    const double ratio = share / share_;
    const auto held = rows_.held();
    share_ = share;
    rows_.set_share(share);
    now_.loss *= ratio;
    now_.slope *= ratio;
    now_.value = rows_.penalty(now_.z) + now_.loss;
    now_.gradient.head(held) -= now_.z.head(held);
    now_.gradient *= ratio;
    now_.gradient.head(held) += now_.z.head(held);
  }

  // Steps until one is expected to gain less than the tolerance; `before_step` is told of each and may end
  // it.
  Termination run(double tolerance, int max_steps, const std::function<bool()>& before_step) {
    memory_.reset(rows_.diagonal());
    for (steps_ = 0;;) {
      Vector direction = -memory_.times(now_.gradient);
      double slope = now_.gradient.dot(direction);
      if (!(slope < 0)) {
        memory_.reset(rows_.diagonal());
        direction = -memory_.times(now_.gradient);
        slope = now_.gradient.dot(direction);
      }
      decrement_ = -slope / 2 / rows_.total_cost();
      if (!(decrement_ > tolerance)) return Termination::kConverged;
      if (steps_ >= max_steps) return Termination::kIterationLimit;
      if (!before_step()) return Termination::kStopped;
      Line line(rows_, now_, direction);
      const Line::Value best = search(line, {0, now_.value, slope});
      if (best.length > 0) {
        Point next;
        line.take(best.length, best.value, next);
        next.gradient = gradient(next);
        memory_.add(next.z - now_.z, next.gradient - now_.gradient);
        now_ = std::move(next);
        ++steps_;
        if (history_ != nullptr) history_->push_back(now_.value);
      } else if (memory_.empty()) {
        return Termination::kIterationLimit;  // as low as rounding lets it be seen
      } else {
        memory_.reset(rows_.diagonal());
      }
    }
  }
  void keep_history(std::vector<double>* history) {
    history_ = history;
    history_->push_back(now_.value);
  }
  [[nodiscard]] int steps() const { return steps_; }  // of the last run

 private:
  [[nodiscard]] Vector gradient(const Point& at) const {
    Vector out = rows_.combination(at.slope);
    out.head(rows_.held()) += at.z.head(rows_.held());
    return out;
  }

  CountRows rows_;
  Point now_;
  Memory memory_;
  double share_ = 1, decrement_ = 0;
  int steps_ = 0;
  std::vector<double>* history_ = nullptr;
};

}  // namespace

CountSolution solve_counts(const CountProblem& problem, const TubePlanes& start, const CountOptions& options,
                           const Observer& observer) {
  const SerialBlas serial;
  Descent descent(problem, start, options.threads);
  CountSolution out;
  bool usable = descent.finite(), stopped = false;
  int told = 0;
  const auto tell_step = [&] {
    stopped = tell(observer, {"solving", static_cast<double>(told++), 0, descent.decrement()}) == Next::kStop;
    return !stopped;
  };
  // Fourfold and not closer than this at a time: the next stage mends what one leaves.
  constexpr double kRaise = 4, kStageTolerance = 1e-3;
  if (usable && options.anneal) {
    int left = options.max_steps;
    for (double share = descent.convex_share(); share < 1 && !stopped && left > 0; share *= kRaise) {
      descent.set_share(share);
      descent.run(std::max(options.tolerance, kStageTolerance), left, tell_step);
      left -= descent.steps();
      out.steps_before += descent.steps();
    }
    descent.set_share(1);
  }
  descent.keep_history(&out.history);
  if (!usable) {
    out.termination = Termination::kNumericalFault;
  } else if (stopped) {
    out.termination = Termination::kStopped;
  } else {
    out.termination = descent.run(options.tolerance, options.max_steps, tell_step);
  }
  out.planes = descent.planes();
  if (!finite(out.planes)) out.termination = Termination::kNumericalFault;
  out.objective = descent.value();
  out.decrement = descent.decrement();
  out.passes = descent.passes();
  return out;
}

}  // namespace bagwise
