// The algorithms behind solve_tube_regression; each takes a problem and returns certified answers.
#pragma once

#include "bagwise/solver/internal/newton_system.h"
#include "bagwise/solver/tube_regression.h"

namespace bagwise::internal {

// Augmented Lagrangian with semismooth Newton steps; from `start` if given.
TubeSolution solve_semismooth(const TubeProblem& problem, const TubeOptions& options,
                              const TubeSolution* start, const Observer& observer);

// The same with Newton steps by conjugate gradients (sparse_newton.h), which no number of features makes
// impossible; where there is no start and one plane is asked for, after some passes of coordinate descent.
// The rows must be sparse.
TubeSolution solve_sparse(const TubeProblem& problem, const TubeOptions& options, const TubeSolution* start,
                          const Observer& observer);

// Mehrotra's predictor-corrector interior point; `road` fixes the linear algebra for comparisons. A start
// must be certified for this problem.
TubeSolution solve_interior_point(const TubeProblem& problem, const TubeOptions& options,
                                  const Observer& observer,
                                  NewtonSystem::Road road = NewtonSystem::Road::kAutomatic,
                                  const TubeSolution* start = nullptr);

}  // namespace bagwise::internal
