// The same problem in better units: rows centred per task and of mean squared length 1.
//
// Biases are free, so moving all rows of a task by one vector only moves its bias; dividing the rows by a
// unit multiplies the planes by it, and the objective by its square if the costs are multiplied by that too.
// In raw units (years, incomes, time stamps) both the offset and the size cost digits that the gap then
// lacks.
#pragma once

#include <optional>
#include <vector>

#include "bagwise/solver/tube_regression.h"

namespace bagwise::internal {

// Rows and costs so large that the square of a unit, times a cost, leaves the range of numbers: nothing that
// is computed of them can be trusted.
bool is_beyond_range(const TubeProblem& problem);

class NormalisedProblem {
 public:
  // Nothing where the problem is well scaled as it is: then no copy of the rows is made.
  static std::optional<NormalisedProblem> make(const TubeProblem& problem, unsigned threads);

  [[nodiscard]] const TubeProblem& problem() const { return problem_; }
  [[nodiscard]] TubeSolution to_normalised(const TubeSolution& solution) const;
  // Planes and multipliers in the units of the original; the report's values are those found in these units,
  // divided by the unit squared.
  [[nodiscard]] TubeSolution to_original(TubeSolution solution) const;

 private:
  NormalisedProblem() = default;

  TubeProblem problem_;
  DenseRows dense_;
  std::vector<double> sparse_values_;
  std::vector<Vector> centre_;  // per task; zero for sparse rows, which stay sparse
  double unit_ = 1;
};

}  // namespace bagwise::internal
