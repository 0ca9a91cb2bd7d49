#include "bagwise/methods/tl_llp/uncertain_tube.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "bagwise/core/timing.h"

namespace bagwise {
namespace {

Eigen::Map<const Eigen::ArrayXd> as_array(const std::vector<double>& values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

std::vector<Vector> steepest_directions(const UncertainTube& tube, const TubePlanes& planes) {
  std::vector<Vector> out;
  for (std::size_t t = 0; t < tube.problem.tasks(); ++t)
    out.push_back(steepest_direction(tube.stretch, planes.weights(t)));
  return out;
}

// How closely each round is solved. Where much is still to be gained a rough solve gains nearly as much: a
// tenth of the fall to be expected will do, and only the round that is to be the last is solved to the gap
// asked for. Measured over bags of 2, 8 and 32 at C = 1 and 32: all rounds together take 2 to 4.4 times the
// first solve (5.7 where there are eight of them), against up to 6.2 if each is solved to the gap.
class RoundGap {
 public:
  explicit RoundGap(const RoundsOptions& options) : options_(options) {}

  TubeOptions for_round(int number) {
    last_ = last_ || number == options_.max_rounds;
    TubeOptions out = options_.solve;
    if (!last_) out.gap_tolerance = std::max(out.gap_tolerance, std::min(kRoughest, 0.1 * expected_));
    return out;
  }

  // Takes note of what a round gained; whether that was so little that it may be the last.
  bool settled(double before, double now) {
    if (is_small_change(before, now, options_.tolerance)) {
      if (last_) return true;
      last_ = true;
      return false;
    }
    const double fall = (before - now) / std::abs(before);
    expected_ = fall * std::min(1.0, fall / fall_before_);
    fall_before_ = fall;
    last_ = expected_ <= options_.tolerance;
    return false;
  }

 private:
  static constexpr double kRoughest = 1e-3;

  const RoundsOptions& options_;
  double fall_before_ = 1, expected_ = 1;
  bool last_ = false;
};

}  // namespace

bool ends_rounds(Termination termination, RoundsEnd& end) {
  if (termination == Termination::kStopped) end = RoundsEnd::kStopped;
  if (termination == Termination::kNumericalFault) end = RoundsEnd::kNumericalFault;
  return termination == Termination::kStopped || termination == Termination::kNumericalFault;
}

RoundsEnd with_gap(RoundsEnd end, const SolveReport& returned) {
  const bool short_of_gap = returned.termination == Termination::kIterationLimit;
  return end == RoundsEnd::kConverged && short_of_gap ? RoundsEnd::kSolveLimit : end;
}

bool is_small_change(double before, double now, double tolerance) {
  return std::abs(before - now) <= tolerance * std::max(std::abs(before), std::abs(now));
}

double stretched_norm(const std::vector<double>& stretch, const Vector& w) {
  return stretch.empty() ? w.norm() : (w.array() * as_array(stretch)).matrix().norm();
}

Vector steepest_direction(const std::vector<double>& stretch, const Vector& w) {
  const double norm = stretched_norm(stretch, w);
  if (norm == 0) return Vector::Zero(w.size());
  if (stretch.empty()) return w / norm;
  return (w.array() * as_array(stretch).square()).matrix() / norm;
}

double uncertain_value(const UncertainTube& tube, const TubePlanes& planes, unsigned threads) {
  TubeProblem widened = tube.problem;
  std::vector<double> reach;
  for (std::size_t t = 0; t < widened.tasks(); ++t)
    reach.push_back(stretched_norm(tube.stretch, planes.weights(t)));
  for (std::size_t i = 0; i < widened.size(); ++i)
    widened.tube[i] += tube.bound[i] * reach[widened.task_of(i)];
  return primal_value(widened, planes, threads);
}

RoundsResult exact_rounds(const UncertainTube& tube, const RoundsOptions& options, const Observer& observer,
                          const TubeSolution* start) {
  const unsigned threads = options.solve.threads;
  const bool certain = std::all_of(tube.bound.begin(), tube.bound.end(), [](double b) { return b == 0; });
  TubeProblem convex = tube.problem;
  const auto shift_rows = [&](const TubePlanes& planes) {
    convex.shift_above.assign(convex.size(), 0.0);
    std::transform(tube.bound.begin(), tube.bound.end(), convex.shift_above.begin(), std::negate<>());
    convex.shift_below = convex.shift_above;
    convex.direction = steepest_directions(tube, planes);
  };
  RoundsResult out;
  const Stopwatch watch;
  if (start != nullptr && !certain) shift_rows(start->planes);
  out.solution = solve_tube_regression(convex, options.solve, start, observer);
  out.first_solve_seconds = watch.seconds();
  out.steps = {out.solution.report.iterations};
  out.objective = certain ? out.solution.report.primal : uncertain_value(tube, out.solution.planes, threads);
  out.history = {out.objective};
  if (ends_rounds(out.solution.report.termination, out.end)) return out;
  // How far the convex problem lies above F where it is least.
  const auto touches = [&](const TubeSolution& solution, double value) {
    return start != nullptr && solution.report.primal - value <= options.tolerance * std::abs(value);
  };

  RoundGap gap(options);
  const bool done = certain || touches(out.solution, out.objective);
  for (out.end = done ? RoundsEnd::kConverged : RoundsEnd::kRoundLimit;
       out.end == RoundsEnd::kRoundLimit && static_cast<int>(out.steps.size()) < options.max_rounds;) {
    shift_rows(out.solution.planes);
    const TubeOptions solve = gap.for_round(static_cast<int>(out.steps.size()) + 1);
    TubeSolution next = solve_tube_regression(convex, solve, &out.solution, observer);
    out.steps.push_back(next.report.iterations);
    if (ends_rounds(next.report.termination, out.end)) break;
    const double value = uncertain_value(tube, next.planes, threads), before = out.objective;
    // The convex problem lies above F and touches it at the planes it was made at.
    [[maybe_unused]] const double rounding = 1e-9 * (std::abs(before) + next.report.primal);
    assert(value <= primal_value(convex, next.planes) + rounding);
    assert(std::abs(primal_value(convex, out.solution.planes) - before) <= rounding);
    const bool near = touches(next, value);
    if (value < before) {  // else all that is left to gain is below the gap of the solve
      out.objective = value;
      out.solution = std::move(next);
    }
    out.history.push_back(out.objective);
    if (near || gap.settled(before, out.objective)) out.end = RoundsEnd::kConverged;
  }
  out.end = with_gap(out.end, out.solution.report);
  return out;
}

namespace {

// Where the rows stood in a round: enough to know that the rounds have come back.
struct Position {
  std::vector<double> move;
  std::vector<Vector> direction;

