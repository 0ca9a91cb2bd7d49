#include "bagwise/solver/internal/kernel_point.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bagwise/linalg/compensated.h"
#include "bagwise/solver/internal/best_bias.h"
#include "bagwise/solver/internal/certificate.h"

namespace bagwise::internal {
namespace {

using Index = Eigen::Index;

// Where the products of a kernel cancel to less than their rounding, beta' Q beta may come out below 0, which
// no kernel gives: such a point would certify itself by any gap.
bool is_below_rounding(double square, double loss, double linear) {
  return square < -1e-13 * std::max(loss, std::abs(linear));
}

// The values of beta with the best biases, given Q beta.
void set_values(const TubeProblem& terms, const Vector& z, double gap_tolerance, KernelTubeSolution& out) {
  const std::size_t n = terms.size();
  out.bias = best_biases(terms, {z, std::vector<double>(terms.tasks(), 0.0)}, 1);
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
  if (!std::isfinite(out.report.primal) || !std::isfinite(out.report.dual) ||
      is_below_rounding(square.value(), loss.value(), linear.value()))
    out.report.termination = Termination::kNumericalFault;
  else
    out.report.termination =
        out.report.relative_gap() <= gap_tolerance ? Termination::kConverged : Termination::kIterationLimit;
}

}  // namespace

TubeMultipliers to_multipliers(const std::vector<double>& beta) {
  TubeMultipliers m;
  for (const double b : beta) {
    m.above.push_back(std::max(-b, 0.0));
    m.below.push_back(std::max(b, 0.0));
  }
  return m;
}

KernelTubeSolution certify_point(const TubeProblem& terms, KernelColumns& q, const std::vector<double>& beta,
                                 double gap_tolerance, std::string_view algorithm) {
  TubeMultipliers m = to_multipliers(beta);
  make_feasible(terms, m, 1);
  KernelTubeSolution out;
  for (std::size_t i = 0; i < terms.size(); ++i) out.beta.push_back(m.below[i] - m.above[i]);
  set_values(terms, multiply(q, out.beta), gap_tolerance, out);
  out.report.algorithm = algorithm;
  return out;
}

KernelTubeSolution better(KernelTubeSolution best, KernelTubeSolution now, std::int64_t steps, bool stopped) {
  const std::int64_t all = best.report.iterations + steps;
  if (!usable(best) || (usable(now) && now.report.gap() < best.report.gap())) best = std::move(now);
  if (stopped && best.report.termination == Termination::kIterationLimit)
    best.report.termination = Termination::kStopped;
  best.report.iterations = static_cast<int>(std::min<std::int64_t>(all, std::numeric_limits<int>::max()));
  return best;
}

KernelTubeSolution solve_smo(const TubeProblem& terms, KernelColumns& q, double gap_tolerance,
                             std::int64_t limit, KernelTubeSolution best, const Observer& observer) {
  const auto n = static_cast<Index>(terms.size());
  const Eigen::Map<const Vector> y(terms.target.data(), n);
  SmoState state{best.beta, multiply(q, best.beta) - y, 0};
  bool stopped = false;
  run_smo(
      terms, q, limit,
      [&](const SmoState& s) {
        KernelTubeSolution now;
        now.beta = s.beta;
        set_values(terms, s.gradient + y, gap_tolerance, now);
        const double gap = now.report.relative_gap();
        stopped = tell(observer, {"solving", static_cast<double>(s.steps), 0, gap}) == Next::kStop;
        return stopped || !usable(now) || !std::isfinite(gap) || gap <= 0.9 * gap_tolerance;
      },
      state);
  KernelTubeSolution now = certify_point(terms, q, state.beta, gap_tolerance, "smo");
  return better(std::move(best), std::move(now), state.steps, stopped);
}

}  // namespace bagwise::internal
