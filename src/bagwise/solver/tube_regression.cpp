#include "bagwise/solver/tube_regression.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <vector>

#include "bagwise/comm/over_ranks.h"
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

// Costs of this many units of the kernel are certified with digits to spare (docs/design/solver.md).
constexpr double kDear = 1e10;

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
  return sum <= static_cast<double>(p.size());  // never asked where ranks share the rows
}

// Rows so many that a sample of them tells the planes nearly: the semismooth method then has few steps left.
// Measured on 100 features and two tasks: as fast as the interior point at 10,000 rows, 3 times at 30,000.
bool has_many_rows(const TubeProblem& p) { return p.size() >= 64 * (p.features() + 1) * p.tasks(); }

// Sparse features so many, and rows too, that the smaller of the two dense systems would take longer than all
// the products with the rows that conjugate gradients need (docs/design/solver.md).
bool has_many_sparse_features(const TubeProblem& p) {
  constexpr std::size_t kSmallest = 4096, kShare = 16;
  return std::holds_alternative<CsrView>(p.rows) && std::min(p.size(), p.features()) >= kSmallest &&
         stored_values(p.rows).size() <= p.size() / kShare * p.features();
}

// Whichever is certified more closely, with the steps of both. Planes and multipliers certify each other in
// any pair: the lower primal value goes with the higher dual value.
TubeSolution better(TubeSolution first, TubeSolution second, double gap_tolerance) {
  const int steps = first.report.iterations + second.report.iterations;
  TubeSolution& best = second.report.gap() <= first.report.gap() ? second : first;
  TubeSolution& other = &best == &first ? second : first;
  if (finished(second)) best.report.termination = second.report.termination;
  if (!finished(best) && other.report.primal < best.report.primal) {
    best.planes = std::move(other.planes);
    best.report.primal = other.report.primal;
  }
  if (!finished(best) && other.report.dual > best.report.dual) {
    best.multipliers = std::move(other.multipliers);
    best.report.dual = other.report.dual;
  }
  if (!finished(best) && best.report.relative_gap() <= gap_tolerance)
    best.report.termination = Termination::kConverged;
  best.report.iterations = steps;
  return std::move(best);
}

TubeSolution solve_as_given(const TubeProblem& problem, const TubeOptions& options, const TubeSolution* start,
                            const Observer& observer);

// The largest cost in units of the kernel.
double dearest(const TubeProblem& p) {
  const std::vector<double> scale = internal::kernel_scales(p);
  double out = 0;
  for (std::size_t i = 0; i < p.size(); ++i)
    out = std::max(out, std::max(p.cost_above[i], p.cost_below[i]) * scale[p.task_of(i)]);
  return out;
}

// Where costs are so large that the regulariser is lost in the rounding of the losses, both methods stall.
// With all costs lowered by one factor the planes are nearly the same: what they fit is decided by the losses
// alone. Multiplied by that factor, the multipliers are a start from which few have to move.
TubeSolution solve_dear(const TubeProblem& problem, const TubeOptions& options, const Observer& observer) {
  const double factor = std::exp2(std::ceil(std::log2(dearest(problem) / kDear)));
  const auto multiply = [](std::initializer_list<std::vector<double>*> all, double by) {
    for (auto* values : all) {
      for (double& v : *values) v *= by;
    }
  };
  TubeProblem cheaper = problem;
  multiply({&cheaper.cost_above, &cheaper.cost_below}, 1 / factor);
  TubeSolution lower = solve_as_given(cheaper, options, nullptr, observer);
  if (lower.report.termination == Termination::kNumericalFault) return lower;
  multiply({&lower.multipliers.above, &lower.multipliers.below}, factor);
  TubeSolution first = internal::certify(problem, lower.multipliers, &lower.planes, options);
  first.report.iterations = lower.report.iterations;
  first.report.algorithm = lower.report.algorithm;
  if (lower.report.termination == Termination::kStopped) first.report.termination = Termination::kStopped;
  if (finished(first)) return first;
  TubeSolution second = internal::solve_semismooth(problem, options, &first, observer);
  return better(std::move(first), std::move(second), options.gap_tolerance);
}

TubeSolution solve_as_given(const TubeProblem& problem, const TubeOptions& options, const TubeSolution* start,
                            const Observer& observer) {
  using namespace internal;
  const std::vector<double> zero(problem.size(), 0.0);
  TubeSolution nothing = certify(problem, {zero, zero}, nullptr, options);
  nothing.report.algorithm = "none";
  if (nothing.report.termination == Termination::kConverged) return nothing;  // all rows fit with w = 0

  // The interior point needs all rows in one place.
  if (is_shared(problem.comm)) return solve_semismooth(problem, options, start, observer);
  switch (options.algorithm) {
    case TubeAlgorithm::kSemismooth:
      return solve_semismooth(problem, options, start, observer);
    case TubeAlgorithm::kSparse:
      return std::holds_alternative<CsrView>(problem.rows)
                 ? solve_sparse(problem, options, start, observer)
                 : solve_semismooth(problem, options, start, observer);
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
  // No other method takes over here: its matrices would not fit.
  if (has_many_sparse_features(problem)) return solve_sparse(problem, options, start, observer);
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
  TubeSolution best = better(std::move(first), std::move(second), options.gap_tolerance);
  if (finished(best)) return best;
  if (dearest(problem) > kDear)
    best = better(std::move(best), solve_dear(problem, options, observer), options.gap_tolerance);
  if (best.report.dual < 0) shrink_multipliers(problem, best, options.threads);
  return best;
}

TubeSolution solve_in_good_units(const TubeProblem& problem, const TubeOptions& options,
                                 const TubeSolution* start, const Observer& observer) {
  const auto normalised = internal::NormalisedProblem::make(problem, options.threads);
  if (!normalised) {
    TubeSolution out = solve_as_given(problem, options, start, observer);
    if (!finished(out) && internal::is_beyond_range(problem))
      out.report.termination = Termination::kNumericalFault;
    return out;
  }
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
