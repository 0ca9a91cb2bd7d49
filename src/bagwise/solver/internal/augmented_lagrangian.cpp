#include "bagwise/solver/internal/augmented_lagrangian.h"

#include <algorithm>
#include <cmath>

#include "bagwise/comm/over_ranks.h"
#include "bagwise/solver/internal/blocks.h"

namespace bagwise::internal {
namespace {

using Array = Eigen::ArrayXd;
using Index = Eigen::Index;

constexpr double kBiasShare = 1e-8;  // rho, as a share of sigma: too little to slow the biases

auto part(const Array& values, std::size_t from, std::size_t to) {
  return values.segment(static_cast<Index>(from), static_cast<Index>(to - from));
}
auto part(Array& values, std::size_t from, std::size_t to) {
  return values.segment(static_cast<Index>(from), static_cast<Index>(to - from));
}

}  // namespace

Penalty kernel_penalty(const TubeProblem& p, double strength) {
  const std::vector<double> scale = kernel_scales(p);
  const auto n = static_cast<Index>(p.size());
  Penalty out{Array(2 * n), Array(static_cast<Index>(p.tasks()))};
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    out.rho[static_cast<Index>(t)] = strength / scale[t];
  }
  for (Index i = 0; i < n; ++i) {
    out.sigma[i] = out.sigma[n + i] = out.rho[static_cast<Index>(p.task_of(static_cast<std::size_t>(i)))];
  }
  out.rho *= kBiasShare;
  return out;
}

Penalty band_penalty(const TubeProblem& p, const std::vector<double>& width) {
  const auto n = static_cast<Index>(p.size());
  Penalty out{Array(2 * n), Array::Zero(static_cast<Index>(p.tasks()))};
  std::vector<double> rows(p.tasks(), 0.0);
  for (Index i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const std::size_t t = p.task_of(k);
    const double dearer = std::max(p.cost_above[k], p.cost_below[k]);
    out.sigma[i] = out.sigma[n + i] = (dearer > 0 ? dearer : 1.0) / width[t];
    out.rho[static_cast<Index>(t)] += out.sigma[i];
    rows[t] += 1;
  }
  sum_over_ranks(p.comm, {out.rho.data(), p.tasks()});
  sum_over_ranks(p.comm, rows);
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    out.rho[static_cast<Index>(t)] *= kBiasShare / std::max(rows[t], 1.0);
  }
  return out;
}

AugmentedLagrangian::AugmentedLagrangian(const TubeProblem& problem, unsigned threads,
                                         NewtonSystem::Road road)
    : p_(problem),
      rows_(problem, threads),
      system_(rows_, road),
      few_move_(road == NewtonSystem::Road::kSparse),
      loss_(side_losses(problem)) {}

template <class Term>
double AugmentedLagrangian::sum_sides(const Term& term) const {
  return sum_over_ranks(p_.comm, sum_blocks(sides(), rows_.threads(), term));
}

void AugmentedLagrangian::centre(Array alpha, const Penalty& penalty, const TubePlanes* moved) {
  const Array rho_before = penalty_.rho;
  alpha_ = std::move(alpha);
  penalty_ = penalty;
  if (moved != nullptr) {
    x_ = *moved;
    h_ = side_products(rows_, x_) - loss_.constant;
    a_.resize(h_.size());
    weight_.resize(h_.size());
  }
  constexpr int kAfresh = 8;
  const bool afresh = moved != nullptr || !few_move_ || ++centres_ % kAfresh == 0;
  if (afresh) {
    before_ = x_;
    update();
  } else {
    for (std::size_t t = 0; t < p_.tasks(); ++t) {
      gradient_.bias[t] -= rho_before[static_cast<Index>(t)] * (x_.bias[t] - before_.bias[t]);
    }
    before_ = x_;
    move_multipliers();
  }
}

void AugmentedLagrangian::update() {
  over_blocks(sides(), rows_.threads(), [&](std::size_t from, std::size_t to) {
    part(a_, from, to) = (part(alpha_, from, to) + part(penalty_.sigma, from, to) * part(h_, from, to))
                             .max(0.0)
                             .min(part(loss_.cost, from, to));
  });
  gradient_ = lagrangian_gradient(rows_, x_, a_);
  for (std::size_t t = 0; t < p_.tasks(); ++t) {
    gradient_.bias[t] += penalty_.rho[static_cast<Index>(t)] * (x_.bias[t] - before_.bias[t]);
  }
}

double AugmentedLagrangian::squared_gradient() const {
  double sum = gradient_.shared.squaredNorm();
  for (std::size_t t = 0; t < p_.tasks(); ++t) {
    if (std::isfinite(p_.lambda[t])) sum += gradient_.own[t].squaredNorm() / p_.lambda[t];
  }
  return sum;
}

double AugmentedLagrangian::squared_move() const {
  return sum_sides([&](std::size_t from, std::size_t to) {
    return ((part(a_, from, to) - part(alpha_, from, to)).square() / part(penalty_.sigma, from, to)).sum();
  });
}

