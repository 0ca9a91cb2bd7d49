// Step 2 of TL-LLP with kernels: moving uncertain rows while the functions stay as they are.
//
// With f_t(x) = sum_i c_ti k(z_i, x) fixed, bag k of a task has the residual and the slack
//
//   r_k = mean_{j in B_k} f(x_j + dx_j) + b - y_k,        slack_k = max(0, |r_k| - eps_k),      |dx_j| <=
//   delta_j
//
// exact     a bag with slack moves by one theta in [0, 1]:  dx_j = -sign(r_k(0)) theta delta_j
// u(x_j)/|u(x_j)|,
//           u the gradient of f at the observed row. theta brings r_k as near to 0 as a search finds (the
//           centre of the tube: a bag parked on its edge would never move again), and is kept only if the
//           bag's slack is less than where it stands now. So no bag's slack rises.
// literal   Lemma 3 as printed, row by row: dx_j = -delta_j u/|u| if f(x_j) + b - y_k > eps_k, +delta_j u/|u|
// if it
//           is < -eps_k, else 0; u and f at the observed row.
//
// A row where the gradient is 0 stays where it was observed.
// Test      kernel_shifts_test.cpp recomputes residuals and shifts by plain loops.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"
#include "bagwise/linalg/kernel_function.h"

namespace bagwise {

// The function f of one task, over the rows it expands in as they are now.
struct KernelSum {
  KernelFunction kernel;
  RowsView rows;                    // z_i
  std::span<const double> weights;  // c_ti
  double bias = 0;
  const Observer* observer = nullptr;  // may end long passes early: what they give is then not to be used
};

// What is known of one task's rows and bags.
struct UncertainRows {
  RowsView observed;  // x_j, as scaled
  std::span<const std::uint32_t> bag_of_row;
  std::span<const double> bounds;  // delta_j, in the units of the rows before their features were scaled
  std::span<const double> target;  // y_k
  std::span<const double> tube;    // eps_k
  // By what each feature was multiplied (S); empty: 1. A row moves along S S u / |S u|, the steepest way of
  // its length before scaling; that is u/|u| without.
  std::span<const double> stretch = {};
};

// Where the rows of one task are.
struct MovedRows {
  DenseRows rows;                // x_j + dx_j
  std::vector<double> theta;     // per bag: how far it moved, as a share of its bounds (literal: of its rows)
  std::vector<double> residual;  // per bag: r_k there, by the last f it was moved with; empty before
  std::size_t bags_moved = 0;    // by the last step
};

// Rows as they were observed. Error: more than kMostMovedValues values, which a sparse table would need when
// its rows move.
inline constexpr std::size_t kMostMovedValues = std::size_t{1} << 29;  // 4 GB
Result<MovedRows> unmoved_rows(const UncertainRows& data);

// The residual of every bag at the given rows of the task; 0 for a bag without rows.
std::vector<double> bag_residuals(const KernelSum& f, const UncertainRows& data, const RowsView& rows,
                                  unsigned threads = 0);

// Both give the same bits whatever the number of threads. `f` must not expand in present.rows itself, which
// moves: a copy, or the rows of all tasks gathered into one table.
MovedRows move_exact(const KernelSum& f, const UncertainRows& data, MovedRows present, unsigned threads = 0);
MovedRows move_literal(const KernelSum& f, const UncertainRows& data, MovedRows present,
                       unsigned threads = 0);

}  // namespace bagwise
