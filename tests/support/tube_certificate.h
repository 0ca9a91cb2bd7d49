// Optimality of tube regression proved by plain loops that share nothing with the solver.
#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "bagwise/solver/tube_regression.h"

namespace bagwise::test {

using DenseTable = std::vector<std::vector<double>>;

// The rows of a problem as plain numbers, whatever form they have.
inline DenseTable plain_rows(const RowsView& rows) {
  DenseTable out(row_count(rows), std::vector<double>(column_count(rows), 0.0));
  if (const auto* dense = std::get_if<DenseView>(&rows)) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      for (std::size_t j = 0; j < out[i].size(); ++j) out[i][j] = dense->values[i * dense->columns + j];
    }
  } else {
    const auto& csr = std::get<CsrView>(rows);
    for (std::size_t i = 0; i < out.size(); ++i) {
      for (auto k = csr.start[i]; k < csr.start[i + 1]; ++k) {
        out[i][static_cast<std::size_t>(csr.index[static_cast<std::size_t>(k)])] +=
            csr.values[static_cast<std::size_t>(k)];
      }
    }
  }
  return out;
}

struct NaiveTube {
  const TubeProblem& p;
  DenseTable rows = plain_rows(p.rows);
  std::size_t d = p.features();

  [[nodiscard]] std::size_t task(std::size_t i) const { return p.task.empty() ? 0 : p.task[i]; }
  [[nodiscard]] long double regulariser(const std::vector<double>& w0,
                                        const std::vector<std::vector<double>>& v) const {
    long double sum = 0;
    for (double x : w0) sum += static_cast<long double>(x) * x / 2;
    for (std::size_t t = 0; t < v.size(); ++t) {
      for (double x : v[t]) {
        if (std::isfinite(p.lambda[t])) sum += static_cast<long double>(p.lambda[t]) * x * x / 2;
      }
    }
    return sum;
  }

  [[nodiscard]] double primal(const TubePlanes& planes) const {
    std::vector<double> w0(planes.shared.data(), planes.shared.data() + planes.shared.size());
    std::vector<std::vector<double>> v;
    for (const Vector& own : planes.own) v.emplace_back(own.data(), own.data() + own.size());
    long double sum = regulariser(w0, v);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::size_t t = task(i);
      long double f = planes.bias[t], g = 0;
      for (std::size_t j = 0; j < d; ++j) {
        const long double w = static_cast<long double>(w0[j]) + v[t][j];
        f += w * rows[i][j];
        if (!p.direction.empty()) g += w * p.direction[t][static_cast<Eigen::Index>(j)];
      }
      const long double r = f - p.target[i];
      const long double s = p.shift_above.empty() ? 0.0 : p.shift_above[i];
      const long double s2 = p.shift_below.empty() ? 0.0 : p.shift_below[i];
      sum += p.cost_above[i] * std::max(0.0L, r + s * g - p.tube[i]);
      sum += p.cost_below[i] * std::max(0.0L, -r + s2 * g - p.tube[i]);
    }
    return static_cast<double>(sum);
  }

  [[nodiscard]] double dual(const TubeMultipliers& m) const {
    std::vector<std::vector<long double>> pulled(p.tasks(), std::vector<long double>(d, 0.0L));
    long double sum = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::size_t t = task(i);
      const long double beta = static_cast<long double>(m.below[i]) - m.above[i];
      const long double s = p.shift_above.empty() ? 0.0 : p.shift_above[i];
      const long double s2 = p.shift_below.empty() ? 0.0 : p.shift_below[i];
      for (std::size_t j = 0; j < d; ++j) {
        pulled[t][j] += beta * rows[i][j];
        if (!p.direction.empty()) {
          pulled[t][j] -= (s * m.above[i] + s2 * m.below[i]) * p.direction[t][static_cast<Eigen::Index>(j)];
        }
      }
      sum += p.target[i] * beta - p.tube[i] * (static_cast<long double>(m.below[i]) + m.above[i]);
    }
    for (std::size_t j = 0; j < d; ++j) {
      long double w0 = 0;
      for (std::size_t t = 0; t < p.tasks(); ++t) {
        w0 += pulled[t][j];
        if (std::isfinite(p.lambda[t]))
          sum -= pulled[t][j] * pulled[t][j] / (2 * static_cast<long double>(p.lambda[t]));
      }
      sum -= w0 * w0 / 2;
    }
    return static_cast<double>(sum);
  }

  // How far the dual value can be off where it is computed in doubles: sum_i beta_i x_i is rounded at its
  // largest terms, which may cancel, and enters by its square.
  [[nodiscard]] double rounding_of_dual(const TubeMultipliers& m) const {
    double out = 0;
    for (std::size_t j = 0; j < d; ++j) {
      long double sum = 0, size = 0;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const long double term = (static_cast<long double>(m.below[i]) - m.above[i]) * rows[i][j];
        sum += term;
        size += std::abs(term);
      }
      out += static_cast<double>(std::abs(sum) * size);
    }
    return std::numeric_limits<double>::epsilon() * out;
  }
};

// Fails unless the solution is feasible, its reported values are those of its point, and the gap is as small.
inline void expect_optimal(const TubeProblem& p, const TubeSolution& s, double gap) {
  const NaiveTube naive{p};
  std::vector<double> balance(p.tasks(), 0.0), total(p.tasks(), 0.0);
  for (std::size_t i = 0; i < p.size(); ++i) {
    REQUIRE(s.multipliers.above[i] >= 0);
    REQUIRE(s.multipliers.above[i] <= p.cost_above[i]);
    REQUIRE(s.multipliers.below[i] >= 0);
    REQUIRE(s.multipliers.below[i] <= p.cost_below[i]);
    balance[naive.task(i)] += s.multipliers.below[i] - s.multipliers.above[i];
    total[naive.task(i)] += s.multipliers.below[i] + s.multipliers.above[i];
  }
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    CHECK(std::abs(balance[t]) <= 1e-12 * total[t]);
    if (!std::isfinite(p.lambda[t])) CHECK(s.planes.own[t].isZero(0));
  }
  const double primal = naive.primal(s.planes), dual = naive.dual(s.multipliers);
  CHECK(s.report.primal == Approx(primal).epsilon(1e-9).margin(1e-300));
  const double rounding = naive.rounding_of_dual(s.multipliers);
  CHECK(s.report.dual == Approx(dual).epsilon(1e-9).margin(1e-9 * std::abs(primal) + rounding));
  CHECK(primal - dual <= 1.01 * gap * std::abs(primal));
  CHECK(s.report.relative_gap() <= gap);
  CHECK(s.report.termination == Termination::kConverged);
}

}  // namespace bagwise::test
