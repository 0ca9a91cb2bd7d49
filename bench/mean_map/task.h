// The job: MeanMap's convex problem on rows of the built-in documents and Gaussians in bags.
//
// task.h owns the data, the result and what counts as the same answer; each competitor has a file of its own.
#pragma once

#include "bagwise/data/generate.h"
#include "bagwise/methods/mean_map/mean_map.h"
#include "bagwise/solver/log_cosh.h"
#include "support/best_of.h"

namespace bagwise::bench {

struct Task {
  BaggedData data;
  ReducedBags reduced;
  Vector linear;    // N mu
  DenseRows dense;  // the rows written out, for those who want them so

  [[nodiscard]] LogCoshProblem problem(double lambda) const { return {data.features.view(), linear, lambda}; }
};

// `rows` instances of 200 features dealt into bags of `bag_size`; documents are sparse.
Task make_task(GeneratorKind kind, std::size_t rows, std::size_t bag_size);

struct Answer {
  Vector weights;  // the constant's last
  double seconds = 0;
  int steps = 0;
  double passes = 0;
};

// The stated objective at an answer, by plain loops in long double.
double objective(const Task& task, double lambda, const Vector& weights);

// The whole fit, class means and model included, to a relative gradient norm of 1e-8.
Answer fit_ours(const Task& task, double lambda);
// The convex problem alone.
Answer solve_ours(const LogCoshProblem& problem, unsigned threads = 0);
// Newton's method on dense rows, each step by Eigen's Cholesky factor of the whole Hessian.
Answer solve_newton(const Task& task, double lambda);
// L-BFGS on dense rows, ten pairs.
Answer solve_lbfgs(const Task& task, double lambda);

}  // namespace bagwise::bench
