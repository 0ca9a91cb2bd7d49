// Tube regression where the rows are known by their inner products alone: the dense-kernel form.
//
//   min  1/2 sum_{i,j} beta_i beta_j (1 + [t(i) = t(j)]/lambda_t) K_ij - sum_i y_i beta_i + sum_i eps_i
//   |beta_i| s.t. -above_i <= beta_i <= below_i,  sum_{i in t} beta_i = 0 for every task t
//
// the dual of tube_problem.h's problem without shifts, with K_ij = a_i . a_j. At its solution row i has the
// value f_i = sum_j (1 + [t(i) = t(j)]/lambda_t) K_ij beta_j + b_t(i).
//
// Given   a symmetric positive semidefinite K and the terms of each row.
// Returns beta, biases, values and a report whose primal and dual are recomputed from beta, the biases and K
//         alone.
// See     docs/design/solver.md for which algorithm is taken when.
// Test    kernel_tube_test.cpp evaluates both formulas by plain loops.
#pragma once

#include <vector>

#include "bagwise/core/observer.h"
#include "bagwise/solver/solve_report.h"
#include "bagwise/solver/tube_problem.h"

namespace bagwise {

struct KernelTubeProblem : TubeTerms {
  ColMatrix kernel;  // K, both triangles
};

// The one tried first: where it does not reach the gap the other goes on from there.
enum class KernelTubeAlgorithm {
  kAutomatic,
  kFactored,  // K = L L', then the algorithms of tube_regression.h on the rows of L
  kSmo,       // pairs of multipliers of one task at a time, in double precision
};

struct KernelTubeOptions {
  double gap_tolerance = 1e-6;  // stop when primal - dual <= gap_tolerance * |primal|
  KernelTubeAlgorithm algorithm = KernelTubeAlgorithm::kAutomatic;
  unsigned threads = 0;  // 0: one per core; never changes the answer
};

struct KernelTubeSolution {
  std::vector<double> beta;    // p_i - q_i: in its box, balanced in every task
  std::vector<double> bias;    // b_t
  std::vector<double> values;  // f_i
  SolveReport report;
};

// Solves the problem, from `start` if given (a solution of a problem of the same shape).
// The problem must be well formed: sizes agree, everything finite (assertions, not errors).
KernelTubeSolution solve_kernel_tube(const KernelTubeProblem& problem, const KernelTubeOptions& options = {},
                                     const KernelTubeSolution* start = nullptr,
                                     const Observer& observer = {});

}  // namespace bagwise
