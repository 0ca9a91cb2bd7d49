#include "bagwise/solver/internal/certificate.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bagwise/comm/over_ranks.h"
#include "bagwise/linalg/compensated.h"
#include "bagwise/solver/internal/best_bias.h"
#include "bagwise/solver/internal/blocks.h"
#include "bagwise/solver/internal/side_products.h"

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

// Adds term(i, sum) of every row of all ranks to a compensated sum, in blocks.
template <class Term>
CompensatedSum sum_rows(const TubeProblem& p, unsigned threads, const Term& term) {
  CompensatedSum sum;
  const auto block = [&](std::size_t from, std::size_t to, CompensatedSum& part) {
    for (std::size_t i = from; i < to; ++i) term(i, part);
  };
  for (const auto& part : internal::parts_of_blocks(p.size(), threads, CompensatedSum{}, block))
    sum.add(part);
  return sum_over_ranks(p.comm, sum);
}

internal::Unbiased unbiased(const TubeProblem& p, const TubePlanes& planes, unsigned threads) {
  const auto w = task_weights(p, planes);
  internal::Unbiased out{{}, along_directions(p, w)};
  TubeRows(p, threads).multiply(w, out.z);
  return out;
}

double primal_value(const TubeProblem& p, const TubePlanes& planes, const internal::Unbiased& rows,
                    unsigned threads) {
  CompensatedSum loss = sum_rows(p, threads, [&](std::size_t i, CompensatedSum& sum) {
    const std::size_t t = p.task_of(i);
    const double r = rows.z[as_index(i)] + planes.bias[t] - p.target[i], g = rows.along[t];
    sum.add(p.cost_above[i] * std::max(0.0, r + at(p.shift_above, i) * g - p.tube[i]));
    sum.add(p.cost_below[i] * std::max(0.0, -r + at(p.shift_below, i) * g - p.tube[i]));
  });
  loss.add(regulariser(p, planes));
  return loss.value();
}

double dual_value(const TubeProblem& p, const TubeMultipliers& m, const TubePlanes& planes,
                  unsigned threads) {
  CompensatedSum value = sum_rows(p, threads, [&](std::size_t i, CompensatedSum& sum) {
    sum.add(p.target[i] * (m.below[i] - m.above[i]));
    sum.add(-p.tube[i] * (m.below[i] + m.above[i]));
  });
  value.add(-regulariser(p, planes));
  return value.value();
}

}  // namespace

double primal_value(const TubeProblem& problem, const TubePlanes& planes, unsigned threads) {
  return primal_value(problem, planes, unbiased(problem, planes, threads), threads);
}

double dual_value(const TubeProblem& problem, const TubeMultipliers& multipliers) {
  return dual_value(problem, multipliers, internal::planes_of(problem, multipliers, 1), 1);
}

namespace internal {

void make_feasible(const TubeProblem& p, TubeMultipliers& m, unsigned threads) {
  over_blocks(p.size(), threads, [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      m.above[i] = std::clamp(m.above[i], 0.0, p.cost_above[i]);
      m.below[i] = std::clamp(m.below[i], 0.0, p.cost_below[i]);
    }
  });
  struct Totals {
    CompensatedSum above, below;
  };
  // Twice: the second pass takes away what rounding left of the first.
  for (int pass = 0; pass < 2; ++pass) {
    const auto parts = parts_of_blocks(p.size(), threads, std::vector<Totals>(p.tasks()),
                                       [&](std::size_t from, std::size_t to, std::vector<Totals>& part) {
                                         for (std::size_t i = from; i < to; ++i) {
                                           part[p.task_of(i)].above.add(m.above[i]);
                                           part[p.task_of(i)].below.add(m.below[i]);
                                         }
                                       });
    // Too much `below`: shrink it where it is positive, by shares; too much `above`: likewise.
    std::vector<double> keep_above(p.tasks(), 1.0), keep_below(p.tasks(), 1.0);
    bool balanced = true;
    for (std::size_t t = 0; t < p.tasks(); ++t) {
      Totals total;
      for (const auto& part : parts) {
        total.above.add(part[t].above);
        total.below.add(part[t].below);
      }
      total = {sum_over_ranks(p.comm, total.above), sum_over_ranks(p.comm, total.below)};
      CompensatedSum difference = total.below;
      difference.add({-total.above.high, -total.above.low});
      const double excess = difference.value();
      if (excess == 0) continue;
      balanced = false;
      const double large = (excess > 0 ? total.below : total.above).value();
      (excess > 0 ? keep_below : keep_above)[t] = std::max(0.0, 1 - std::abs(excess) / large);
    }
    if (balanced) break;
    over_blocks(p.size(), threads, [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        m.above[i] *= keep_above[p.task_of(i)];
        m.below[i] *= keep_below[p.task_of(i)];
      }
    });
  }
}

TubePlanes planes_of(const TubeProblem& p, const TubeMultipliers& m, unsigned threads) {
  TubePlanes pulled = pull_sides(TubeRows(p, threads), to_sides(m));
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    if (std::isfinite(p.lambda[t])) pulled.own[t] /= -p.lambda[t];
  }
  pulled.shared = -pulled.shared;
  pulled.bias.assign(p.tasks(), 0.0);
  return pulled;
}

void set_best_biases(const TubeProblem& p, TubePlanes& planes, unsigned threads) {
  planes.bias = best_biases(p, unbiased(p, planes, threads), threads);
}

void shrink_multipliers(const TubeProblem& problem, TubeSolution& solution, unsigned threads) {
  TubeMultipliers& m = solution.multipliers;
  const double curved = regulariser(problem, planes_of(problem, m, threads));
  const double linear = solution.report.dual + curved;
  const double part = std::isfinite(curved) && linear > 0 ? std::min(1.0, linear / (2 * curved)) : 0.0;
  for (auto* side : {&m.above, &m.below}) {
    for (double& a : *side) a *= part;
  }
  make_feasible(problem, m, threads);
  solution.report.dual = dual_value(problem, m, planes_of(problem, m, threads), threads);
}

TubeSolution certify(const TubeProblem& problem, TubeMultipliers multipliers, const TubePlanes* planes,
                     const TubeOptions& options) {
  TubeSolution out;
  make_feasible(problem, multipliers, options.threads);
  TubePlanes rebuilt = planes_of(problem, multipliers, options.threads);
  out.report.dual = dual_value(problem, multipliers, rebuilt, options.threads);
  out.report.primal = std::numeric_limits<double>::quiet_NaN();
  out.multipliers = std::move(multipliers);
  const auto take_if_better = [&](TubePlanes candidate) {
    for (std::size_t t = 0; t < problem.tasks(); ++t) {
      if (!std::isfinite(problem.lambda[t])) candidate.own[t].setZero();
    }
    const Unbiased rows = unbiased(problem, candidate, options.threads);
    candidate.bias = best_biases(problem, rows, options.threads);
    const double value = primal_value(problem, candidate, rows, options.threads);
    if (std::isnan(out.report.primal) || value < out.report.primal) {
      out.report.primal = value;
      out.planes = std::move(candidate);
    }
  };
  if (planes != nullptr) take_if_better(*planes);
  if (!(out.report.relative_gap() <= options.gap_tolerance)) take_if_better(std::move(rebuilt));
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
