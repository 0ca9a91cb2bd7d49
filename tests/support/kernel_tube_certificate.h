// Optimality of the dense-kernel form proved by plain loops that share nothing with the solver.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "bagwise/solver/kernel_tube.h"
#include "support/tube_certificate.h"
#include "support/tube_problems.h"

namespace bagwise::test {

inline double entry(const ColMatrix& matrix, std::size_t i, std::size_t j) {
  return matrix(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
}

// The terms of a problem of known rows, with the inner products of those.
inline KernelTubeProblem kernel_of(const TubeProblem& problem) {
  KernelTubeProblem out;
  static_cast<TubeTerms&>(out) = problem;
  const auto rows = plain_rows(problem.rows);
  const auto n = static_cast<Eigen::Index>(rows.size());
  out.kernel.resize(n, n);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows.size(); ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < rows[i].size(); ++k) sum += rows[i][k] * rows[j][k];
      out.kernel(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = sum;
    }
  }
  return out;
}

struct KernelValues {
  double primal = 0, dual = 0;
  double noise = 0;  // about what rounding of beta and of products in double precision may change in either
};

// Fails unless beta is feasible and values and report are those of beta, the biases and K.
inline KernelValues expect_certificate(const KernelTubeProblem& p, const KernelTubeSolution& s) {
  REQUIRE(s.beta.size() == p.size());
  REQUIRE(s.values.size() == p.size());
  REQUIRE(s.bias.size() == p.tasks());
  std::vector<long double> balance(p.tasks(), 0.0L), total(p.tasks(), 0.0L);
  long double square = 0, loss = 0, linear = 0, noise = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const std::size_t t = p.task.empty() ? 0 : p.task[i];
    const double b = s.beta[i];
    REQUIRE(b >= -p.cost_above[i]);
    REQUIRE(b <= p.cost_below[i]);
    balance[t] += b;
    total[t] += std::abs(b);
    long double f = 0, size = 0;
    for (std::size_t j = 0; j < p.size(); ++j) {
      const bool same = p.task.empty() || p.task[i] == p.task[j];
      const long double term =
          s.beta[j] * (1.0L + (same ? 1.0L / p.lambda[t] : 0.0L)) * entry(p.kernel, i, j);
      f += term;
      size += std::abs(term);
    }
    square += b * f / 2;
    f += s.bias[t];
    size += std::abs(s.bias[t]) + std::abs(p.target[i]);
    CHECK(std::abs(static_cast<double>(s.values[i] - f)) <= 1e-14 * static_cast<double>(size));
    const long double r = f - p.target[i];
    loss += p.cost_above[i] * std::max(0.0L, r - p.tube[i]);
    loss += p.cost_below[i] * std::max(0.0L, -r - p.tube[i]);
    linear += static_cast<long double>(p.target[i]) * b - static_cast<long double>(p.tube[i]) * std::abs(b);
    noise += 1e-14L * size * (std::abs(b) + p.cost_above[i] + p.cost_below[i]);
  }
  for (std::size_t t = 0; t < p.tasks(); ++t)
    CHECK(std::abs(static_cast<double>(balance[t])) <= 1e-14 * static_cast<double>(total[t]));
  const KernelValues out{static_cast<double>(square + loss), static_cast<double>(linear - square),
                         static_cast<double>(noise)};
  CHECK(std::abs(s.report.primal - out.primal) <= out.noise + 1e-13 * std::abs(out.primal));
  CHECK(std::abs(s.report.dual - out.dual) <= out.noise + 1e-13 * std::abs(out.primal));
  CHECK(out.dual <= out.primal + out.noise);
  return out;
}

// And unless the gap is as small, and said to be.
inline void expect_optimal(const KernelTubeProblem& p, const KernelTubeSolution& s, double gap) {
  const KernelValues v = expect_certificate(p, s);
  CHECK(v.primal - v.dual <= gap * std::abs(v.primal) + 2 * v.noise);
  CHECK(s.report.relative_gap() <= gap);
  CHECK(s.report.termination == Termination::kConverged);
}

// The same where no more can be asked than that the gap is that of rounding, and is reported as it is.
inline void expect_optimal_to_rounding(const KernelTubeProblem& p, const KernelTubeSolution& s, double gap) {
  const KernelValues v = expect_certificate(p, s);
  CHECK(s.report.gap() <= gap * std::abs(v.primal) + v.noise);
  CHECK(s.report.termination ==
        (s.report.relative_gap() <= gap ? Termination::kConverged : Termination::kIterationLimit));
}

}  // namespace bagwise::test
