// LIBSVM's epsilon-SVR on the precomputed kernel of the bag means.
#include "support/libsvm.h"

#include "tube_regression/task.h"

namespace bagwise::bench {

Answer solve_libsvm(const TubeProblem& problem, double tolerance) {
  const auto means = std::get<DenseView>(problem.rows).matrix();
  const SvmAnswer svm =
      train_svm(means * means.transpose(), problem.target, problem.cost_above[0], problem.tube[0], tolerance);
  return {means.transpose() * svm.beta, svm.bias, svm.seconds};
}

}  // namespace bagwise::bench