// The planes of the multipliers are x - R''^-1 gradient. What keeps the multipliers from balancing is worth
// the bias per unit, as rows at the edge of their tube will take it over.
AugmentedLagrangian::Values AugmentedLagrangian::values() const {
  Values out;
  out.primal = x_.shared.squaredNorm() / 2;
  out.dual = -(x_.shared - gradient_.shared).squaredNorm() / 2;
  for (std::size_t t = 0; t < p_.tasks(); ++t) {
    const double excess =
        gradient_.bias[t] - penalty_.rho[static_cast<Index>(t)] * (x_.bias[t] - before_.bias[t]);
    out.dual += excess * x_.bias[t];
    if (!std::isfinite(p_.lambda[t])) continue;
    out.primal += p_.lambda[t] / 2 * x_.own[t].squaredNorm();
    out.dual -= p_.lambda[t] / 2 * (x_.own[t] - gradient_.own[t] / p_.lambda[t]).squaredNorm();
  }
  out.primal += sum_sides([&](std::size_t from, std::size_t to) {
    return (part(loss_.cost, from, to) * part(h_, from, to).max(0.0)).sum();
  });
  out.dual -= sum_sides([&](std::size_t from, std::size_t to) {
    return (part(a_, from, to) * part(loss_.constant, from, to)).sum();
  });
  return out;
}

bool AugmentedLagrangian::advance() {
  over_blocks(sides(), rows_.threads(), [&](std::size_t from, std::size_t to) {
    const auto a = part(a_, from, to);
    part(weight_, from, to) =
        ((a > 0) && (a < part(loss_.cost, from, to))).select(part(penalty_.sigma, from, to), 0.0);
  });
  if (!system_.factor(weight_, penalty_.rho)) return false;
  const NewtonSystem::Step step = system_.solve(gradient_);
  const double length = step_length(step.x, step.products);
  if (!(length > 0)) return false;
  add_scaled(x_, length, step.x);
  over_blocks(sides(), rows_.threads(), [&](std::size_t from, std::size_t to) {
    part(h_, from, to) += length * part(step.products, from, to);
  });
  if (few_move_) {
    update_by_moves(step.x, length);
  } else {
    update();
  }
  return true;
}

// Sets the multipliers as update() does, and the gradient by what that changed: most stay at their bounds,
// and their rows are left alone. Every few centres start afresh, so that rounding does not add up.
void AugmentedLagrangian::move_multipliers() {
  Array moved(a_.size());
  over_blocks(sides(), rows_.threads(), [&](std::size_t from, std::size_t to) {
    part(moved, from, to) = -part(a_, from, to);
    part(a_, from, to) = (part(alpha_, from, to) + part(penalty_.sigma, from, to) * part(h_, from, to))
                             .max(0.0)
                             .min(part(loss_.cost, from, to));
    part(moved, from, to) += part(a_, from, to);
  });
  add_scaled(gradient_, 1.0, pull_sides(rows_, moved));
}

// update() by what the step changed.
void AugmentedLagrangian::update_by_moves(const TubePlanes& step, double length) {
  move_multipliers();
  gradient_.shared += length * step.shared;
  for (std::size_t t = 0; t < p_.tasks(); ++t) {
    if (std::isfinite(p_.lambda[t])) gradient_.own[t] += length * p_.lambda[t] * step.own[t];
    gradient_.bias[t] += length * penalty_.rho[static_cast<Index>(t)] * step.bias[t];
  }
}

// Near the root of the slope along `step`, which is piecewise linear and only grows.
double AugmentedLagrangian::step_length(const TubePlanes& step, const Array& dh) const {
  double constant = x_.shared.dot(step.shared), linear = step.shared.squaredNorm();
  for (std::size_t t = 0; t < p_.tasks(); ++t) {
    if (std::isfinite(p_.lambda[t])) {
      constant += p_.lambda[t] * x_.own[t].dot(step.own[t]);
      linear += p_.lambda[t] * step.own[t].squaredNorm();
    }
    const double rho = penalty_.rho[static_cast<Index>(t)];
    constant += rho * (x_.bias[t] - before_.bias[t]) * step.bias[t];
    linear += rho * step.bias[t] * step.bias[t];
  }
  const auto slope = [&](double s) {
    return constant + s * linear + sum_sides([&](std::size_t from, std::size_t to) {
             const auto d = part(dh, from, to);
             return ((part(alpha_, from, to) + part(penalty_.sigma, from, to) * (part(h_, from, to) + s * d))
                         .max(0.0)
                         .min(part(loss_.cost, from, to)) *
                     d)
                 .sum();
           });
  };
  const double first = slope(0);
  if (!(first < 0)) return 0;
  const double enough = 0.1 * -first;
  double low = 0, low_slope = first, high = 1, high_slope = slope(1);
  for (int k = 0; k < 60 && high_slope < -enough; ++k) {  // still falling: go further
    low = high, low_slope = high_slope;
    high *= 2;
    high_slope = slope(high);
  }
  if (std::abs(high_slope) <= enough) return high;
  for (int k = 0; k < 60; ++k) {
    const double secant = low - low_slope * (high - low) / (high_slope - low_slope);
    const double s = std::clamp(secant, low + 0.05 * (high - low), high - 0.05 * (high - low));
    const double value = slope(s);
    if (std::abs(value) <= enough) return s;
    (value < 0 ? low : high) = s;
    (value < 0 ? low_slope : high_slope) = value;
  }
  return low;
}

}  // namespace bagwise::internal
