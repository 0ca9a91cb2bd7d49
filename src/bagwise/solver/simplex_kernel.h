// A support vector machine without bias whose kernel is a convex combination of several labelings' kernels.
//
//   dual    max over 0 <= alpha_j <= C of  sum_j alpha_j - 1/2 max_s |w_s|^2,   w_s = sum_j alpha_j y_sj x_j
//   primal  min over mu and u of  1/2 sum_s |u_s|^2/mu_s + C sum_j max(0, 1 - f_j),  f_j = sum_s y_sj u_s.x_j
//           s.t. mu_s >= 0, sum_s mu_s = 1
//
// For one labeling it is the SVM of its labels; for several it is the least value of an SVM with the kernel
// x_i.x_j sum_s mu_s y_si y_sj over all mu, so more labelings never raise it. At the solution u_s = mu_s w_s.
//
// Given   rows, labelings of them, C.
// Returns alpha, mu and a report whose primal and dual are recomputed from alpha, mu and the rows alone
//         (with u_s = stretch mu_s w_s, the stretch that costs least: at most the value C n of no plane).
// See     docs/methods/conv-psvm.md; Lanckriet et al. (2004), JMLR 5, for kernels in a simplex.
// Test    simplex_kernel_test.cpp evaluates both formulas by plain loops.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bagwise/core/observer.h"
#include "bagwise/linalg/rows.h"
#include "bagwise/solver/solve_report.h"

namespace bagwise {

struct SimplexKernelProblem {
  RowsView rows;                                     // x_j
  std::span<const std::vector<std::int8_t>> labels;  // y_s: -1 or +1, one per row; at least one labeling
  double cost = 1;                                   // C
};

struct SimplexKernelOptions {
  double gap_tolerance = 1e-6;  // stop when primal - dual <= gap_tolerance * |primal|
  int max_iterations = 500;     // Newton steps
  unsigned threads = 0;         // 0: one per core; never changes the answer
};

struct SimplexKernelSolution {
  std::vector<double> alpha;  // one per row, in [0, C]
  std::vector<double> mu;     // one per labeling, at least 0, of sum 1
  RowMatrix planes;           // w_s, one row per labeling
  double stretch = 1;         // u_s = stretch mu_s w_s; 1 at the solution
  SolveReport report;
};

// Solves the problem, from `start` if given: a solution for the same rows and the first of the labelings.
// The problem must be well formed: sizes agree, everything finite (assertions, not errors).
// Memory: at most min(rows, labelings x features)^2 numbers beside the rows.
SimplexKernelSolution solve_simplex_kernel(const SimplexKernelProblem& problem,
                                           const SimplexKernelOptions& options = {},
                                           const SimplexKernelSolution* start = nullptr,
                                           const Observer& observer = {});

}  // namespace bagwise
