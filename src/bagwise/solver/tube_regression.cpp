#include "bagwise/solver/tube_regression.h"

#include <algorithm>
#include <cassert>
#include <optional>

#include "bagwise/linalg/blas.h"
#include "bagwise/solver/internal/algorithms.h"
#include "bagwise/solver/internal/certificate.h"
#include "bagwise/solver/internal/normalise.h"
#include "bagwise/solver/internal/one_plane.h"
#include "bagwise/solver/internal/side_products.h"

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

// Costs so small, against the size of the rows, that most multipliers end at their bounds: then the
// semismooth method has few active rows and needs few steps. Measured on bag means of documents at C = 1 (330
// x 200): 2 ms against 6 ms for the interior point; where this is above 1 and there are 330 to 1,320 rows the
// interior point wins by 1.4 to 5 times (docs/design/solver.md).
bool is_easy(const TubeProblem& p) {
  const std::vector<double> scale = internal::kernel_scales(p);
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    sum += std::max(p.cost_above[i], p.cost_below[i]) * scale[p.task_of(i)];
  }
  return sum <= static_cast<double>(p.size());
}

// Rows so many that a sample of them tells the planes nearly: the semismooth method then has few steps left.
// Measured on 100 features and two tasks: as fast as the interior point at 10,000 rows, 3 times at 30,000.
bool has_many_rows(const TubeProblem& p) { return p.size() >= 64 * (p.features() + 1) * p.tasks(); }

// Whichever is certified more closely, with the steps of both.
TubeSolution better(TubeSolution first, TubeSolution second) {
  const int steps = first.report.iterations + second.report.iterations;
  TubeSolution& best = second.report.gap() <= first.report.gap() ? second : first;
  best.report.iterations = steps;
  if (finished(second)) best.report.termination = second.report.termination;
  return std::move(best);
}

TubeSolution solve_as_given(const TubeProblem& problem, const TubeOptions& options, const TubeSolution* start,
                            const Observer& observer) {
  using namespace internal;
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
  std::optional<TubeSolution> known;  // what the start is worth in this problem
  if (start != nullptr) {
    known = certify(problem, start->multipliers, &start->planes, options);
    if (known->report.termination == Termination::kConverged) {
      known->report.algorithm = start->report.algorithm;
      return std::move(*known);
    }
    if (known->report.termination == Termination::kNumericalFault) known.reset(), start = nullptr;
  }
  const bool newton_first = has_many_rows(problem) || is_easy(problem);
  const auto road = NewtonSystem::Road::kAutomatic;
  TubeSolution first =
      newton_first ? solve_semismooth(problem, options, start, observer)
                   : solve_interior_point(problem, options, observer, road, known ? &*known : nullptr);
  if (finished(first)) return first;
  // Stalled: the other method takes over. After an interior point this settles which rows are at their tube's
  // edge.
  TubeSolution second = newton_first ? solve_interior_point(problem, options, observer)
                                     : solve_semismooth(problem, options, &first, observer);
  return better(std::move(first), std::move(second));
}

TubeSolution solve_in_good_units(const TubeProblem& problem, const TubeOptions& options,
                                 const TubeSolution* start, const Observer& observer) {
  const auto normalised = internal::NormalisedProblem::make(problem, options.threads);
  if (!normalised) return solve_as_given(problem, options, start, observer);
  std::optional<TubeSolution> moved;
  if (start != nullptr) moved = normalised->to_normalised(*start);
  return normalised->to_original(
      solve_as_given(normalised->problem(), options, moved ? &*moved : nullptr, observer));
}

}  // namespace

TubeSolution solve_tube_regression(const TubeProblem& problem, const TubeOptions& options,
                                   const TubeSolution* start, const Observer& observer) {
  assert(well_formed(problem));
  const SerialBlas serial;
  const auto one_plane = internal::OnePlaneProblem::make(problem);
  if (!one_plane) return solve_in_good_units(problem, options, start, observer);
  std::optional<TubeSolution> moved;
  if (start != nullptr) moved = one_plane->to_one_plane(*start);
  return one_plane->to_original(
      solve_in_good_units(one_plane->problem(), options, moved ? &*moved : nullptr, observer), problem);
}

}  // namespace bagwise
