// LIBLINEAR's dual coordinate descent for the L1-loss SVR, bias value 1.
#include <linear.h>

#include "bagwise/core/timing.h"
#include "tube_regression/task.h"

namespace bagwise::bench {

Answer solve_liblinear(const TubeProblem& problem, double tolerance) {
  const std::size_t n = problem.size();
  const auto d = static_cast<int>(problem.features());
  std::vector<std::vector<feature_node>> nodes(n);
  std::vector<feature_node*> pointers;
  for (std::size_t i = 0; i < n; ++i) {
    if (const auto* dense = std::get_if<DenseView>(&problem.rows)) {
      for (int j = 0; j < d; ++j) {
        const double value = dense->row(i)[static_cast<std::size_t>(j)];
        if (value != 0) nodes[i].push_back({j + 1, value});
      }
    } else {
      const auto& sparse = std::get<CsrView>(problem.rows);
      const auto end = static_cast<std::size_t>(sparse.start[i + 1]);
      for (auto k = static_cast<std::size_t>(sparse.start[i]); k < end; ++k)
        nodes[i].push_back({sparse.index[k] + 1, sparse.values[k]});
    }
    nodes[i].push_back({d + 1, 1.0});
    nodes[i].push_back({-1, 0});
    pointers.push_back(nodes[i].data());
  }
  std::vector<double> y = problem.target;
  ::problem data{static_cast<int>(n), d + 1, y.data(), pointers.data(), 1.0};
  parameter options{};
  options.solver_type = L2R_L1LOSS_SVR_DUAL;
  options.C = problem.cost_above[0];
  options.p = problem.tube[0];
  options.eps = tolerance;
  set_print_string_function([](const char*) {});

  const Stopwatch watch;
  const double cpu = cpu_seconds();
  model* trained = train(&data, &options);
  Answer answer;
  answer.weights = Eigen::Map<const Vector>(trained->w, d);
  answer.bias = trained->w[d];
  answer.seconds = watch.seconds();
  answer.cpu_seconds = cpu_seconds() - cpu;
  free_and_destroy_model(&trained);
  return answer;
}

}  // namespace bagwise::bench
