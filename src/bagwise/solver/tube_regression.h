// The front door of tube regression: picks the algorithm by shape, and certifies what it returns.
//
// The problem is stated in tube_problem.h; docs/design/solver.md has the measurements behind the choice.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "bagwise/core/observer.h"
#include "bagwise/solver/solve_report.h"
#include "bagwise/solver/tube_problem.h"

namespace bagwise {

enum class TubeAlgorithm {
  kAutomatic,   // kSparse for thousands of rows and sparse features; semismooth Newton for many rows or small
                // costs, else interior point; the other if one stalls
  kSemismooth,  // augmented Lagrangian with semismooth Newton steps: warm starts, few active rows
  kSparse,  // the same for many sparse features: steps by conjugate gradients, from coordinate descent; rows
            // that are not sparse go to kSemismooth
  kInteriorPoint,  // Mehrotra's predictor-corrector: the same effort on any data; a start, which only
                   // kAutomatic hands on, saves few steps unless it is very near (interior_point.cpp)
};

struct TubeOptions {
  double gap_tolerance = 1e-6;  // stop when primal - dual <= gap_tolerance * |primal|
  int max_iterations = 1000;    // Newton steps, or interior-point steps
  TubeAlgorithm algorithm = TubeAlgorithm::kAutomatic;
  unsigned threads = 0;  // 0: one per core; never changes the answer
};

struct TubeSolution {
  TubePlanes planes;
  TubeMultipliers multipliers;  // feasible: in their boxes, balanced in every task
  SolveReport report;
};

// Solves the problem, from `start` if given (a solution of a problem of the same shape).
// The problem must be well formed: sizes agree, everything finite (assertions, not errors).
TubeSolution solve_tube_regression(const TubeProblem& problem, const TubeOptions& options = {},
                                   const TubeSolution* start = nullptr, const Observer& observer = {});

// The value of the primal at any planes, and of the dual at feasible multipliers; both from scratch.
double primal_value(const TubeProblem& problem, const TubePlanes& planes, unsigned threads = 1);
double dual_value(const TubeProblem& problem, const TubeMultipliers& multipliers);

}  // namespace bagwise
