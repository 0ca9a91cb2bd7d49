// Support vector machines over fixed rows, solved again and again while labels and cost change.
//
//   min over w, b of  1/2 |w|^2 + C sum_j max(0, 1 - y_j f_j),   f_j = w.x_j + b
//   dual, with beta_j = y_j alpha_j:  max  sum_j y_j beta_j - 1/2 |sum_j beta_j x_j|^2
//                                     s.t. 0 <= y_j beta_j <= C,  sum_j beta_j = 0
//
// That is tube_problem.h's problem with one-sided rows of tube 0 at the targets y_j. Each solve starts from
// the last: rows whose label changed start at beta = 0, all others where they were, in proportion to C.
//
// Given   rows (linear) or a cache of kernel columns, labels, C, a relative gap.
// Returns beta, bias, values and a report whose primal and dual are recomputed from beta and the bias alone.
// Test    svm_test.cpp evaluates both formulas by plain loops.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bagwise/core/observer.h"
#include "bagwise/linalg/kernel_cache.h"
#include "bagwise/solver/solve_report.h"

namespace bagwise {

struct SvmSolution {
  std::vector<double> beta;    // empty: nothing was solved yet
  Vector weights;              // w; empty with a kernel, where w = sum_j beta_j phi(x_j)
  double squared_norm = 0;     // |w|^2
  double bias = 0;             // b
  std::vector<double> values;  // f_j
  double cost = 0;             // C
  SolveReport report;
};

class Svm {
 public:
  virtual ~Svm() = default;
  // Labels are -1 or +1, one per row; cost > 0. What is returned is kept until the next solve, which starts
  // from it.
  virtual const SvmSolution& solve(std::span<const std::int8_t> labels, double cost, double gap,
                                   const Observer& observer) = 0;
  // The next solve starts from this one of the same rows (empty: from nothing) instead of its own last.
  virtual void start_from(const SvmSolution& solution) = 0;
};

// Never holds rows x rows numbers. The rows must outlive it.
std::unique_ptr<Svm> make_linear_svm(const RowsView& rows, unsigned threads);

// Pairs of multipliers at a time on columns from the cache, which several machines may share.
std::unique_ptr<Svm> make_kernel_svm(std::shared_ptr<KernelCache> cache);

}  // namespace bagwise
