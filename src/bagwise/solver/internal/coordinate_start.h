// A start for tube regression on sparse rows: a few passes of dual coordinate descent.
//
//   dual     max_b  -1/2 |sum_i b_i a_i|^2 - B/2 (sum_i b_i)^2 + sum_i (y_i - c) b_i - eps_i |b_i|
//            over -above_i <= b_i <= below_i, with w = sum_i b_i a_i and the bias c + B sum_i b_i
//
// One row at a time is solved exactly, as LIBLINEAR does it. The bias is regularised about c, which is the
// best one for w = 0; it is free again in the method that takes over.
// See     Ho and Lin (2012), Large-scale linear support vector regression, JMLR 13.
#pragma once

#include "bagwise/core/observer.h"
#include "bagwise/solver/tube_regression.h"

namespace bagwise::internal {

// Where this start is to be had: sparse rows, one plane, no shifts.
bool has_coordinate_start(const TubeProblem& problem);

struct CoordinateStart {
  TubeMultipliers multipliers;
  TubePlanes planes;
  bool stopped = false;  // by the observer
};
CoordinateStart coordinate_start(const TubeProblem& problem, int passes, const Observer& observer);

}  // namespace bagwise::internal
