#include <cstdlib>

#include "bagwise/core/timing.h"
#include "mean_map/task.h"

namespace bagwise::bench {

Answer fit_ours(const Task& task, double lambda) {
  const TrainingTask target{"target", task.reduced, &task.data};
  const Stopwatch watch;
  const auto fit = fit_mean_map(target, {.lambda = lambda}, {});
  if (!fit) std::abort();
  Answer out;
  out.seconds = watch.seconds();
  const TaskModel& plane = fit->model.tasks[0];
  const auto d = static_cast<Eigen::Index>(plane.weights.size());
  out.weights.resize(d + 1);
  out.weights << Eigen::Map<const Vector>(plane.weights.data(), d), plane.bias;
  return out;
}

Answer solve_ours(const LogCoshProblem& problem, unsigned threads) {
  const Stopwatch watch;
  const LogCoshSolution s = solve_log_cosh(problem, {.threads = threads});
  return {s.weights, watch.seconds(), s.report.iterations, s.passes};
}

}  // namespace bagwise::bench
