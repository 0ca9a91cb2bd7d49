// From multipliers alone to a certified answer: made feasible, planes rebuilt, both values from scratch.
//
// Shares no state with the algorithms: whatever they did, the values here are those of the returned point.
#pragma once

#include "bagwise/solver/tube_regression.h"

namespace bagwise::internal {

// Clips the multipliers to their boxes and moves those with room until every task balances.
void make_feasible(const TubeProblem& problem, TubeMultipliers& multipliers, unsigned threads);

// w_0 and v_t of the multipliers (biases 0).
TubePlanes planes_of(const TubeProblem& problem, const TubeMultipliers& multipliers, unsigned threads);

// The biases that minimise the primal for these w_0 and v_t (best_bias.h).
void set_best_biases(const TubeProblem& problem, TubePlanes& planes, unsigned threads);

// Where the dual value is negative: the multiple of the multipliers, at most 1, that has the largest value.
// With L the dual's linear part and Q its quadratic one that is t = L / (2 Q), and t = 0 where L is not
// positive.
void shrink_multipliers(const TubeProblem& problem, TubeSolution& solution, unsigned threads);

// The certified solution: multipliers made feasible, the algorithm's own `planes` or, where these miss the
// gap asked for, those the multipliers stand for if their primal value is lower, with their best biases; the
// termination is set from the gap reached.
TubeSolution certify(const TubeProblem& problem, TubeMultipliers multipliers, const TubePlanes* planes,
                     const TubeOptions& options);

}  // namespace bagwise::internal
