// Smooth classification of rows whose labels are known only by their sum with the rows: the log-cosh problem.
//
//   min over w of  F(w) = sum_j log(exp(w.x_j) + exp(-w.x_j)) - c.w + lambda/2 |w|^2
//
// x_j has a constant 1 as its last entry, so the last weight is the bias, regularised like the rest. With
// c = sum_j y_j x_j for labels y_j = +-1 it is logistic regression with w halved. F is strongly convex:
//
//   F(w) - |F'(w)|^2 / (2 lambda)  <=  min F  <=  F(w)
//
// Given   rows dense or sparse, c, lambda.
// Returns w with both bounds, recomputed at w.
// See     Nash (2000), A survey of truncated-Newton methods; Nocedal, Wright (2006), section 7.1.
// Test    log_cosh_test.cpp has a Newton method in long double of its own.
#pragma once

#include <span>

#include "bagwise/core/observer.h"
#include "bagwise/linalg/rows.h"
#include "bagwise/solver/solve_report.h"

namespace bagwise {

// With shift and factor (both or neither) the rows of the problem are (row - shift) * factor, column by
// column; they are never written out, so sparse rows stay sparse.
struct LogCoshProblem {
  RowsView rows;
  Vector linear;  // c: one per column, and that of the constant
  double lambda = 1;
  std::span<const double> shift = {}, factor = {};
};

enum class LogCoshSteps {
  kAutomatic,  // conjugate gradients, and Cholesky factors where these pay
  kGradients,  // conjugate gradients alone: no matrix
  kFactors,    // a new factor for every step
};

struct LogCoshOptions {
  // Converged when |F'(w)| <= tolerance * |F'(0)|, where F'(0) = -c. Steps go on as long as they can until
  // also gap <= tolerance * |primal|, which rounding may prevent where columns are far from 0 for their
  // spread.
  double tolerance = 1e-8;
  int max_iterations = 200;  // Newton steps
  LogCoshSteps steps = LogCoshSteps::kAutomatic;
  unsigned threads = 0;  // 0: one per core; never changes the answer
};

struct LogCoshSolution {
  Vector weights;                // one per column, and the bias
  double relative_gradient = 0;  // |F'(w)| / |F'(0)|
  double passes = 0;             // over the rows; of those over some of the rows, the share
  SolveReport report;
};

// The problem must be well formed: sizes agree, lambda > 0, everything finite (assertions, not errors).
LogCoshSolution solve_log_cosh(const LogCoshProblem& problem, const LogCoshOptions& options = {},
                               const Observer& observer = {});

}  // namespace bagwise
