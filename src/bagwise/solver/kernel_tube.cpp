#include "bagwise/solver/kernel_tube.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "bagwise/linalg/blas.h"
#include "bagwise/linalg/compensated.h"
#include "bagwise/solver/internal/best_bias.h"
#include "bagwise/solver/internal/certificate.h"
#include "bagwise/solver/internal/kernel_smo.h"
#include "bagwise/solver/tube_regression.h"

namespace bagwise {
namespace {

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

TubeMultipliers to_multipliers(const std::vector<double>& beta) {
  TubeMultipliers m;
  for (const double b : beta) {
    m.above.push_back(std::max(-b, 0.0));
    m.below.push_back(std::max(b, 0.0));
  }
  return m;
}

// The values of beta with the best biases, given Q beta.
void set_values(const TubeProblem& terms, const Vector& z, double gap_tolerance, KernelTubeSolution& out) {
  const std::size_t n = terms.size();
  out.bias = internal::best_biases(terms, {z, std::vector<double>(terms.tasks(), 0.0)}, 1);
  out.values.resize(n);
  CompensatedSum square, loss, linear;
  for (std::size_t i = 0; i < n; ++i) {
    const double zi = z[static_cast<Index>(i)], b = out.beta[i];
    out.values[i] = zi + out.bias[terms.task_of(i)];
    const double r = out.values[i] - terms.target[i];
    square.add(b * zi / 2);
    linear.add(terms.target[i] * b);
    linear.add(-terms.tube[i] * std::abs(b));
    loss.add(terms.cost_above[i] * std::max(0.0, r - terms.tube[i]));
    loss.add(terms.cost_below[i] * std::max(0.0, -r - terms.tube[i]));
  }
  out.report.primal = square.value() + loss.value();
  out.report.dual = linear.value() - square.value();
  if (!std::isfinite(out.report.primal) || !std::isfinite(out.report.dual))
    out.report.termination = Termination::kNumericalFault;
  else
    out.report.termination =
        out.report.relative_gap() <= gap_tolerance ? Termination::kConverged : Termination::kIterationLimit;
}

// beta made feasible, and everything recomputed from it and the kernel.
KernelTubeSolution certify(const TubeProblem& terms, const ColMatrix& q, const std::vector<double>& beta,
                           double gap_tolerance, std::string_view algorithm) {
  TubeMultipliers m = to_multipliers(beta);
  internal::make_feasible(terms, m, 1);
  KernelTubeSolution out;
  for (std::size_t i = 0; i < terms.size(); ++i) out.beta.push_back(m.below[i] - m.above[i]);
  const Vector z = q * Eigen::Map<const Vector>(out.beta.data(), static_cast<Index>(out.beta.size()));
  set_values(terms, z, gap_tolerance, out);
  out.report.algorithm = algorithm;
  return out;
}

bool usable(const KernelTubeSolution& s) { return s.report.termination != Termination::kNumericalFault; }
bool finished(const KernelTubeSolution& s) { return s.report.termination != Termination::kIterationLimit; }

// Whichever is certified more closely, with the steps of both.
KernelTubeSolution better(KernelTubeSolution best, KernelTubeSolution now, std::int64_t steps, bool stopped) {
  const std::int64_t all = best.report.iterations + steps;
  if (!usable(best) || (usable(now) && now.report.gap() < best.report.gap())) best = std::move(now);
  if (stopped && best.report.termination == Termination::kIterationLimit)
    best.report.termination = Termination::kStopped;
  best.report.iterations = static_cast<int>(std::min<std::int64_t>(all, std::numeric_limits<int>::max()));
  return best;
}

KernelTubeSolution solve_smo(const TubeProblem& terms, const ColMatrix& q, const KernelTubeOptions& options,
                             std::int64_t limit, KernelTubeSolution best, const Observer& observer) {
  const auto n = static_cast<Index>(terms.size());
  const Eigen::Map<const Vector> y(terms.target.data(), n);
  internal::SmoState state{best.beta, q * Eigen::Map<const Vector>(best.beta.data(), n) - y, 0};
  bool stopped = false;
  internal::run_smo(
      terms, q, limit,
      [&](const internal::SmoState& s) {
        KernelTubeSolution now;
        now.beta = s.beta;
        set_values(terms, s.gradient + y, options.gap_tolerance, now);
        const double gap = now.report.relative_gap();
        stopped = tell(observer, {"solving", static_cast<double>(s.steps), 0, gap}) == Next::kStop;
        return stopped || !std::isfinite(gap) || gap <= 0.9 * options.gap_tolerance;
      },
      state);
  KernelTubeSolution now = certify(terms, q, state.beta, options.gap_tolerance, "smo");
  return better(std::move(best), std::move(now), state.steps, stopped);
}

KernelTubeSolution solve_factored(const KernelTubeProblem& p, const TubeProblem& terms, const ColMatrix& q,
                                  const KernelTubeOptions& options, KernelTubeSolution best, bool warm,
                                  const Observer& observer) {
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
    best = better(std::move(best), certify(terms, q, beta, options.gap_tolerance, "factored"),
                  s.report.iterations, stopped);
    if (finished(best) || s.report.termination != Termination::kConverged) break;
    start = std::move(s);
  }
  return best;
}

// Costs so small against the kernel that most multipliers end at a bound after few steps. Measured on 200 and
// 800 rows: SMO is 1.5 to 35 times faster up to a mean cost of 10 in units of the kernel, 2 times slower at
// 100.
bool suits_smo(const KernelTubeProblem& p, const ColMatrix& q) {
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    sum += std::max(p.cost_above[i], p.cost_below[i]) * q(static_cast<Index>(i), static_cast<Index>(i));
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
  const ColMatrix q = task_kernel(p);
  const std::vector<double> zero(p.size(), 0.0);
  KernelTubeSolution best =
      certify(terms, q, start != nullptr ? start->beta : zero, options.gap_tolerance, "none");
  if (start != nullptr && !usable(best)) {  // a start of nonsense
    start = nullptr;
    best = certify(terms, q, zero, options.gap_tolerance, "none");
  }
  if (finished(best)) return best;
  // About the time of a factored solve. Where one road meets its limit the other takes over: from SMO
  // where it needs too many steps, from the factored road where costs and kernel are so large that too few
  // digits are left of beta = p - q.
  const auto n = static_cast<std::int64_t>(p.size());
  const std::int64_t limit = 10'000 + 2 * n * n;
  const bool smo = options.algorithm == KernelTubeAlgorithm::kSmo ||
                   (options.algorithm == KernelTubeAlgorithm::kAutomatic && suits_smo(p, q));
  if (smo) {
    best = solve_smo(terms, q, options, limit, std::move(best), observer);
    if (finished(best)) return best;
  }
  best = solve_factored(p, terms, q, options, std::move(best), start != nullptr || smo, observer);
  if (finished(best)) return best;
  return solve_smo(terms, q, options, limit, std::move(best), observer);
}

}  // namespace bagwise
