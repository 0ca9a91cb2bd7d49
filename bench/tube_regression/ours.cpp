#include "bagwise/core/timing.h"
#include "tube_regression/task.h"

namespace bagwise::bench {

Answer solve_ours(const TubeProblem& problem, double gap, TubeAlgorithm algorithm) {
  const Stopwatch watch;
  const TubeSolution s = solve_tube_regression(problem, {.gap_tolerance = gap, .algorithm = algorithm});
  return {s.planes.weights(0), s.planes.bias[0], watch.seconds()};
}

}  // namespace bagwise::bench
