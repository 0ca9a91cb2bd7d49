// The job: TL-LLP's joint regression of a source and a target task on bag means.
//
// task.h owns the data, the result and what counts as the same answer; each competitor has a file of its own.
#pragma once

#include <functional>
#include <vector>

#include "bagwise/data/generate.h"
#include "bagwise/solver/tube_regression.h"
#include "support/best_of.h"

namespace bagwise::bench {

struct Task {
  DenseRows means;
  TubeProblem problem;  // rows point into means; source is task 0, target task 1
};

// 2,000 source and 640 target instances of 200 features (preset related), dealt into bags of `bag_size`; C =
// 32 in both tasks, lambda 10 and 1, tube 0.1.
void make_task(GeneratorKind kind, std::size_t bag_size, Task& task);

// `bags` bag means of 100 features made directly, source and target 3 to 1: normal features, a plane per task
// plus noise, targets the logits of shares of 32; C 0.25 and 1, lambda 10 and 1, tube 0.1.
void make_large_task(std::size_t bags, Task& task);

struct Answer {
  TubePlanes planes;
  double seconds = 0;
  double relative_gap = 0;  // ours only
};

// The stated objective at an answer, by plain loops.
double objective(const TubeProblem& problem, const TubePlanes& planes);
// The least objective with one bias for all tasks, which is LIBSVM's problem.
double one_bias_optimum(const TubeProblem& problem);

Answer solve_ours(const TubeProblem& problem, double gap);
// LIBSVM's epsilon-SVR on the kernel (1 + [t = s]/lambda_t) a_i.a_j; its time without making the kernel.
Answer solve_libsvm(const TubeProblem& problem, double tolerance);

// TL-LLP's rounds: each starts from the last, shifted by 0.01 along its planes.
struct Rounds {
  int count = 0;
  double seconds = 0;        // of all of them
  double first_seconds = 0;  // of the first solve
  bool certified = true;     // they converged, the last solve to its gap
};
Rounds run_rounds(const TubeProblem& problem, double gap);

// Tables of scaling.cpp; `csv` names a file for the figures, or is empty.
void scaling_with_bags(const char* csv);
void scaling_with_instances();

}  // namespace bagwise::bench
