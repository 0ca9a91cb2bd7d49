// The inner problem of the augmented Lagrangian method, with its semismooth Newton steps.
//
//   Every side j of a row has h_j(x) = side_j . x - c_j and costs C_j max(0, h_j). With multipliers alpha in
//   [0, C] and penalties sigma_j, the inner problem
//
//     min_x  R(x) + sum_j max_{0 <= a <= C_j} (a h_j(x) - (a - alpha_j)^2 / (2 sigma_j))
//                 + sum_t rho_t/2 (b_t - b_t before)^2
//
//   is smooth and piecewise quadratic: a_j = clamp(alpha_j + sigma_j h_j, 0, C_j) is its derivative by h_j,
//   and only sides strictly inside their clamp (rows near the edge of their tube) enter the Hessian, with
//   weight sigma_j.
#pragma once

#include "bagwise/solver/internal/newton_system.h"
#include "bagwise/solver/internal/side_products.h"

namespace bagwise::internal {

struct Penalty {
  Eigen::ArrayXd sigma;  // of every side, > 0
  Eigen::ArrayXd rho;    // of every task's bias

  void grow(double factor) {
    sigma *= factor;
    rho *= factor;
  }
};

// `strength` in units of each task's part of the kernel, (1 + 1/lambda_t) |a|^2.
Penalty kernel_penalty(const TubeProblem& problem, double strength);

// A multiplier goes from 0 to its cost over residuals h from -width_t/2 to width_t/2.
Penalty band_penalty(const TubeProblem& problem, const std::vector<double>& width);

class AugmentedLagrangian {
 public:
  AugmentedLagrangian(const TubeProblem& problem, unsigned threads,
                      NewtonSystem::Road road = NewtonSystem::Road::kAutomatic);

  // Takes multipliers, planes and penalties as the centre of the next inner problem. Without `moved` the
  // planes are those the method stands at, so that their products with the rows are known.
  void centre(Eigen::ArrayXd alpha, const Penalty& penalty, const TubePlanes* moved = nullptr);

  // One Newton step with line search; false if none can be made.
  bool advance();

  [[nodiscard]] const Eigen::ArrayXd& multipliers() const { return a_; }
  [[nodiscard]] const Eigen::ArrayXd& residuals() const { return h_; }
  [[nodiscard]] const Eigen::ArrayXd& costs() const { return loss_.cost; }
  [[nodiscard]] const TubePlanes& planes() const { return x_; }
  // How far the inner problem is from its solution: |gradient|^2 in the metric of the regulariser.
  [[nodiscard]] double squared_gradient() const;
  // How far the multipliers have moved from the centre, in the same units.
  [[nodiscard]] double squared_move() const;

  // The primal and dual values as this state tells them, without any product: right but for rounding, once
  // the multipliers balance.
  struct Values {
    double primal = 0, dual = 0;
    [[nodiscard]] double gap() const { return primal - dual; }
  };
  [[nodiscard]] Values values() const;

 private:
  void update();
  template <class Term>
  [[nodiscard]] double sum_sides(const Term& term) const;  // of term(from, to), over all ranks
  void move_multipliers();
  void update_by_moves(const TubePlanes& step, double length);
  [[nodiscard]] double step_length(const TubePlanes& step, const Eigen::ArrayXd& dh) const;
  [[nodiscard]] std::size_t sides() const { return static_cast<std::size_t>(alpha_.size()); }

  const TubeProblem& p_;
  TubeRows rows_;
  NewtonSystem system_;
  bool few_move_;
  int centres_ = 0;  // taken without planes of their own
  SideLosses loss_;
  Penalty penalty_;
  Eigen::ArrayXd alpha_, h_, a_, weight_;
  TubePlanes x_, before_, gradient_;
};

}  // namespace bagwise::internal
