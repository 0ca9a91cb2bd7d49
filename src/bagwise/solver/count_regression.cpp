#include "bagwise/solver/count_regression.h"

#include <algorithm>
#include <cmath>
#include <deque>

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

CountSolution solve_counts(const CountProblem& problem, const TubePlanes& start, const CountOptions& options,
                           const Observer& observer) {
  const SerialBlas serial;
  CountRows rows(problem, options.threads);
  const auto gradient = [&](const Point& at) {
    Vector out = rows.combination(at.slope);
    out.head(rows.held()) += at.z.head(rows.held());
    return out;
  };
  CountSolution out;
  Point now;
  now.z = rows.from_planes(start);
  now.f = rows.products(now.z);
  now.loss = rows.loss(now.f, now.slope);
  now.value = rows.penalty(now.z) + now.loss;
  now.gradient = gradient(now);
  out.history.push_back(now.value);
  out.termination = Termination::kNumericalFault;
  Memory memory;
  memory.reset(rows.diagonal());
  // Squares of features may overflow where their sums do not.
  if (std::isfinite(now.value) && now.gradient.allFinite() && rows.diagonal().allFinite())
    out.termination = Termination::kIterationLimit;
  while (out.termination == Termination::kIterationLimit) {
    Vector direction = -memory.times(now.gradient);
    double slope = now.gradient.dot(direction);
    if (!(slope < 0)) {
      memory.reset(rows.diagonal());
      direction = -memory.times(now.gradient);
      slope = now.gradient.dot(direction);
    }
    out.decrement = -slope / 2 / rows.total_cost();
    if (!(out.decrement > options.tolerance)) {
      out.termination = Termination::kConverged;
    } else if (out.steps() >= options.max_steps) {
      break;
    } else if (tell(observer, {"solving", static_cast<double>(out.steps()), 0, out.decrement}) ==
               Next::kStop) {
      out.termination = Termination::kStopped;
    } else {
      Line line(rows, now, direction);
      const Line::Value best = search(line, {0, now.value, slope});
      if (best.length == 0) {
        if (memory.empty()) break;  // as low as rounding lets it be seen
        memory.reset(rows.diagonal());
        continue;
      }
      Point next;
      line.take(best.length, best.value, next);
      next.gradient = gradient(next);
      memory.add(next.z - now.z, next.gradient - now.gradient);
      now = std::move(next);
      out.history.push_back(now.value);
    }
  }
  out.planes = rows.to_planes(now.z);
  if (!finite(out.planes)) out.termination = Termination::kNumericalFault;
  out.objective = now.value;
  out.passes = rows.passes();
  return out;
}

}  // namespace bagwise
