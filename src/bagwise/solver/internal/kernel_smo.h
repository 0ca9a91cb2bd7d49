// Sequential minimal optimisation of the dense-kernel form: two multipliers of one task at a time.
//
//   min  1/2 beta' Q beta - y.beta + sum_i eps_i |beta_i|,  -above_i <= beta_i <= below_i,  sum_{i in t}
//   beta_i = 0
//
// With G = Q beta - y, raising beta_i changes the objective by up_i = G_i +- eps_i per unit, lowering it
// gains down_i = G_i +- eps_i; a pair (i, j) of one task with down_j > up_i can be improved. i has the least
// up_i, j the largest guaranteed gain (down_j - up_i)^2 / (Q_ii + Q_jj - 2 Q_ij); the step is exact, kinks at
// 0 included.
//
// See     Fan, Chen, Lin (2005), Working set selection using second order information, JMLR 6.
// Test    kernel_tube_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "bagwise/solver/tube_problem.h"

namespace bagwise::internal {

// The symmetric matrix Q by its columns.
class KernelColumns {
 public:
  virtual ~KernelColumns() = default;
  [[nodiscard]] virtual std::span<const double> diagonal() const = 0;
  // Stays valid while one more column is asked for, and no longer.
  virtual const double* column(std::size_t i) = 0;
};

// Q held whole.
class DenseColumns final : public KernelColumns {
 public:
  explicit DenseColumns(const ColMatrix& q);
  [[nodiscard]] std::span<const double> diagonal() const override { return diagonal_; }
  const double* column(std::size_t i) override { return q_.col(static_cast<Eigen::Index>(i)).data(); }

 private:
  const ColMatrix& q_;
  std::vector<double> diagonal_;
};

// Q beta, from the columns whose beta is not 0.
Vector multiply(KernelColumns& q, std::span<const double> beta);

struct SmoState {
  std::vector<double> beta;
  Vector gradient;  // Q beta - y
  std::int64_t steps = 0;
};

// Goes on until no pair can be improved by more than rounding, `enough` says so (asked every few steps), or
// `limit` steps are made.
void run_smo(const TubeTerms& p, KernelColumns& q, std::int64_t limit,
             const std::function<bool(const SmoState&)>& enough, SmoState& s);

}  // namespace bagwise::internal
