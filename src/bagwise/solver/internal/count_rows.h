// The rows of a count problem as its solver sees them: products with planes, and F as a function of f.
#pragma once

#include <utility>
#include <vector>

#include "bagwise/solver/count_regression.h"

namespace bagwise::internal {

// Planes as one vector: w_0, then v_t sqrt(lambda_t) for every task, then the values b_t that f_t has at the
// mean of the task's rows. In these all but the last are held to 0 alike, and rows far from 0 do no harm.
class CountRows {
 public:
  CountRows(const CountProblem& problem, unsigned threads);

  [[nodiscard]] Eigen::Index size() const { return (1 + tasks()) * features_ + tasks(); }
  [[nodiscard]] Vector from_planes(const TubePlanes& planes) const;
  [[nodiscard]] TubePlanes to_planes(const Vector& z) const;

  // f of all rows, task by task: one pass.
  [[nodiscard]] Vector products(const Vector& z) const;
  // The gradient in z of sum_i c_i f_i: one pass.
  [[nodiscard]] Vector combination(const Vector& c) const;
  // 1/2 z'z over what is held to 0.
  [[nodiscard]] double penalty(const Vector& z) const { return z.head(held()).squaredNorm() / 2; }
  [[nodiscard]] Eigen::Index held() const { return (1 + tasks()) * features_; }

  // The sum of cost times nll at f; slope gets its gradient in f, and variance that of each bag's number.
  double loss(const Vector& f, Vector& slope);
  // About the diagonal of the Hessian at the f of the last loss(): sum_k cost_k V_k m_k^2 with V_k the
  // variance of a bag's number and m_k the mean of its rows, whose square is that of rows over their number.
  [[nodiscard]] Vector diagonal() const;

  // The share of the costs at which F is as good as convex: no plane that it would pay for tells rows apart.
  [[nodiscard]] double convex_share() const;

  // All costs times this, from here on.
  void set_share(double share) { share_ = share; }
  [[nodiscard]] double total_cost() const { return share_ * total_cost_; }
  [[nodiscard]] double passes() const { return passes_; }

 private:
  // Bags [from, to) of a task: what one thread does at a time.
  struct Piece {
    std::size_t task = 0, from = 0, to = 0;
  };
  [[nodiscard]] Eigen::Index tasks() const { return static_cast<Eigen::Index>(problem_.tasks.size()); }
  [[nodiscard]] auto weights(const Vector& z, Eigen::Index task) const {
    return z.head(features_) + z.segment((1 + task) * features_, features_) * own_scale_[task];
  }
  [[nodiscard]] Vector in_raw_units(const Vector& w) const;  // times the factors

  const CountProblem& problem_;
  unsigned threads_;
  Eigen::Index features_;
  std::vector<Eigen::Index> first_;  // of each task's rows in f, and the end of the last
  Vector own_scale_;                 // 1 / sqrt(lambda_t)
  std::vector<Vector> centre_;       // the mean of each task's rows, in raw units
  std::vector<Vector> spread_;       // their variance about it, as scaled; from some of them
  std::vector<Piece> pieces_;
  std::vector<std::vector<double>> variance_;  // per task and bag
  double total_cost_ = 0, share_ = 1;
  mutable double passes_ = 0;
};

}  // namespace bagwise::internal
