// Mehrotra's predictor-corrector interior point method on a simplex of kernels (simplex_kernel.h).
//
//   min over alpha and t of  t - sum_j alpha_j   s.t.  q_s(alpha) <= t,  0 <= alpha_j <= C
//   q_s = 1/2 |v_s + sum_j alpha_j y_sj x_j|^2
//
// where v_s is what rows that are not looked at, held at 0 or C, add to plane s. With g_sj = dq_s/dalpha_j,
// slacks r_s and multipliers mu_s (of q_s <= t), lambda_j (of alpha_j >= 0) and eta_j (of alpha_j <= C):
//
//   sum_s mu_s g_sj - 1 = lambda_j - eta_j,   sum_s mu_s = 1,   q_s + r_s = t,
//   mu_s r_s = tau,   lambda_j alpha_j = tau,   eta_j (C - alpha_j) = tau,     tau -> 0.
//
// A Newton step leaves the system of simplex_system.h for alpha, bordered by one row per labeling. The number
// of steps hardly depends on the data. A labeling that is new may be violated by far: its slack then starts
// positive all the same, and the steps remove the difference.
// See     Mehrotra (1992), SIAM J. Optim. 2.
#pragma once

#include "bagwise/solver/internal/simplex_system.h"

namespace bagwise::internal {

struct SimplexPoint {
  Vector alpha, mu;
};

// What rows that are not looked at add.
struct HeldRows {
  RowMatrix planes;      // v_s
  double alpha_sum = 0;  // of their multipliers
};

class SimplexInterior {
 public:
  // Starts near `point`, whose last `fresh` labelings are new, with complementarity products of about `tau`.
  SimplexInterior(const LabelledRows& rows, const HeldRows& held, double cost, SimplexPoint point,
                  Eigen::Index fresh, double tau);

  // One predictor and corrector; false where no further step can be computed.
  [[nodiscard]] bool step();
  // Of the problem over these rows, as complementarity and residuals tell it.
  [[nodiscard]] double relative_gap() const;
  // The multipliers of labelings scaled to sum 1.
  [[nodiscard]] SimplexPoint point() const { return {alpha_, mu_ / mu_.sum()}; }

 private:
  struct Direction {
    Vector alpha, lambda, eta, mu, r;
    double t = 0;
  };
  // The targets of the complementarity products.
  struct Targets {
    Vector lambda, eta, mu;
  };

  void look();  // planes, q and g at alpha
  [[nodiscard]] double tau() const;
  [[nodiscard]] bool factor();
  [[nodiscard]] Direction solve(const Targets& targets) const;
  [[nodiscard]] double longest(const Direction& d) const;  // at most 1
  [[nodiscard]] double tau_after(const Direction& d, double length) const;
  void move(const Direction& d, double length);

  const LabelledRows& rows_;
  const HeldRows& held_;
  double cost_;
  SimplexSystem system_;
  Vector alpha_, lambda_, eta_, mu_, r_;
  double t_ = 0;
  Vector q_;
  ColMatrix g_;         // one column per labeling
  ColMatrix solved_g_;  // (Q + D)^-1 g
  ColMatrix border_;    // Cholesky factor of g' (Q + D)^-1 g + diag(r/mu)
};

}  // namespace bagwise::internal
