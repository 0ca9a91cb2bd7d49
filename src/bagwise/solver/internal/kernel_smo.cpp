#include "bagwise/solver/internal/kernel_smo.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace bagwise::internal {
namespace {

using Index = Eigen::Index;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Pair {
  std::size_t up = 0, down = 0;
  double gain = 0;  // down_j - up_i
  double curvature = 0;
  const double* column = nullptr;  // of `up`
};

double up_slope(const TubeTerms& p, const SmoState& s, std::size_t i) {
  return s.gradient[static_cast<Index>(i)] + (s.beta[i] >= 0 ? p.tube[i] : -p.tube[i]);
}
double down_slope(const TubeTerms& p, const SmoState& s, std::size_t i) {
  return s.gradient[static_cast<Index>(i)] + (s.beta[i] > 0 ? p.tube[i] : -p.tube[i]);
}

// Of the line along which beta_i rises and beta_j falls, from Q_ii, Q_jj and Q_ij.
double curvature_of(double ii, double jj, double ij) { return std::max(ii + jj - 2 * ij, 1e-12 * (ii + jj)); }

Pair choose(const TubeTerms& p, KernelColumns& q, const SmoState& s) {
  std::vector<double> least(p.tasks(), kInfinity), most(p.tasks(), -kInfinity);
  std::vector<std::size_t> where(p.tasks(), 0);
  for (std::size_t i = 0; i < p.size(); ++i) {
    const std::size_t t = p.task_of(i);
    if (s.beta[i] < p.cost_below[i] && up_slope(p, s, i) < least[t]) {
      least[t] = up_slope(p, s, i);
      where[t] = i;
    }
    if (s.beta[i] > -p.cost_above[i]) most[t] = std::max(most[t], down_slope(p, s, i));
  }
  std::size_t task = 0;
  for (std::size_t t = 1; t < p.tasks(); ++t) {
    if (most[t] - least[t] > most[task] - least[task]) task = t;
  }
  Pair best{where[task], where[task]};
  if (!(most[task] > least[task])) return best;
  const std::span<const double> diagonal = q.diagonal();
  const double own = diagonal[best.up];
  best.column = q.column(best.up);
  double best_value = -1;
  for (std::size_t j = 0; j < p.size(); ++j) {
    if (p.task_of(j) != task || !(s.beta[j] > -p.cost_above[j])) continue;
    const double gain = down_slope(p, s, j) - least[task];
    if (!(gain > 0)) continue;
    const double curvature = curvature_of(own, diagonal[j], best.column[j]);
    const double value = curvature > 0 ? gain * gain / curvature : kInfinity;
    if (value > best_value) {
      best_value = value;
      best.down = j;
      best.gain = gain;
      best.curvature = curvature;
    }
  }
  return best;
}

// How far beta_i may rise and beta_j fall: the minimum along that line, piece by piece between the kinks at
// 0.
double step_length(const TubeTerms& p, const SmoState& s, const Pair& pair) {
  const double curvature = pair.curvature;
  const double bi = s.beta[pair.up], bj = s.beta[pair.down];
  const double end = std::min(p.cost_below[pair.up] - bi, bj + p.cost_above[pair.down]);
  double at = 0, slope = -pair.gain;
  std::vector<std::pair<double, double>> kinks;  // where, and how much the slope jumps
  if (bi < 0) kinks.emplace_back(-bi, 2 * p.tube[pair.up]);
  if (bj > 0) kinks.emplace_back(bj, 2 * p.tube[pair.down]);
  std::sort(kinks.begin(), kinks.end());
  kinks.emplace_back(kInfinity, 0.0);
  for (const auto& [where, jump] : kinks) {
    const double root = curvature > 0 ? at - slope / curvature : kInfinity;
    if (root <= std::min(where, end)) return root;
    if (where >= end) return end;
    slope += curvature * (where - at) + jump;
    at = where;
    if (slope >= 0) return at;
  }
  return end;
}

}  // namespace

DenseColumns::DenseColumns(const ColMatrix& q) : q_(q), diagonal_(static_cast<std::size_t>(q.cols())) {
  for (std::size_t i = 0; i < diagonal_.size(); ++i)
    diagonal_[i] = q(static_cast<Index>(i), static_cast<Index>(i));
}

Vector multiply(KernelColumns& q, std::span<const double> beta) {
  const auto n = static_cast<Index>(beta.size());
  Vector out = Vector::Zero(n);
  for (std::size_t i = 0; i < beta.size(); ++i) {
    if (beta[i] != 0) out += beta[i] * Eigen::Map<const Vector>(q.column(i), n);
  }
  return out;
}

void run_smo(const TubeTerms& p, KernelColumns& q, std::int64_t limit,
             const std::function<bool(const SmoState&)>& enough, SmoState& s) {
  const auto between = static_cast<std::int64_t>(std::max<std::size_t>(p.size(), 200));
  while (s.steps < limit) {
    if (s.steps % between == 0 && enough(s)) return;
    const Pair pair = choose(p, q, s);
    if (!(pair.gain > 0)) return;
    const double step = step_length(p, s, pair);
    double& up = s.beta[pair.up];
    double& down = s.beta[pair.down];
    const double before_up = up, before_down = down;
    up = step == -up ? 0.0 : std::min(up + step, p.cost_below[pair.up]);
    down = step == down ? 0.0 : std::max(down - step, -p.cost_above[pair.down]);
    if (up == before_up && down == before_down) return;  // less than rounding
    const auto n = static_cast<Index>(p.size());
    const Eigen::Map<const Vector> rises(pair.column, n), falls(q.column(pair.down), n);
    s.gradient += step * (rises - falls);
    ++s.steps;
  }
}

}  // namespace bagwise::internal
