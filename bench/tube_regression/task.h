// The job: InvCal's regression on bag means of the built-in documents and Gaussians, one task, one free bias.
//
// task.h owns the data, the result and what counts as the same answer; each competitor has a file of its own.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bagwise/data/generate.h"
#include "bagwise/solver/tube_regression.h"
#include "support/best_of.h"

namespace bagwise::bench {

struct Task {
  GeneratorKind kind = GeneratorKind::kGaussian;
  std::size_t bag_size = 1;
  DenseRows means;
  TubeProblem problem;  // rows point into means
};

// `rows` instances dealt into bags of `bag_size`; tube 0.1.
void make_task(GeneratorKind kind, std::size_t rows, std::size_t bag_size, Task& task);
void set_cost(Task& task, double cost);

struct Answer {
  Vector weights;
  double bias = 0;
  double seconds = 0;
  double cpu_seconds = 0;  // of all threads; for comparisons on a machine that does other work too
  double gap = 1;          // relative, certified; ours alone
};
double cpu_seconds();  // of this process so far

// The stated objective at an answer, by plain loops.
double objective(const TubeProblem& problem, const Answer& answer);
// The objective of LIBLINEAR's problem, which also regularises the bias: + 1/2 b^2.
double objective_with_bias(const TubeProblem& problem, const Answer& answer);

Answer solve_ours(const TubeProblem& problem, double gap, TubeAlgorithm algorithm, unsigned threads = 0);
Answer solve_libsvm(const TubeProblem& problem, double tolerance);  // time without making the kernel
Answer solve_liblinear(const TubeProblem& problem, double tolerance);

}  // namespace bagwise::bench
