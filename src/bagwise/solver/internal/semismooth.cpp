// Tube regression by the augmented Lagrangian method with semismooth Newton steps.
//
//   Solve the inner problem of augmented_lagrangian.h about the multipliers alpha, take its multipliers for
//   the next alpha, let the penalties grow, and so on until the certified gap is reached. At a solution at
//   most features + tasks rows lie at the edge of their tube, so a Newton step costs little more than two
//   products with the rows.
//
// Given   a problem, options, perhaps a start; with many rows the start is the solution of a sample of them.
// Returns the best certified point met.
// See     Li, Sun, Toh (2018), A highly efficient semismooth Newton augmented Lagrangian method, SIAM J.
//         Optim. 28.
// Test    tube_regression_test.cpp certifies the answers by code of its own.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "bagwise/solver/internal/algorithms.h"
#include "bagwise/solver/internal/augmented_lagrangian.h"
#include "bagwise/solver/internal/certificate.h"
#include "bagwise/solver/internal/sample.h"

namespace bagwise::internal {
namespace {

using Array = Eigen::ArrayXd;
using Index = Eigen::Index;

// Where the method stands when it starts.
struct Centre {
  Array alpha;
  TubePlanes planes;
  Penalty penalty;
  double growth = 3;  // of the penalties, from one inner problem to the next
};

// The method itself. `best` is what is certified before it, perhaps nothing.
TubeSolution refine(const TubeProblem& p, const TubeOptions& options, Centre centre, TubeSolution best,
                    const Observer& observer) {
  constexpr double kLooseness = 0.25;  // inner problems are solved until the gradient is this small
  constexpr int kInnerSteps = 50, kPatience = 12;
  constexpr std::size_t kFewRows = 16384;
  AugmentedLagrangian inner(p, options.threads);
  Array alpha = std::move(centre.alpha), closest = alpha;
  TubePlanes closest_planes = centre.planes;
  double smallest = std::numeric_limits<double>::infinity(), relative = best.report.relative_gap();
  int steps = 0, without_gain = 0;
  bool stopped = false, all_certified = !best.planes.own.empty();
  const auto certify_point = [&](const Array& multipliers, const TubePlanes& planes) {
    TubeSolution now = certify(p, to_multipliers(multipliers), &planes, options);
    const double gap = now.report.gap();
    if (!(gap >= best.report.gap())) best = std::move(now);
    return gap;
  };
  while (!stopped && steps < options.max_iterations && without_gain < kPatience &&
         best.report.termination != Termination::kConverged) {
    inner.centre(std::move(alpha), centre.penalty, steps == 0 ? &centre.planes : nullptr);
    for (int k = 0; k < kInnerSteps && steps < options.max_iterations; ++k, ++steps) {
      stopped = tell(observer, {"solving", static_cast<double>(steps), 0, relative}) == Next::kStop;
      if (stopped || (k > 0 && inner.squared_gradient() <= kLooseness * inner.squared_move())) break;
      if (!inner.advance()) break;
    }
    alpha = inner.multipliers();
    const AugmentedLagrangian::Values values = inner.values();
    if (!std::isfinite(values.gap())) break;
    relative = std::abs(values.gap() / values.primal);
    // With many rows certifying costs as much as a step: only where it may succeed, and at the end.
    const bool promising = p.size() <= kFewRows || relative <= 1.5 * options.gap_tolerance;
    const double gap = promising ? certify_point(alpha, inner.planes()) : values.gap();
    without_gain = gap < smallest ? 0 : without_gain + 1;
    if (without_gain == 0) {
      smallest = gap;
      all_certified = promising;
      if (!promising) closest = alpha, closest_planes = inner.planes();
    }
    centre.penalty.grow(centre.growth);
  }
  if (!all_certified) certify_point(closest, closest_planes);
  if (stopped && best.report.termination != Termination::kConverged)
    best.report.termination = Termination::kStopped;
  best.report.iterations = steps;
  best.report.algorithm = "semismooth";
  return best;
}

// With many rows: the planes of a sample of them, with penalties for the band of rows whose side the sample
// leaves open. Nothing where rows are too few for that.
std::optional<Centre> sampled_centre(const TubeProblem& p, const TubeOptions& options,
                                     const Observer& observer) {
  constexpr std::size_t kEvery = 8;
  constexpr double kSampledGrowth = 4;
  if (!RowSample::worthwhile(p, kEvery)) return std::nullopt;
  const RowSample sample(p, kEvery, options.threads);
  const TubeProblem& few = sample.problem();
  TubeOptions loose = options;
  // What the choice of rows leaves open of the objective.
  loose.gap_tolerance = std::max(
      options.gap_tolerance, 0.1 * static_cast<double>(p.features() + 1) / static_cast<double>(few.size()));
  const TubeSolution planes = RowSample::worthwhile(few, kEvery)
                                  ? solve_semismooth(few, loose, nullptr, observer)
                                  : solve_interior_point(few, loose, observer);
  if (planes.report.termination != Termination::kConverged) return std::nullopt;
  return Centre{to_sides({p.cost_above, p.cost_below}) / 2, planes.planes,
                band_penalty(p, sample.band_width(planes.planes, options.threads)), kSampledGrowth};
}

}  // namespace

TubeSolution solve_semismooth(const TubeProblem& p, const TubeOptions& options, const TubeSolution* start,
                              const Observer& observer) {
  // Measured on bag means of 330 to 20,000 rows: the first penalty may be off by 100 either way without harm;
  // growth by 3 needs half the steps of growth by 10.
  constexpr double kFirstPenalty = 10;
  if (start == nullptr) {
    if (auto centre = sampled_centre(p, options, observer)) {
      TubeSolution none;
      none.report.primal = std::numeric_limits<double>::infinity();
      return refine(p, options, std::move(*centre), std::move(none), observer);
    }
  }
  TubeMultipliers first{std::vector<double>(p.size(), 0.0), std::vector<double>(p.size(), 0.0)};
  if (start != nullptr) first = start->multipliers;
  TubeSolution best = certify(p, std::move(first), start != nullptr ? &start->planes : nullptr, options);
  Centre centre{to_sides(best.multipliers), best.planes, kernel_penalty(p, kFirstPenalty)};
  return refine(p, options, std::move(centre), std::move(best), observer);
}

}  // namespace bagwise::internal
