#include "bagwise/methods/tl_llp/uncertain_tube.h"

#include <algorithm>
#include <cmath>

#include "bagwise/comm/over_ranks.h"
#include "bagwise/core/timing.h"
#include "bagwise/methods/tl_llp/rounds_state.h"

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
  RoundGap(const RoundsOptions& options, RoundsState& state)
      : options_(options), fall_before_(state.fall_before), expected_(state.expected), last_(state.last) {}

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
  double &fall_before_, &expected_;
  bool& last_;
};

bool stops(const RoundsOptions& options, const RoundsState& state) {
  return options.after_round && options.after_round(state) == Next::kStop;
}

// Planes that a round did not better are the better point of its problem too: its multipliers certify them,
// to the gap that was asked for, which the round they were found in may not have had.
void recertify(const TubeProblem& convex, TubeSolution next, const TubeOptions& asked, TubeSolution& kept) {
  kept.multipliers = std::move(next.multipliers);
  kept.report.primal = primal_value(convex, kept.planes, asked.threads);
  // A number below a lower bound is one; rounding may have put the value of the planes below it.
  kept.report.dual = std::min(next.report.dual, kept.report.primal);
  kept.report.termination = kept.report.relative_gap() <= asked.gap_tolerance ? Termination::kConverged
                                                                              : Termination::kIterationLimit;
}

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
  const bool certain = !any_over_ranks(
      tube.problem.comm, std::any_of(tube.bound.begin(), tube.bound.end(), [](double b) { return b != 0; }));
  TubeProblem convex = tube.problem;
  const auto shift_rows = [&](const TubePlanes& planes) {
    convex.shift_above.assign(convex.size(), 0.0);
    std::transform(tube.bound.begin(), tube.bound.end(), convex.shift_above.begin(), std::negate<>());
    convex.shift_below = convex.shift_above;
    convex.direction = steepest_directions(tube, planes);
  };
  RoundsState state;
  if (options.from != nullptr) state = *options.from;
  RoundsResult& out = state.result;
  // How far the convex problem lies above F where it is least.
  const auto touches = [&](const TubeSolution& solution, double value) {
    return start != nullptr && solution.report.primal - value <= options.tolerance * std::abs(value);
  };

  if (options.from == nullptr) {
    const Stopwatch watch;
    if (start != nullptr && !certain) shift_rows(start->planes);
    out.solution = solve_tube_regression(convex, options.solve, start, observer);
    out.first_solve_seconds = watch.seconds();
    out.steps = {out.solution.report.iterations};
    out.objective =
        certain ? out.solution.report.primal : uncertain_value(tube, out.solution.planes, threads);
    out.history = {out.objective};
    if (ends_rounds(out.solution.report.termination, out.end)) return out;
    const bool done = certain || touches(out.solution, out.objective);
    out.end = done ? RoundsEnd::kConverged : RoundsEnd::kRoundLimit;
    if (stops(options, state)) out.end = RoundsEnd::kStopped;
  }
  RoundGap gap(options, state);
  while (out.end == RoundsEnd::kRoundLimit && static_cast<int>(out.steps.size()) < options.max_rounds) {
    shift_rows(out.solution.planes);
    const TubeOptions solve = gap.for_round(static_cast<int>(out.steps.size()) + 1);
    TubeSolution next = solve_tube_regression(convex, solve, &out.solution, observer);
    out.steps.push_back(next.report.iterations);
    if (ends_rounds(next.report.termination, out.end)) break;
    const double value = uncertain_value(tube, next.planes, threads), before = out.objective;
    const bool near = touches(next, value);
    // The convex problem lies above F and touches it at the planes it was made at, so that F falls; where
    // rounding has the better of it (costs of 1e100), the planes before are kept.
    if (value < before) {
      out.objective = value;
      out.solution = std::move(next);
    } else {
      recertify(convex, std::move(next), options.solve, out.solution);
    }
    out.history.push_back(out.objective);
    if (near || gap.settled(before, out.objective)) out.end = RoundsEnd::kConverged;
    if (stops(options, state)) out.end = RoundsEnd::kStopped;
  }
  out.end = with_gap(out.end, out.solution.report);
  return out;
}

namespace {

// Where the rows stood in a round: enough to know that the rounds have come back.
using Position = RoundsState::Position;

bool is_same(const Position& a, const Position& b) {
  constexpr double kSame = 1e-9;
  for (std::size_t i = 0; i < a.move.size(); ++i) {
    if (std::abs(a.move[i] - b.move[i]) > kSame * std::abs(a.move[i])) return false;
  }
  for (std::size_t t = 0; t < a.direction.size(); ++t) {
    if ((a.direction[t] - b.direction[t]).norm() > 1e-6 * a.direction[t].norm()) return false;
  }
  return true;
}

void move_rows(const Position& position, TubeProblem& convex) {
  convex.direction = position.direction;
  convex.shift_above = position.move;
  convex.shift_below = position.move;
  for (double& s : convex.shift_below) s = -s;
}

}  // namespace

Result<RoundsResult> literal_rounds(const UncertainTube& tube, const Moves& moves,
                                    const RoundsOptions& options, const Observer& observer) {
  TubeProblem convex = tube.problem;
  RoundsState state;
  state.result.end = RoundsEnd::kRoundLimit;
  if (options.from != nullptr) state = *options.from;
  RoundsResult& out = state.result;
  TubeSolution& now = state.now;
  std::vector<Position>& visited = state.visited;
  if (!visited.empty()) move_rows(visited.back(), convex);
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
    auto moved = moves(now.planes);
    if (!moved) return moved.error();
    Position next{std::move(*moved), steepest_directions(tube, now.planes)};
    const auto same = [&](const Position& before) { return is_same(next, before); };
    if (!visited.empty() && same(visited.back())) {  // nothing moves any more
      out.end = RoundsEnd::kConverged;
    } else if (std::any_of(visited.begin(), visited.end(), same)) {
      out.end = RoundsEnd::kCycle;
    }
    move_rows(next, convex);
    visited.push_back(std::move(next));
    if (stops(options, state)) out.end = RoundsEnd::kStopped;
  }
  out.end = with_gap(out.end, out.solution.report);
  return out;
}

}  // namespace bagwise
