// The Hessian of the log-cosh problem at a point: F'' = sum_j h_j x_j x_j' + lambda, h_j = 1 - tanh(w.x_j)^2.
//
// Rows far from the plane have next to no curvature h_j. Where these are the greater part, the others are
// gathered, and products and the matrix are made of those alone. What is left out is at most lambda/100 in
// norm: too little to matter to a Newton step.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "bagwise/solver/internal/pieced_rows.h"
#include "bagwise/solver/log_cosh.h"

namespace bagwise::internal {

// v as it meets the rows that are stored, where the problem's are shifted and scaled.
struct StoredWeights {
  Vector weights;
  double constant = 0;
};
StoredWeights to_stored(const LogCoshProblem& problem, const Vector& v);
// sum_j t_j x_j from sum_j t_j row_j and sum_j t_j.
Vector from_stored(const LogCoshProblem& problem, const PassSum& sum);

class LogCoshHessian {
 public:
  // `all` are the problem's rows; both must outlive this.
  LogCoshHessian(const LogCoshProblem& problem, const PiecedRows& all);

  // Takes the Hessian at a point by the curvature h_j of every row, which must outlive its use.
  void take(std::span<const double> curvature);

  [[nodiscard]] Vector times(const Vector& v) const;
  [[nodiscard]] ColMatrix matrix() const;  // lower triangle
  // F'' roughly, as if all rows had the same curvature, and columns no products with each other about their
  // means: a diagonal in w and the value b + w.mean at the mean of the rows.
  struct Rough {
    Vector mean;      // of every column
    Vector diagonal;  // and that of the value at the mean last
  };
  [[nodiscard]] Rough rough() const;

  // How many calls of times() take as long as matrix() and its factor, by the number of operations.
  [[nodiscard]] double matrix_cost() const;
  // The share of the problem's rows that is worked on.
  [[nodiscard]] double share() const;

 private:
  [[nodiscard]] const PiecedRows& rows() const { return few_ ? *few_ : all_; }
  void add_block(std::size_t from, std::size_t to, std::vector<double>& buffer, ColMatrix& out) const;

  const LogCoshProblem& problem_;
  const PiecedRows& all_;
  Vector mean_, squares_;     // of the columns; sum_j (x_j - mean)^2, and the number of rows last
  std::vector<double> size_;  // |x_j|^2
  double mean_curvature_ = 1;
  std::span<const double> curvature_;  // of rows()
  // The rows that are gathered, where they are.
  std::optional<PiecedRows> few_;
  DenseRows dense_;
  Csr sparse_;
  std::vector<double> few_curvature_;
};

}  // namespace bagwise::internal
