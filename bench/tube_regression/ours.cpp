#include "bagwise/core/timing.h"
#include "tube_regression/task.h"

namespace bagwise::bench {

Answer solve_ours(const TubeProblem& problem, double gap, TubeAlgorithm algorithm, unsigned threads) {
  const Stopwatch watch;
  const double cpu = cpu_seconds();
  const TubeSolution s =
      solve_tube_regression(problem, {.gap_tolerance = gap, .algorithm = algorithm, .threads = threads});
  return {s.planes.weights(0), s.planes.bias[0], watch.seconds(), cpu_seconds() - cpu,
          s.report.relative_gap()};
}

}  // namespace bagwise::bench
