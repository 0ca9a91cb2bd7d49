// Points of the dense-kernel form: certified from beta and the kernel's columns alone, and improved by SMO.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "bagwise/solver/internal/kernel_smo.h"
#include "bagwise/solver/kernel_tube.h"

namespace bagwise::internal {

TubeMultipliers to_multipliers(const std::vector<double>& beta);

// beta made feasible, and everything recomputed from it and the kernel.
KernelTubeSolution certify_point(const TubeProblem& terms, KernelColumns& q, const std::vector<double>& beta,
                                 double gap_tolerance, std::string_view algorithm);

inline bool usable(const KernelTubeSolution& s) {
  return s.report.termination != Termination::kNumericalFault;
}
inline bool finished(const KernelTubeSolution& s) {
  return s.report.termination != Termination::kIterationLimit;
}

// Whichever is certified more closely, with the steps of both.
KernelTubeSolution better(KernelTubeSolution best, KernelTubeSolution now, std::int64_t steps, bool stopped);

// From `best` on, to the gap, to `limit` steps, or until no pair can be improved.
KernelTubeSolution solve_smo(const TubeProblem& terms, KernelColumns& q, double gap_tolerance,
                             std::int64_t limit, KernelTubeSolution best, const Observer& observer);

}  // namespace bagwise::internal
