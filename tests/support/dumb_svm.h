// Support vector machines without bias by the dumbest means, for tests: long double and plain loops.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bagwise/linalg/rows.h"

namespace bagwise::test {

using Real = long double;
using SquareMatrix = std::vector<std::vector<Real>>;

inline SquareMatrix inner_products(const DenseView& rows) {
  SquareMatrix out(rows.rows, std::vector<Real>(rows.rows, 0));
  for (std::size_t i = 0; i < rows.rows; ++i) {
    for (std::size_t j = 0; j < rows.rows; ++j) {
      for (std::size_t c = 0; c < rows.columns; ++c)
        out[i][j] += static_cast<Real>(rows.row(i)[c]) * rows.row(j)[c];
    }
  }
  return out;
}

// |sum_j alpha_j y_j x_j|^2
inline Real squared_plane(const SquareMatrix& k, const std::vector<Real>& alpha,
                          const std::vector<std::int8_t>& y) {
  Real out = 0;
  for (std::size_t i = 0; i < alpha.size(); ++i) {
    for (std::size_t j = 0; j < alpha.size(); ++j) out += alpha[i] * alpha[j] * y[i] * y[j] * k[i][j];
  }
  return out;
}

// Both values of the problem of simplex_kernel.h, with u_s = stretch mu_s w_s.
struct Bracket {
  Real primal = 0, dual = 0;
};
inline Bracket values_at(const SquareMatrix& k, const std::vector<std::vector<std::int8_t>>& labels,
                         Real cost, const std::vector<Real>& alpha, const std::vector<Real>& mu,
                         Real stretch = 1) {
  Bracket out;
  Real largest = 0;
  std::vector<Real> f(alpha.size(), 0);
  for (std::size_t s = 0; s < labels.size(); ++s) {
    const auto& y = labels[s];
    const Real square = squared_plane(k, alpha, y);
    largest = std::max(largest, square);
    out.primal += stretch * stretch * mu[s] * square / 2;
    for (std::size_t i = 0; i < alpha.size(); ++i) {
      for (std::size_t j = 0; j < alpha.size(); ++j) f[i] += mu[s] * y[i] * y[j] * alpha[j] * k[i][j];
    }
  }
  for (std::size_t i = 0; i < alpha.size(); ++i) {
    out.primal += cost * std::max(Real{0}, 1 - stretch * f[i]);
    out.dual += alpha[i];
  }
  out.dual -= largest / 2;
  return out;
}

// One multiplier after the other, each set to its best value, until nothing moves.
inline void descend(const SquareMatrix& q, Real cost, int sweeps, std::vector<Real>& alpha) {
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    Real moved = 0;
    for (std::size_t i = 0; i < alpha.size(); ++i) {
      Real slope = -1;
      for (std::size_t j = 0; j < alpha.size(); ++j) slope += q[i][j] * alpha[j];
      const Real best = q[i][i] > 0 ? alpha[i] - slope / q[i][i] : cost;
      const Real next = std::clamp(best, Real{0}, cost);
      moved = std::max(moved, std::abs(next - alpha[i]));
      alpha[i] = next;
    }
    if (moved <= 1e-15L * cost) return;
  }
}

// mu_s becomes its share of mu_s |w_s| again and again, which never raises the value.
inline Bracket dumb_simplex_kernel(const SquareMatrix& k, const std::vector<std::vector<std::int8_t>>& labels,
                                   Real cost, int rounds = 3000) {
  const std::size_t n = k.size();
  std::vector<Real> alpha(n, 0), mu(labels.size(), Real{1} / static_cast<Real>(labels.size()));
  Bracket best{1e300L, -1e300L};
  for (int round = 0; round < (labels.size() == 1 ? 1 : rounds); ++round) {
    SquareMatrix q(n, std::vector<Real>(n, 0));
    for (std::size_t s = 0; s < labels.size(); ++s) {
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) q[i][j] += mu[s] * labels[s][i] * labels[s][j] * k[i][j];
      }
    }
    descend(q, cost, labels.size() == 1 ? 200000 : 300, alpha);
    const Bracket now = values_at(k, labels, cost, alpha, mu);
    best = {std::min(best.primal, now.primal), std::max(best.dual, now.dual)};
    if (best.primal - best.dual <= 1e-9L * best.primal) break;
    Real sum = 0;
    for (std::size_t s = 0; s < labels.size(); ++s) {
      mu[s] *= std::sqrt(squared_plane(k, alpha, labels[s]));
      sum += mu[s];
    }
    for (Real& m : mu) m /= sum;
  }
  return best;
}

}  // namespace bagwise::test
