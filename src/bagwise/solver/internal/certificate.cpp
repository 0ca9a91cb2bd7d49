#include "bagwise/solver/internal/certificate.h"

#include <algorithm>
#include <cmath>

#include "bagwise/linalg/compensated.h"
#include "bagwise/solver/internal/tube_rows.h"

namespace bagwise {
namespace {

using internal::TubeRows;

Eigen::Index as_index(std::size_t n) { return static_cast<Eigen::Index>(n); }
double at(const std::vector<double>& values, std::size_t i) { return values.empty() ? 0.0 : values[i]; }

// 1/2 |w_0|^2 + sum_t lambda_t/2 |v_t|^2, with v_t = 0 where lambda_t is infinite.
double regulariser(const TubeProblem& p, const TubePlanes& planes) {
  CompensatedSum sum;
  sum.add(planes.shared.squaredNorm() / 2);
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    if (std::isfinite(p.lambda[t])) sum.add(p.lambda[t] / 2 * planes.own[t].squaredNorm());
  }
  return sum.value();
}

std::vector<Vector> task_weights(const TubeProblem& p, const TubePlanes& planes) {
  std::vector<Vector> w(p.tasks());
  for (std::size_t t = 0; t < p.tasks(); ++t) w[t] = planes.weights(t);
  return w;
}

// u_t . w_t, or 0 without shifts.
std::vector<double> along_directions(const TubeProblem& p, const std::vector<Vector>& w) {
  std::vector<double> g(p.tasks(), 0.0);
  if (p.shifted()) {
    for (std::size_t t = 0; t < p.tasks(); ++t) g[t] = p.direction[t].dot(w[t]);
  }
  return g;
}

double value_of(const TubeProblem& p, const TubePlanes& planes, unsigned threads) {
  const auto w = task_weights(p, planes);
  const auto g = along_directions(p, w);
  Vector z;
  TubeRows(p, threads).multiply(w, z);
  CompensatedSum loss;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const std::size_t t = p.task_of(i);
    const double r = z[as_index(i)] + planes.bias[t] - p.target[i];
    loss.add(p.cost_above[i] * std::max(0.0, r + at(p.shift_above, i) * g[t] - p.tube[i]));
    loss.add(p.cost_below[i] * std::max(0.0, -r + at(p.shift_below, i) * g[t] - p.tube[i]));
  }
  loss.add(regulariser(p, planes));
  return loss.value();
}

double dual_value(const TubeProblem& p, const TubeMultipliers& m, const TubePlanes& planes) {
  CompensatedSum sum;
  for (std::size_t i = 0; i < p.size(); ++i) {
    sum.add(p.target[i] * (m.below[i] - m.above[i]));
    sum.add(-p.tube[i] * (m.below[i] + m.above[i]));
  }
  sum.add(-regulariser(p, planes));
  return sum.value();
}

}  // namespace

double primal_value(const TubeProblem& problem, const TubePlanes& planes, unsigned threads) {
  return value_of(problem, planes, threads);
}

double dual_value(const TubeProblem& problem, const TubeMultipliers& multipliers) {
  return dual_value(problem, multipliers, internal::planes_of(problem, multipliers, 1));
}

namespace internal {

void make_feasible(const TubeProblem& p, TubeMultipliers& m) {
  const std::size_t n = p.size();
  for (std::size_t i = 0; i < n; ++i) {
    m.above[i] = std::clamp(m.above[i], 0.0, p.cost_above[i]);
    m.below[i] = std::clamp(m.below[i], 0.0, p.cost_below[i]);
  }
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    // Twice: the second pass takes away what rounding left of the first.
    for (int pass = 0; pass < 2; ++pass) {
      CompensatedSum sum;
      for (std::size_t i = 0; i < n; ++i) {
        if (p.task_of(i) != t) continue;
        sum.add(m.below[i]);
        sum.add(-m.above[i]);
      }
      const double excess = sum.value();
      if (excess == 0) break;
      // Too much `below`: shrink it where it is positive, by shares; too much `above`: likewise.
      auto& large = excess > 0 ? m.below : m.above;
      CompensatedSum total;
      for (std::size_t i = 0; i < n; ++i) {
        if (p.task_of(i) == t) total.add(large[i]);
      }
      const double keep = std::max(0.0, 1 - std::abs(excess) / total.value());
      for (std::size_t i = 0; i < n; ++i) {
        if (p.task_of(i) == t) large[i] *= keep;
      }
    }
  }
}

