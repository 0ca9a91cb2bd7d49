// The linear system of every Newton step, whichever algorithm asks: weights on sides, solved by the cheaper
// road.
//
//   R'' step + sum_j reaction_j side_j = -gradient      over x = (w_0, v_1..v_T, b_1..b_T)
//   reaction_j = D_j (side_j . step + offset_j)
//
// R'' is 1 on w_0, lambda_t on v_t and bias_weight_t on b_t; D_j >= 0 are the sides' weights.
// Road 1 (few sides): the Woodbury identity, one m x m Cholesky factor for m sides of positive weight. The
// inner products of all rows are kept from step to step. Road 2 (few features): per task one (d+1) x (d+1)
// factor, then one d x d factor for w_0 by block elimination, so the effort grows linearly with the number of
// tasks. Road 3 (many sparse features, semismooth steps only): conjugate gradients, see sparse_newton.h.
#pragma once

#include <vector>

#include "bagwise/linalg/blas.h"
#include "bagwise/solver/internal/sparse_newton.h"
#include "bagwise/solver/internal/tube_rows.h"

namespace bagwise::internal {

class NewtonSystem {
 public:
  enum class Road { kAutomatic, kRows, kFeatures, kSparse };  // kAutomatic: one of the next two

  explicit NewtonSystem(const TubeRows& rows, Road road = Road::kAutomatic);

  // Factors the system for these weights (of the 2 n sides, see side_products.h); false if it is numerically
  // singular.
  [[nodiscard]] bool factor(const Eigen::ArrayXd& weight, const Eigen::ArrayXd& bias_weight);

  struct Step {
    TubePlanes x;
    Eigen::ArrayXd products;  // side_j . x
    Eigen::ArrayXd reaction;
  };
  // The step for this gradient and these offsets.
  // Road 1 finds the reactions without cancellation, however large D is.
  [[nodiscard]] Step solve(const TubePlanes& gradient, const Eigen::ArrayXd& offset) const;
  // The same without offsets; no reactions are returned. Road 3 has this one alone, and is not exact.
  [[nodiscard]] Step solve(const TubePlanes& gradient) const;

 private:
  [[nodiscard]] bool rows_are_cheaper() const;
  [[nodiscard]] bool factor_rows();
  [[nodiscard]] bool factor_features();
  struct RowStep {
    TubePlanes x;
    Vector reaction;  // of sides_
  };
  [[nodiscard]] RowStep solve_rows(const TubePlanes& gradient, const Eigen::ArrayXd* offset) const;
  [[nodiscard]] Eigen::ArrayXd side_reactions(const RowStep& step, const Eigen::ArrayXd& offset) const;
  [[nodiscard]] TubePlanes solve_features(const TubePlanes& gradient) const;
  [[nodiscard]] std::vector<ColMatrix> task_grams() const;

  const TubeRows& rows_;
  Road road_;
  std::vector<double> kernel_scale_;  // per task
  bool by_rows_ = false;
  Eigen::ArrayXd weight_;
  Eigen::ArrayXd bias_weight_;  // per task
  // Of positive weight: one for both sides of a row; on road 1 also what that leaves out, a multiple of u_t
  // per task (sign 0).
  std::vector<Side> sides_;
  std::vector<double> rest_;  // per task, the weight of u_t u_t'

  [[nodiscard]] bool rows_can_be_kept() const;
  void keep_products();
  [[nodiscard]] ColMatrix side_gram() const;  // lower triangle

  // Road 1.
  std::vector<double> gathered_;  // sides as dense rows
  ColMatrix row_products_;        // of all rows with each other, once there are to be many steps
  ColMatrix along_, directions_;  // of all rows, and of the tasks' directions, with these directions
  Cholesky kernel_;               // K + 1/D
  ColMatrix bias_columns_;        // (K + 1/D)^-1 E
  Cholesky bias_;                 // bias_weight + E' (K + 1/D)^-1 E

  // Road 2.
  std::vector<ColMatrix> gram_;  // per task N_t = sum D (side, sign)(side, sign)', full
  std::vector<Cholesky> own_;  // per task: N_t + diag(lambda_t, bias_weight); for lambda = infinity b_t alone
  Cholesky shared_;

  SparseNewton sparse_;  // road 3
};

}  // namespace bagwise::internal
