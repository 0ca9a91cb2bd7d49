#include "bagwise/solver/kernel_tube.h"
#include <Eigen/Eigenvalues>
#include "bagwise/solver/tube_regression.h"
namespace bagwise {
KernelTubeSolution solve_kernel_tube(const KernelTubeProblem& p, const KernelTubeOptions& o,
                                     const KernelTubeSolution*, const Observer& observer) {
  Eigen::SelfAdjointEigenSolver<ColMatrix> eig(p.kernel);
  RowMatrix l = eig.eigenvectors() * eig.eigenvalues().cwiseMax(0).cwiseSqrt().asDiagonal();
  TubeProblem q;
  static_cast<TubeTerms&>(q) = p;
  q.rows = DenseView{l.data(), static_cast<std::size_t>(l.rows()), static_cast<std::size_t>(l.cols())};
  const TubeSolution s =
      solve_tube_regression(q, {.gap_tolerance = o.gap_tolerance, .threads = o.threads}, nullptr, observer);
  KernelTubeSolution out;
  out.report = s.report;
  out.bias = s.planes.bias;
  for (std::size_t i = 0; i < p.size(); ++i) {
    out.beta.push_back(s.multipliers.below[i] - s.multipliers.above[i]);
  }
  for (std::size_t i = 0; i < p.size(); ++i) {
    double f = s.planes.bias[p.task_of(i)];
    for (std::size_t j = 0; j < p.size(); ++j)
      f += p.kernel(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) * out.beta[j] *
           (1 + (p.task_of(i) == p.task_of(j) ? 1 / p.lambda[p.task_of(i)] : 0));
    out.values.push_back(f);
  }
  return out;
}
}  // namespace bagwise
