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

#include "bagwise/comm/over_ranks.h"
#include "bagwise/solver/internal/algorithms.h"
#include "bagwise/solver/internal/augmented_lagrangian.h"
#include "bagwise/solver/internal/certificate.h"
#include "bagwise/solver/internal/coordinate_start.h"
#include "bagwise/solver/internal/gathered.h"
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
  NewtonSystem::Road road = NewtonSystem::Road::kAutomatic;
  double looseness = 0.25;  // inner problems are solved until the gradient is this small against the moves
  double tightest = 0.25;   // what looseness goes down to where the gap does not shrink
  int easy_steps = std::numeric_limits<int>::max();  // growth is less after an inner problem of more steps
  bool stopped = false;                              // by the observer, already
};

// The method itself. `best` is what is certified before it, perhaps nothing.
TubeSolution refine(const TubeProblem& p, const TubeOptions& options, Centre centre, TubeSolution best,
                    const Observer& observer) {
  constexpr int kInnerSteps = 50, kPatience = 12;
  constexpr std::size_t kFewRows = 16384;
  AugmentedLagrangian inner(p, options.threads, centre.road);
  const bool few_rows = sum_over_ranks(p.comm, p.size()) <= kFewRows;
  Array alpha = std::move(centre.alpha), closest = alpha;
  TubePlanes closest_planes = centre.planes;
  double smallest = std::numeric_limits<double>::infinity(), relative = best.report.relative_gap();
  int steps = 0, without_gain = 0;
  double looseness = centre.looseness;
  bool stopped = centre.stopped, all_certified = !best.planes.own.empty();
  const auto certify_point = [&](const Array& multipliers, const TubePlanes& planes) {
    TubeSolution now = certify(p, to_multipliers(multipliers), &planes, options);
    const double gap = now.report.gap();
    if (!(gap >= best.report.gap())) best = std::move(now);
    return gap;
  };
  while (!stopped && steps < options.max_iterations && without_gain < kPatience &&
         best.report.termination != Termination::kConverged) {
    inner.centre(std::move(alpha), centre.penalty, steps == 0 ? &centre.planes : nullptr);
    const int before = steps;
    for (int k = 0; k < kInnerSteps && steps < options.max_iterations; ++k, ++steps) {
      stopped = told_to_stop(p.comm, observer, {"solving", static_cast<double>(steps), 0, relative});
      if (stopped || (k > 0 && inner.squared_gradient() <= looseness * inner.squared_move())) break;
      if (!inner.advance()) break;
    }
    alpha = inner.multipliers();
    const AugmentedLagrangian::Values values = inner.values();
    if (!std::isfinite(values.gap())) break;
    relative = std::abs(values.gap() / values.primal);
    // With many rows certifying costs as much as a step: only where it may succeed, and at the end.
    const bool promising = few_rows || relative <= 1.5 * options.gap_tolerance;
    const double gap = promising ? certify_point(alpha, inner.planes()) : values.gap();
    without_gain = gap < smallest ? 0 : without_gain + 1;
    if (without_gain == 0) {
      smallest = gap;
      all_certified = promising;
      if (!promising) closest = alpha, closest_planes = inner.planes();
    }
    looseness = without_gain == 0 ? std::min(centre.looseness, 2 * looseness)
                                  : std::max(centre.tightest, looseness / 4);
    const double pace = std::min(1.0, centre.easy_steps / static_cast<double>(std::max(1, steps - before)));
    centre.penalty.grow(1 + (centre.growth - 1) * pace);
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
  loose.gap_tolerance =
      std::max(options.gap_tolerance, 0.1 * static_cast<double>(p.features() + 1) /
                                          static_cast<double>(sum_over_ranks(p.comm, few.size())));
  const TubeSolution planes = RowSample::worthwhile(few, kEvery)
                                  ? solve_semismooth(few, loose, nullptr, observer)
                              : is_shared(few.comm) ? solve_gathered(few, loose, observer)
                                                    : solve_interior_point(few, loose, observer);
  if (planes.report.termination != Termination::kConverged) return std::nullopt;
  return Centre{to_sides({p.cost_above, p.cost_below}) / 2, planes.planes,
                band_penalty(p, sample.band_width(planes.planes, options.threads)), kSampledGrowth};
}

// For sparse steps: a multiplier crosses its range over residuals half as wide as those about the best biases
// alone, unless its cost is so large that the first systems would be hard.
Penalty sparse_penalty(const TubeProblem& p, unsigned threads) {
  constexpr double kMost = 32;  // in units of the kernel
  TubePlanes flat{Vector::Zero(static_cast<Index>(p.features())),
                  std::vector<Vector>(p.tasks(), Vector::Zero(static_cast<Index>(p.features()))),
                  std::vector<double>(p.tasks(), 0.0)};
  set_best_biases(p, flat, threads);
  std::vector<double> width(p.tasks(), 0.0), rows(p.tasks(), 0.0);
  for (std::size_t i = 0; i < p.size(); ++i) {
    width[p.task_of(i)] += std::abs(p.target[i] - flat.bias[p.task_of(i)]);
    rows[p.task_of(i)] += 1;
  }
  for (std::size_t t = 0; t < p.tasks(); ++t) width[t] = width[t] > 0 ? width[t] / (2 * rows[t]) : 1.0;
  Penalty out = band_penalty(p, width);
  const Penalty most = kernel_penalty(p, kMost);
  out.sigma = out.sigma.min(most.sigma);
  out.rho = out.rho.min(most.rho);
  return out;
}

}  // namespace

TubeSolution solve_sparse(const TubeProblem& p, const TubeOptions& options, const TubeSolution* start,
                          const Observer& observer) {
  // Chosen with growth, looseness and the tolerance of steps together, by runs on 50,000 to 200,000 sparse
  // rows of three kinds at costs of 1, 32 and 128 (docs/design/solver.md). At a cost of 32 a start of 3
  // passes and one of 20 ended alike.
  constexpr int kPasses = 10, kPassesIfDear = 3;
  constexpr double kDear = 4;  // mean cost in units of the kernel
  TubeSolution best;
  best.report.primal = std::numeric_limits<double>::infinity();
  Centre centre;
  if (start == nullptr && has_coordinate_start(p)) {
    double cost = 0;
    for (std::size_t i = 0; i < p.size(); ++i) cost += std::max(p.cost_above[i], p.cost_below[i]);
    const bool dear = cost * kernel_scales(p)[0] > kDear * static_cast<double>(p.size());
    CoordinateStart rough = coordinate_start(p, dear ? kPassesIfDear : kPasses, observer);
    centre.alpha = to_sides(rough.multipliers);
    centre.planes = std::move(rough.planes);
    centre.stopped = rough.stopped;
  } else {
    TubeMultipliers first{std::vector<double>(p.size(), 0.0), std::vector<double>(p.size(), 0.0)};
    if (start != nullptr) first = start->multipliers;
    best = certify(p, std::move(first), start != nullptr ? &start->planes : nullptr, options);
    centre.alpha = to_sides(best.multipliers);
    centre.planes = best.planes;
  }
  centre.penalty = sparse_penalty(p, options.threads);
  centre.road = NewtonSystem::Road::kSparse;
  // Penalties that grow slowly, and inner problems solved so loosely that a few steps are enough for each,
  // follow a path: nearly all rows at the edge of their tube stay there from one inner problem to the next.
  centre.growth = 1.3;
  centre.easy_steps = 3;
  centre.looseness = 30;
  centre.tightest = 0.5;
  TubeSolution out = refine(p, options, std::move(centre), std::move(best), observer);
  out.report.algorithm = "sparse";
  return out;
}

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
