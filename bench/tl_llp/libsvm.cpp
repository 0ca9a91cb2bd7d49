// LIBSVM's epsilon-SVR on the precomputed kernel of both tasks; one bias for both.
#include <libsvm/svm.h>

#include "bagwise/core/timing.h"
#include "tl_llp/task.h"

namespace bagwise::bench {

Answer solve_libsvm(const TubeProblem& problem, double tolerance) {
  const auto means = std::get<DenseView>(problem.rows).matrix();
  const auto n = static_cast<int>(problem.size());
  const RowMatrix gram = means * means.transpose();
  const auto task = [&](int i) { return problem.task[static_cast<std::size_t>(i)]; };
  std::vector<std::vector<svm_node>> rows(problem.size());
  std::vector<svm_node*> pointers;
  for (int i = 0; i < n; ++i) {
    auto& row = rows[static_cast<std::size_t>(i)];
    row.push_back({0, static_cast<double>(i + 1)});
    for (int j = 0; j < n; ++j) {
      const double own = task(i) == task(j) ? 1 / problem.lambda[task(i)] : 0;
      row.push_back({j + 1, (1 + own) * gram(i, j)});
    }
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
  Answer answer;
  answer.seconds = watch.seconds();
  TubePlanes& planes = answer.planes;
  planes.shared = Vector::Zero(means.cols());
  planes.own.assign(problem.tasks(), planes.shared);
  planes.bias.assign(problem.tasks(), -model->rho[0]);
  for (int k = 0; k < model->l; ++k) {
    const int i = static_cast<int>(model->SV[k][0].value) - 1;
    const Vector pull = model->sv_coef[0][k] * means.row(i).transpose();
    planes.shared += pull;
    planes.own[task(i)] += pull / problem.lambda[task(i)];
  }
  svm_free_and_destroy_model(&model);
  return answer;
}

}  // namespace bagwise::bench
