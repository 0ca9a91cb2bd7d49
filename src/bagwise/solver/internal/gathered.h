// A problem whose rows ranks share, gathered and solved as a whole: for the few rows of a sample.
#pragma once

#include "bagwise/solver/tube_regression.h"

namespace bagwise::internal {

// The problem of all ranks' rows, one rank's after the other's, solved by the interior point on the first
// rank. All get its planes and report, and no multipliers.
TubeSolution solve_gathered(const TubeProblem& problem, const TubeOptions& options, const Observer& observer);

}  // namespace bagwise::internal
