// The Newton system over many sparse features, solved by conjugate gradients: the third road of
// newton_system.h.
//
// Neither a matrix of all features nor one of all weighted rows is ever made. A product with the system is
// one pass over the weighted rows, copied together; biases are eliminated exactly, so that what is left is
// as if the rows were centred. The preconditioner is, for every feature, the exact inverse of what w_0 and
// the v_t of that feature have with each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bagwise/solver/internal/tube_rows.h"

namespace bagwise::internal {

class SparseNewton {
 public:
  // Takes sides of positive weight (one for both sides of a row, as weighted_rows makes them), the weight of
  // u_t u_t' per task beside them, and bias_weight; false if a bias is held by nothing.
  [[nodiscard]] bool factor(const TubeRows& rows, std::span<const Side> sides, std::span<const double> rest,
                            const Eigen::ArrayXd& bias_weight);

  // The step for this gradient, to a residual of `tolerance` times its length.
  [[nodiscard]] TubePlanes solve(const TubePlanes& gradient, double tolerance) const;

 private:
  using Planes = std::vector<Vector>;  // w_0, then v_t of the tasks that have one

  [[nodiscard]] Planes task_planes(const Planes& x) const;  // w_t
  [[nodiscard]] Planes multiply(const Planes& x) const;     // the system without biases, times x
  [[nodiscard]] Planes precondition(const Planes& r) const;
  void gather(const CsrView& view, std::span<const Side> sides);
  void sum_columns();

  const TubeProblem* problem_ = nullptr;
  unsigned threads_ = 1;
  std::vector<Side> sides_;
  std::vector<std::int64_t> start_;  // the rows of sides_, one after the other
  std::vector<std::int32_t> index_;
  std::vector<double> values_;
  std::size_t parts_ = 1;  // pieces of a pass, fixed by the rows
  mutable std::vector<Planes> sums_;
  std::vector<double> rest_, bias_;  // per task; bias_: the weights of all its sides and bias_weight
  Planes columns_;                   // per task: sum_j D_j side_j
  Planes diagonal_;                  // per task: the diagonal of sum_j D_j side_j side_j', centred
  Vector shared_;                    // the diagonal left for w_0
};

}  // namespace bagwise::internal
