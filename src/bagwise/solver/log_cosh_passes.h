// The log-cosh problem of log_cosh.h over rows that are not in memory: read again for every pass.
//
// A pass gives value, gradient and Hessian at a point, which is what a Newton step needs; with many columns
// it gives products with the Hessian, and steps are found by conjugate gradients. Ranks may share the rows:
// what passes add up is then added up over the ranks, and each makes the same steps.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "bagwise/comm/communicator.h"
#include "bagwise/core/result.h"
#include "bagwise/solver/log_cosh.h"

namespace bagwise {

// Calls work(rows) for every block of rows, on any thread, and fold(what it made) in the order of the blocks.
using RowPass = std::function<Result<void>(const std::function<std::shared_ptr<void>(const RowsView&)>& work,
                                           const std::function<void(std::shared_ptr<void>)>& fold)>;

struct LogCoshPasses {
  RowPass pass;
  Vector linear;  // c: one per column, and that of the constant
  double lambda = 1;
  std::span<const double> shift = {}, factor = {};  // as in LogCoshProblem
  Communicator* comm = nullptr;                     // ranks with other rows of the same problem; null: none
};

// The weights after every step, for a run that is to go on from there: the steps that follow have the same
// bits.
struct LogCoshCourse {
  const Vector* start = nullptr;  // null: 0
  int steps = 0;                  // made before
  std::function<Result<void>(const Vector& weights, int steps)> after_step = {};
};

// Errors are those of passes and of after_step, on every rank the same.
Result<LogCoshSolution> solve_log_cosh_in_passes(const LogCoshPasses& problem,
                                                 const LogCoshOptions& options = {},
                                                 const Observer& observer = {},
                                                 const LogCoshCourse& course = {});

}  // namespace bagwise
