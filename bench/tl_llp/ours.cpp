#include <algorithm>

#include "bagwise/core/timing.h"
#include "bagwise/methods/tl_llp/uncertain_tube.h"
#include "tl_llp/task.h"

namespace bagwise::bench {

Answer solve_ours(const TubeProblem& problem, double gap) {
  const Stopwatch watch;
  TubeSolution s = solve_tube_regression(problem, {.gap_tolerance = gap});
  return {std::move(s.planes), watch.seconds(), s.report.relative_gap()};
}

Rounds run_rounds(const TubeProblem& problem, double gap) {
  const UncertainTube tube{problem, std::vector<double>(problem.size(), 0.01), {}};
  const Stopwatch watch;
  const RoundsResult result = exact_rounds(tube, {.solve = {.gap_tolerance = gap}});
  return {static_cast<int>(result.history.size()), watch.seconds(), result.first_solve_seconds,
          result.end == RoundsEnd::kConverged};
}

}  // namespace bagwise::bench
