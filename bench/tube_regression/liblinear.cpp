// LIBLINEAR's dual coordinate descent for the L1-loss SVR, bias value 1.
#include <linear.h>

#include "bagwise/core/timing.h"
#include "tube_regression/task.h"

namespace bagwise::bench {

Answer solve_liblinear(const TubeProblem& problem, double tolerance) {
  const auto rows = std::get<DenseView>(problem.rows);
  const auto d = static_cast<int>(rows.columns);
  std::vector<std::vector<feature_node>> nodes(rows.rows);
  std::vector<feature_node*> pointers;
  for (std::size_t i = 0; i < rows.rows; ++i) {
    for (int j = 0; j < d; ++j) {
      const double value = rows.row(i)[static_cast<std::size_t>(j)];
      if (value != 0) nodes[i].push_back({j + 1, value});
    }
    nodes[i].push_back({d + 1, 1.0});
    nodes[i].push_back({-1, 0});
    pointers.push_back(nodes[i].data());
  }
  std::vector<double> y = problem.target;
  ::problem data{static_cast<int>(rows.rows), d + 1, y.data(), pointers.data(), 1.0};
  parameter options{};
  options.solver_type = L2R_L1LOSS_SVR_DUAL;
  options.C = problem.cost_above[0];
  options.p = problem.tube[0];
  options.eps = tolerance;
  set_print_string_function([](const char*) {});

  const Stopwatch watch;
  model* trained = train(&data, &options);
  Answer answer{Eigen::Map<const Vector>(trained->w, d), trained->w[d], watch.seconds()};
  free_and_destroy_model(&trained);
  return answer;
}

}  // namespace bagwise::bench
