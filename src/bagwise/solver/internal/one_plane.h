// One task with a finite lambda as the problem of one plane that it is.
//
// With one task only w = w_0 + v is seen by the rows, and the best split of w costs lambda/(1+lambda)
// |w|^2/2: the problem of lambda = infinity with all costs multiplied by (1+lambda)/lambda, and the same w
// and b.
#pragma once

#include <optional>

#include "bagwise/solver/tube_regression.h"

namespace bagwise::internal {

class OnePlaneProblem {
 public:
  // Nothing where there are more tasks, the one plane is there already, or a cost would overflow.
  static std::optional<OnePlaneProblem> make(const TubeProblem& problem);

  [[nodiscard]] const TubeProblem& problem() const { return problem_; }
  [[nodiscard]] TubeSolution to_one_plane(const TubeSolution& solution) const;
  // w_0 and v that add up to w exactly, and multipliers, primal and dual times lambda/(1+lambda).
  [[nodiscard]] TubeSolution to_original(TubeSolution solution, const TubeProblem& original) const;

 private:
  OnePlaneProblem() = default;

  TubeProblem problem_;
  double lambda_ = 0;
  double factor_ = 1;  // (1 + lambda) / lambda
};

}  // namespace bagwise::internal
