#include <algorithm>

#include "bagwise/core/timing.h"
#include "tl_llp/task.h"

namespace bagwise::bench {

Answer solve_ours(const TubeProblem& problem, double gap) {
  const Stopwatch watch;
  TubeSolution s = solve_tube_regression(problem, {.gap_tolerance = gap});
  return {std::move(s.planes), watch.seconds(), s.report.relative_gap()};
}

Rounds run_rounds(const TubeProblem& problem, double gap) {
  constexpr int kRounds = 6;
  constexpr double kShift = -0.01, kTolerance = 1e-3;
  Rounds out;
  TubeProblem round = problem;
  TubeSolution last;
  double before = 0, seconds = 0;
  for (int k = 1; k <= kRounds; ++k) {
    const Stopwatch watch;
    if (k > 1) {
      round.shift_above.assign(round.size(), kShift);
      round.shift_below = round.shift_above;
      round.direction.clear();
      for (std::size_t t = 0; t < round.tasks(); ++t)
        round.direction.push_back(last.planes.weights(t).normalized());
    }
    last = solve_tube_regression(round, {.gap_tolerance = gap}, k > 1 ? &last : nullptr);
    seconds += watch.seconds();
    out.certified = out.certified && last.report.termination == Termination::kConverged;
    if (k == 1) out.first_seconds = seconds;
    const double now = widened_objective(problem, last.planes);
    if (out.needed == 0 && ((k > 1 && before - now <= kTolerance * before) || k == kRounds)) {
      out.needed = k;
      out.needed_seconds = seconds;
    }
    before = now;
  }
  out.six_seconds = seconds;
  return out;
}

}  // namespace bagwise::bench
