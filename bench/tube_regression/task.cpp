#include "tube_regression/task.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>

#include "bagwise/methods/inv_cal/inv_cal.h"
#include "support/generated_bags.h"

namespace bagwise::bench {

void make_task(GeneratorKind kind, std::size_t rows, std::size_t bag_size, Task& task) {
  GeneratorOptions options;
  options.kind = kind;
  options.source_rows = rows;
  options.target_rows = options.test_rows = 2;
  Rng rng(1);
  const ReducedBags reduced = reduce(in_bags(generated(options).source, bag_size, rng));
  task.kind = kind;
  task.bag_size = bag_size;
  task.means = reduced.sums.means();
  task.problem = inverse_calibration_problem(reduced, task.means.view(), {});
}

void set_cost(Task& task, double cost) {
  task.problem.cost_above.assign(task.problem.size(), cost);
  task.problem.cost_below = task.problem.cost_above;
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double objective(const TubeProblem& problem, const Answer& answer) {
  double sum = answer.weights.squaredNorm() / 2;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    double f = answer.bias;
    if (const auto* dense = std::get_if<DenseView>(&problem.rows)) {
      for (std::size_t j = 0; j < dense->columns; ++j)
        f += dense->row(i)[j] * answer.weights[static_cast<Eigen::Index>(j)];
    } else {
      const auto& sparse = std::get<CsrView>(problem.rows);
      const auto end = static_cast<std::size_t>(sparse.start[i + 1]);
      for (auto k = static_cast<std::size_t>(sparse.start[i]); k < end; ++k)
        f += sparse.values[k] * answer.weights[sparse.index[k]];
    }
    sum += problem.cost_above[i] * std::max(0.0, std::abs(f - problem.target[i]) - problem.tube[i]);
  }
  return sum;
}

double objective_with_bias(const TubeProblem& problem, const Answer& answer) {
  return objective(problem, answer) + answer.bias * answer.bias / 2;
}

}  // namespace bagwise::bench
