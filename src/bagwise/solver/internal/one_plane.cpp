#include "bagwise/solver/internal/one_plane.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bagwise/comm/over_ranks.h"

namespace bagwise::internal {
namespace {

// The two parts share * w and (1 - share) * w, for share <= 1/2, so that their sum is w to the last bit: the
// smaller one is rounded to a whole number of w's last place.
struct Parts {
  Vector small, large;
};
Parts split(const Vector& w, double share) {
  Parts parts{Vector(w.size()), Vector(w.size())};
  for (Eigen::Index j = 0; j < w.size(); ++j) {
    parts.small[j] = (w[j] + share * w[j]) - w[j];
    parts.large[j] = w[j] - parts.small[j];
  }
  return parts;
}

}  // namespace

std::optional<OnePlaneProblem> OnePlaneProblem::make(const TubeProblem& p) {
  if (p.tasks() != 1 || !std::isfinite(p.lambda[0])) return std::nullopt;
  OnePlaneProblem out;
  out.lambda_ = p.lambda[0];
  out.factor_ = (1 + out.lambda_) / out.lambda_;
  out.problem_ = p;
  out.problem_.lambda = {std::numeric_limits<double>::infinity()};
  bool finite = true;
  for (auto* costs : {&out.problem_.cost_above, &out.problem_.cost_below}) {
    for (double& c : *costs) {
      c *= out.factor_;
      finite = finite && std::isfinite(c);
    }
  }
  if (any_over_ranks(p.comm, !finite)) return std::nullopt;
  return out;
}

TubeSolution OnePlaneProblem::to_one_plane(const TubeSolution& solution) const {
  TubeSolution out = solution;
  out.planes.shared = solution.planes.weights(0);
  out.planes.own[0].setZero();
  for (auto* side : {&out.multipliers.above, &out.multipliers.below}) {
    for (double& a : *side) a *= factor_;
  }
  return out;
}

TubeSolution OnePlaneProblem::to_original(TubeSolution solution, const TubeProblem& original) const {
  const double shared = 1 / factor_, own = 1 / (1 + lambda_);
  Parts parts = split(solution.planes.shared, std::min(shared, own));
  solution.planes.shared = shared <= own ? parts.small : parts.large;
  solution.planes.own[0] = shared <= own ? parts.large : parts.small;
  for (std::size_t i = 0; i < original.size(); ++i) {  // rounding must not leave the box
    TubeMultipliers& m = solution.multipliers;
    m.above[i] = std::min(m.above[i] / factor_, original.cost_above[i]);
    m.below[i] = std::min(m.below[i] / factor_, original.cost_below[i]);
  }
  solution.report.primal /= factor_;
  solution.report.dual /= factor_;
  return solution;
}

}  // namespace bagwise::internal
