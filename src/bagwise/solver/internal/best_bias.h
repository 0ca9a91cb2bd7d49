// The biases that minimise the loss of given residuals: exact, by the kinks of each task's loss.
#pragma once

#include <vector>

#include "bagwise/solver/tube_problem.h"

namespace bagwise::internal {

// Where the loss of a row is without its task's bias: z_i = w_t . a_i and g_t = u_t . w_t.
struct Unbiased {
  Vector z;
  std::vector<double> along;
};

// One bias per task. The loss is convex and piecewise linear in it; where an interval is best, its middle.
// With many rows only the kinks near the best one are sorted: a sample tells where that is.
std::vector<double> best_biases(const TubeProblem& problem, const Unbiased& rows, unsigned threads);

}  // namespace bagwise::internal
