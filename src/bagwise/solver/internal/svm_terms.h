// An SVM's rows as one-sided rows of a tube problem, and its multipliers carried from one solve to the next.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "bagwise/solver/tube_problem.h"

namespace bagwise::internal {

// hinge(y f) is what a row of tube 0 and target y costs below it (y = +1) or above it (y = -1).
inline void set_svm_terms(std::span<const std::int8_t> labels, double cost, TubeTerms& terms) {
  const std::size_t n = labels.size();
  terms.target.resize(n);
  terms.tube.assign(n, 0.0);
  terms.cost_above.resize(n);
  terms.cost_below.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    terms.target[i] = labels[i];
    terms.cost_below[i] = labels[i] > 0 ? cost : 0;
    terms.cost_above[i] = labels[i] > 0 ? 0 : cost;
  }
}

// Multipliers of a problem of cost `before` made ready for `terms`: in proportion to the cost, so that those
// at their bound stay there, and 0 where the label changed.
inline TubeMultipliers carried_over(std::span<const double> beta, double factor, const TubeTerms& terms) {
  TubeMultipliers out{std::vector<double>(beta.size()), std::vector<double>(beta.size())};
  for (std::size_t i = 0; i < beta.size(); ++i) {
    out.below[i] = std::clamp(factor * beta[i], 0.0, terms.cost_below[i]);
    out.above[i] = std::clamp(-factor * beta[i], 0.0, terms.cost_above[i]);
  }
  return out;
}

}  // namespace bagwise::internal
