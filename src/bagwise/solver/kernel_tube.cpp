#include "bagwise/solver/kernel_tube.h"

#include <algorithm>
#include <cassert>
#include <optional>

#include "bagwise/linalg/blas.h"
#include "bagwise/solver/internal/certificate.h"
#include "bagwise/solver/internal/kernel_point.h"
#include "bagwise/solver/internal/kernel_smo.h"
#include "bagwise/solver/tube_regression.h"

namespace bagwise {
namespace {

using internal::better;
using internal::certify_point;
using internal::finished;
using internal::solve_smo;
using internal::to_multipliers;
using internal::usable;

using Index = Eigen::Index;

// Everything but the rows.
TubeProblem terms_of(const KernelTubeProblem& p) {
  TubeProblem out;
  static_cast<TubeTerms&>(out) = static_cast<const TubeTerms&>(p);
  return out;
}

// (1 + [t(i) = t(j)]/lambda_t) K_ij
ColMatrix task_kernel(const KernelTubeProblem& p) {
  ColMatrix q = p.kernel;
  for (std::size_t j = 0; j < p.size(); ++j) {
    const double own = 1 / p.lambda[p.task_of(j)];
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (p.task_of(i) == p.task_of(j)) q(static_cast<Index>(i), static_cast<Index>(j)) *= 1 + own;
    }
  }
  return q;
}

KernelTubeSolution solve_factored(const KernelTubeProblem& p, const TubeProblem& terms,
                                  internal::KernelColumns& q, const KernelTubeOptions& options,
                                  KernelTubeSolution best, bool warm, const Observer& observer) {
  const RowMatrix rows = pivoted_cholesky(p.kernel);
  TubeProblem linear = terms;
  linear.rows = DenseView{rows.data(), p.size(), static_cast<std::size_t>(rows.cols())};
  TubeOptions inner{.gap_tolerance = options.gap_tolerance / 2, .threads = options.threads};
  std::optional<TubeSolution> start;
  if (warm) {
    start.emplace();
    start->multipliers = to_multipliers(best.beta);
    start->planes = internal::planes_of(linear, start->multipliers, options.threads);
    start->planes.bias = best.bias;
  }
  bool stopped = false;  // even where the last step before had reached the gap
  const Observer watch = [&](const Progress& progress) {
    stopped = tell(observer, progress) == Next::kStop;
    return stopped ? Next::kStop : Next::kContinue;
  };
  // The planes of beta itself may cost more than those the algorithm found, by far after an interior point:
  // then the semismooth method, whose planes are nearly those of beta, goes on to a smaller gap.
  for (int attempt = 0; attempt < 4; ++attempt, inner.gap_tolerance /= 30) {
    if (attempt > 0) inner.algorithm = TubeAlgorithm::kSemismooth;
    TubeSolution s = solve_tube_regression(linear, inner, start ? &*start : nullptr, watch);
    // Only p - q is kept: where a tube is 0 both may be large, and balance would then be that of their size.
    std::vector<double> beta(p.size());
    for (std::size_t i = 0; i < p.size(); ++i) beta[i] = s.multipliers.below[i] - s.multipliers.above[i];
    best = better(std::move(best), certify_point(terms, q, beta, options.gap_tolerance, "factored"),
                  s.report.iterations, stopped);
    if (finished(best) || s.report.termination != Termination::kConverged) break;
    start = std::move(s);
  }
  return best;
}

// Costs so small against the kernel that most multipliers end at a bound after few steps. Measured on 200 and
// 800 rows: SMO is 1.5 to 35 times faster up to a mean cost of 10 in units of the kernel, 2 times slower at
// 100.
bool suits_smo(const KernelTubeProblem& p, const internal::KernelColumns& q) {
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    sum += std::max(p.cost_above[i], p.cost_below[i]) * q.diagonal()[i];
  }
  return sum <= 20 * static_cast<double>(p.size());
}

}  // namespace

KernelTubeSolution solve_kernel_tube(const KernelTubeProblem& p, const KernelTubeOptions& options,
                                     const KernelTubeSolution* start, const Observer& observer) {
  assert(p.kernel.rows() == static_cast<Index>(p.size()) && p.kernel.cols() == p.kernel.rows());
  assert(start == nullptr || start->beta.size() == p.size());
  const SerialBlas serial;
  const TubeProblem terms = terms_of(p);
  const ColMatrix matrix = task_kernel(p);
  internal::DenseColumns q(matrix);
  const std::vector<double> zero(p.size(), 0.0);
  KernelTubeSolution best =
      certify_point(terms, q, start != nullptr ? start->beta : zero, options.gap_tolerance, "none");
  if (start != nullptr && !usable(best)) {  // a start of nonsense
    start = nullptr;
    best = certify_point(terms, q, zero, options.gap_tolerance, "none");
  }
  if (!matrix.allFinite()) best.report.termination = Termination::kNumericalFault;
  if (finished(best)) return best;
  // About the time of a factored solve. Where one road meets its limit the other takes over: from SMO
  // where it needs too many steps, from the factored road where costs and kernel are so large that too few
  // digits are left of beta = p - q.
  const auto n = static_cast<std::int64_t>(p.size());
  const std::int64_t limit = 10'000 + 2 * n * n;
  const bool smo = options.algorithm == KernelTubeAlgorithm::kSmo ||
                   (options.algorithm == KernelTubeAlgorithm::kAutomatic && suits_smo(p, q));
  if (smo) {
    best = solve_smo(terms, q, options.gap_tolerance, limit, std::move(best), observer);
    if (finished(best)) return best;
  }
  best = solve_factored(p, terms, q, options, std::move(best), start != nullptr || smo, observer);
  if (finished(best)) return best;
  return solve_smo(terms, q, options.gap_tolerance, limit, std::move(best), observer);
}

}  // namespace bagwise
