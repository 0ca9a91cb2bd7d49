// LIBSVM's epsilon-SVR on the precomputed kernel of the bag means.
#include <libsvm/svm.h>

#include "bagwise/core/timing.h"
#include "tube_regression/task.h"

namespace bagwise::bench {

Answer solve_libsvm(const TubeProblem& problem, double tolerance) {
  const auto means = std::get<DenseView>(problem.rows).matrix();
  const auto n = static_cast<int>(problem.size());
  const RowMatrix kernel = means * means.transpose();
  std::vector<std::vector<svm_node>> rows(problem.size());
  std::vector<svm_node*> pointers;
  for (int i = 0; i < n; ++i) {
    auto& row = rows[static_cast<std::size_t>(i)];
    row.push_back({0, static_cast<double>(i + 1)});
    for (int j = 0; j < n; ++j) row.push_back({j + 1, kernel(i, j)});
    row.push_back({-1, 0});
    pointers.push_back(row.data());
  }
  std::vector<double> y = problem.target;
  svm_problem data{n, y.data(), pointers.data()};
  svm_parameter parameter{};
  parameter.svm_type = EPSILON_SVR;
  parameter.kernel_type = PRECOMPUTED;
  parameter.C = problem.cost_above[0];
  parameter.p = problem.tube[0];
  parameter.eps = tolerance;
  parameter.cache_size = 1000;
  parameter.shrinking = 1;
  svm_set_print_string_function([](const char*) {});

  const Stopwatch watch;
  svm_model* model = svm_train(&data, &parameter);
  Answer answer{Vector::Zero(means.cols()), -model->rho[0], watch.seconds()};
  for (int k = 0; k < model->l; ++k) {
    answer.weights +=
        model->sv_coef[0][k] * means.row(static_cast<int>(model->SV[k][0].value) - 1).transpose();
  }
  svm_free_and_destroy_model(&model);
  return answer;
}

}  // namespace bagwise::bench
