#include "bagwise/solver/tube_regression.h"

#include <cassert>
#include <cmath>

#include "bagwise/linalg/blas.h"
#include "bagwise/solver/internal/algorithms.h"
#include "bagwise/solver/internal/certificate.h"

namespace bagwise {
namespace {

[[maybe_unused]] bool well_formed(const TubeProblem& p) {
  const std::size_t n = p.size();
  return row_count(p.rows) == n && (p.task.empty() || p.task.size() == n) && p.tube.size() == n &&
         p.cost_above.size() == n && p.cost_below.size() == n &&
         p.shift_above.size() == p.shift_below.size() &&
         (!p.shifted() || (p.shift_above.size() == n && p.direction.size() == p.tasks()));
}

bool finished(const TubeSolution& s) {
  return s.report.termination == Termination::kConverged || s.report.termination == Termination::kStopped;
}

// Whichever is certified more closely, with the steps of both.
TubeSolution better(TubeSolution first, TubeSolution second) {
  const int steps = first.report.iterations + second.report.iterations;
  TubeSolution& best = second.report.gap() <= first.report.gap() ? second : first;
  best.report.iterations = steps;
  if (finished(second)) best.report.termination = second.report.termination;
  return std::move(best);
}

}  // namespace

TubeSolution solve_tube_regression(const TubeProblem& problem, const TubeOptions& options,
                                   const TubeSolution* start, const Observer& observer) {
  assert(well_formed(problem));
  using namespace internal;
  const SerialBlas serial;
  const std::vector<double> zero(problem.size(), 0.0);
  TubeSolution nothing = certify(problem, {zero, zero}, nullptr, options);
  nothing.report.algorithm = "none";
  if (nothing.report.termination == Termination::kConverged) return nothing;  // all rows fit with w = 0

  switch (options.algorithm) {
    case TubeAlgorithm::kSemismooth:
      return solve_semismooth(problem, options, start, observer);
    case TubeAlgorithm::kInteriorPoint:
      return solve_interior_point(problem, options, observer);
    case TubeAlgorithm::kAutomatic:
      break;
  }
  // A start is worth most to the semismooth method, which then needs a few steps; the interior point needs
  // none.
  TubeSolution first = start != nullptr ? solve_semismooth(problem, options, start, observer)
                                        : solve_interior_point(problem, options, observer);
  if (finished(first)) return first;
  // Stalled: the other method takes over. After an interior point this settles which rows are at their tube's
  // edge.
  TubeSolution second = start != nullptr ? solve_interior_point(problem, options, observer)
                                         : solve_semismooth(problem, options, &first, observer);
  return better(std::move(first), std::move(second));
}

}  // namespace bagwise
