// LIBSVM's epsilon-SVR on the precomputed kernel of both tasks; one bias for both.
#include "support/libsvm.h"

#include "tl_llp/task.h"

namespace bagwise::bench {

Answer solve_libsvm(const TubeProblem& problem, double tolerance) {
  const auto means = std::get<DenseView>(problem.rows).matrix();
  RowMatrix kernel = means * means.transpose();
  const auto task = [&](Eigen::Index i) { return problem.task[static_cast<std::size_t>(i)]; };
  for (Eigen::Index i = 0; i < kernel.rows(); ++i) {
    for (Eigen::Index j = 0; j < kernel.cols(); ++j) {
      if (task(i) == task(j)) kernel(i, j) *= 1 + 1 / problem.lambda[task(i)];
    }
  }
  const SvmAnswer svm = train_svm(kernel, problem.target, problem.cost_above[0], problem.tube[0], tolerance);
  Answer answer;
  answer.seconds = svm.seconds;
  answer.planes.shared = means.transpose() * svm.beta;
  answer.planes.own.assign(problem.tasks(), Vector::Zero(means.cols()));
  answer.planes.bias.assign(problem.tasks(), svm.bias);
  for (Eigen::Index i = 0; i < kernel.rows(); ++i)
    answer.planes.own[task(i)] += svm.beta[i] / problem.lambda[task(i)] * means.row(i).transpose();
  return answer;
}

}  // namespace bagwise::bench