TubePlanes planes_of(const TubeProblem& p, const TubeMultipliers& m, unsigned threads) {
  Vector c(as_index(p.size()));
  for (std::size_t i = 0; i < p.size(); ++i) c[as_index(i)] = m.below[i] - m.above[i];
  auto pulled = TubeRows(p, threads).multiply_transposed(c);
  if (p.shifted()) {
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double along = p.shift_above[i] * m.above[i] + p.shift_below[i] * m.below[i];
      if (along != 0) pulled[p.task_of(i)] -= along * p.direction[p.task_of(i)];
    }
  }
  TubePlanes planes;
  planes.shared = Vector::Zero(as_index(p.features()));
  planes.bias.assign(p.tasks(), 0.0);
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    planes.shared += pulled[t];
    planes.own.push_back(std::isfinite(p.lambda[t]) ? Vector(pulled[t] / p.lambda[t])
                                                    : Vector::Zero(as_index(p.features())));
  }
  return planes;
}

void set_best_biases(const TubeProblem& p, TubePlanes& planes, unsigned threads) {
  const auto w = task_weights(p, planes);
  const auto g = along_directions(p, w);
  Vector z;
  TubeRows(p, threads).multiply(w, z);
  struct Kink {
    double at, slope;  // the loss grows by `slope` per unit more of bias beyond `at`
    bool operator<(const Kink& other) const { return at < other.at; }
  };
  constexpr double kInside = 1e-12;  // far enough from a kink for rounding not to cross it
  std::vector<std::vector<Kink>> kinks(p.tasks());
  std::vector<CompensatedSum> slope(p.tasks());
  for (std::size_t i = 0; i < p.size(); ++i) {
    const std::size_t t = p.task_of(i);
    const double rest = p.target[i] - z[as_index(i)];
    if (p.cost_above[i] > 0)
      kinks[t].push_back({rest + p.tube[i] - at(p.shift_above, i) * g[t], p.cost_above[i]});
    if (p.cost_below[i] > 0) {
      kinks[t].push_back({rest - p.tube[i] + at(p.shift_below, i) * g[t], p.cost_below[i]});
      slope[t].add(-p.cost_below[i]);
    }
  }
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    if (kinks[t].empty()) continue;
    std::sort(kinks[t].begin(), kinks[t].end());
    const double noise = 1e-13 * std::abs(slope[t].value());
    if (slope[t].value() == 0) {  // nothing pulls up: any bias below all kinks is best
      planes.bias[t] = kinks[t][0].at - kInside * (1 + std::abs(kinks[t][0].at));
      continue;
    }
    std::size_t k = 0;
    while (k + 1 < kinks[t].size() && slope[t].value() + kinks[t][k].slope < -noise) {
      slope[t].add(kinks[t][k++].slope);
    }
    // The slope turns from negative at kink k. If it is zero after it, the loss is flat up to kink k + 1.
    slope[t].add(kinks[t][k].slope);
    const bool flat = std::abs(slope[t].value()) <= noise;
    planes.bias[t] = kinks[t][k].at;
    if (flat && k + 1 < kinks[t].size()) planes.bias[t] = (kinks[t][k].at + kinks[t][k + 1].at) / 2;
    if (flat && k + 1 == kinks[t].size()) planes.bias[t] += kInside * (1 + std::abs(kinks[t][k].at));
  }
}

TubeSolution certify(const TubeProblem& problem, TubeMultipliers multipliers, const TubePlanes* planes,
                     const TubeOptions& options) {
  TubeSolution out;
  make_feasible(problem, multipliers);
  out.planes = planes_of(problem, multipliers, options.threads);
  out.report.dual = dual_value(problem, multipliers, out.planes);
  set_best_biases(problem, out.planes, options.threads);
  out.report.primal = primal_value(problem, out.planes, options.threads);
  if (planes != nullptr) {
    TubePlanes other = *planes;
    set_best_biases(problem, other, options.threads);
    const double value = primal_value(problem, other, options.threads);
    if (value < out.report.primal || std::isnan(out.report.primal)) {
      out.report.primal = value;
      out.planes = std::move(other);
    }
  }
  out.multipliers = std::move(multipliers);
  if (!std::isfinite(out.report.primal) || !std::isfinite(out.report.dual)) {
    out.report.termination = Termination::kNumericalFault;
  } else {
    out.report.termination = out.report.relative_gap() <= options.gap_tolerance
                                 ? Termination::kConverged
                                 : Termination::kIterationLimit;
  }
  return out;
}

}  // namespace internal
}  // namespace bagwise
