// The linear system of every Newton step on a simplex of kernels, solved by the cheaper of two roads.
//
//   (Q + diag(D)) x = b,    Q_ij = x_i.x_j sum_s mu_s y_si y_sj,    D_j > 0
//
// Road 1 (few rows): Q itself, of which the products x_i.x_j are kept from step to step. Road 2 (few features
// and labelings): Q = E E' with E = (sqrt(mu_s) y_sj x_j)_s, and the Woodbury identity
//   x = D^-1 b - D^-1 E (I + E' D^-1 E)^-1 E' D^-1 b,
// once more on what is left, as D spans many orders of size. So the factor has never more than
// min(rows, labelings x features) rows.
#pragma once

#include "bagwise/linalg/blas.h"
#include "bagwise/solver/internal/labelled_rows.h"

namespace bagwise::internal {

class SimplexSystem {
 public:
  enum class Road { kAutomatic, kRows, kFeatures };

  explicit SimplexSystem(const LabelledRows& rows, Road road = Road::kAutomatic);

  // Whether the second road would be taken for this many rows.
  static bool features_are_cheaper(Eigen::Index rows, Eigen::Index labelings, Eigen::Index features);

  // False if the matrix is not positive definite to working precision.
  [[nodiscard]] bool factor(const Vector& mu, const Vector& diagonal);
  // Each column of b.
  void solve_in_place(ColMatrix& b) const;

 private:
  [[nodiscard]] bool factor_rows();
  [[nodiscard]] bool factor_features();
  [[nodiscard]] Vector solve_features(const Vector& b) const;
  [[nodiscard]] Vector apply(const Vector& x) const;  // (Q + D) x

  const LabelledRows& rows_;
  bool by_rows_;
  Vector mu_, diagonal_;
  Cholesky factor_;
  ColMatrix products_;            // road 1: x_i.x_j, lower triangle
  RowMatrix dense_, transposed_;  // road 2: the rows, and their transpose
};

}  // namespace bagwise::internal