  [[nodiscard]] bool same(const Position& other) const {
    constexpr double kSame = 1e-9;
    for (std::size_t i = 0; i < move.size(); ++i) {
      if (std::abs(move[i] - other.move[i]) > kSame * std::abs(move[i])) return false;
    }
    for (std::size_t t = 0; t < direction.size(); ++t) {
      if ((direction[t] - other.direction[t]).norm() > 1e-6 * direction[t].norm()) return false;
    }
    return true;
  }
};

void move_rows(const Position& position, TubeProblem& convex) {
  convex.direction = position.direction;
  convex.shift_above = position.move;
  convex.shift_below = position.move;
  for (double& s : convex.shift_below) s = -s;
}

}  // namespace

RoundsResult literal_rounds(const UncertainTube& tube, const Moves& moves, const RoundsOptions& options,
                            const Observer& observer) {
  TubeProblem convex = tube.problem;
  RoundsResult out;
  out.end = RoundsEnd::kRoundLimit;
  TubeSolution now;
  std::vector<Position> visited;
  while (out.end == RoundsEnd::kRoundLimit && static_cast<int>(out.history.size()) < options.max_rounds) {
    const Stopwatch watch;
    const bool first = out.history.empty();
    now = solve_tube_regression(convex, options.solve, first ? nullptr : &now, observer);
    if (first) out.first_solve_seconds = watch.seconds();
    out.steps.push_back(now.report.iterations);
    const double value = now.report.primal;
    if (!first && is_small_change(out.history.back(), value, options.tolerance))
      out.end = RoundsEnd::kConverged;
    if (first || value < out.objective) {
      out.solution = now;
      out.objective = value;
      out.move = first ? std::vector<double>(convex.size(), 0.0) : visited.back().move;
    }
    out.history.push_back(value);
    if (ends_rounds(now.report.termination, out.end) || out.end == RoundsEnd::kConverged) break;
    Position next{moves(now.planes), steepest_directions(tube, now.planes)};
    const auto same = [&](const Position& before) { return next.same(before); };
    if (!visited.empty() && same(visited.back())) {  // nothing moves any more
      out.end = RoundsEnd::kConverged;
    } else if (std::any_of(visited.begin(), visited.end(), same)) {
      out.end = RoundsEnd::kCycle;
    }
    move_rows(next, convex);
    visited.push_back(std::move(next));
  }
  out.end = with_gap(out.end, out.solution.report);
  return out;
}

}  // namespace bagwise
