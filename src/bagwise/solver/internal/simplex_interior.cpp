#include "bagwise/solver/internal/simplex_interior.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace bagwise::internal {
namespace {

using Index = Eigen::Index;

// How far from their bounds multipliers start, as a share of their mean: nearer ones take steps to come free.
constexpr double kFloor = 0.1;
// A new labeling starts with this share of an even weight.
constexpr double kFreshShare = 0.1;

// The longest step in [0, 1] that keeps x + step dx at or above 0.
double longest_step(const Vector& x, const Vector& dx) {
  double out = 1;
  for (Index i = 0; i < x.size(); ++i) {
    if (dx[i] < 0) out = std::min(out, -x[i] / dx[i]);
  }
  return out;
}

}  // namespace

SimplexInterior::SimplexInterior(const LabelledRows& rows, const HeldRows& held, double cost,
                                 SimplexPoint point, Index fresh, double tau)
    : rows_(rows),
      held_(held),
      cost_(cost),
      system_(rows),
      alpha_(std::move(point.alpha)),
      mu_(std::move(point.mu)) {
  const Index n = alpha_.size(), labelings = mu_.size();
  mu_ = mu_.cwiseMax(kFreshShare / static_cast<double>(labelings));
  mu_ /= mu_.sum();
  look();
  const double floor = kFloor * std::clamp(alpha_.mean(), std::numeric_limits<double>::min(), cost_ / 2);
  Vector excess = g_ * mu_ - Vector::Ones(n);
  for (Index j = 0; j < n; ++j) {
    const double low = excess[j] > 0 ? std::min(floor, tau / excess[j]) : floor;
    const double high = excess[j] < 0 ? std::min(floor, -tau / excess[j]) : floor;
    alpha_[j] = std::min(std::max(alpha_[j], low), cost_ - high);
  }
  look();
  // Both products at least tau, and the first equation holds.
  excess = g_ * mu_ - Vector::Ones(n);
  eta_ = (tau * (cost_ - alpha_.array()).inverse()).max(tau * alpha_.array().inverse() - excess.array());
  lambda_ = excess + eta_;
  const double top = q_.head(std::max<Index>(labelings - fresh, 1)).maxCoeff();
  t_ = top + std::max(tau * static_cast<double>(labelings), 1e-4 * top);
  r_ = (t_ - q_.array()).max(tau * mu_.array().inverse());
}

void SimplexInterior::look() {
  const RowMatrix planes = rows_.planes(alpha_) + held_.planes;
  q_ = planes.rowwise().squaredNorm() / 2;
  g_ = rows_.slopes(planes);
}

double SimplexInterior::tau() const {
  const Index count = 2 * alpha_.size() + mu_.size();
  return (alpha_.dot(lambda_) + (cost_ - alpha_.array()).matrix().dot(eta_) + mu_.dot(r_)) /
         static_cast<double>(count);
}

double SimplexInterior::relative_gap() const {
  const Index n = alpha_.size();
  const double products = tau() * static_cast<double>(2 * n + mu_.size());
  const Vector first = g_ * mu_ - Vector::Ones(n) - lambda_ + eta_;
  const Vector second = (q_ + r_).array() - t_;
  const double left = first.cwiseAbs().dot(alpha_) + second.cwiseAbs().dot(mu_);
  // The value at a solution is at least half the sum: else a smaller multiple of alpha would be better.
  const double sum = alpha_.sum() + held_.alpha_sum, value = std::max(sum - q_.maxCoeff(), sum / 2);
  return (products + left) / std::max(value, std::numeric_limits<double>::min());
}

bool SimplexInterior::factor() {
  Vector diagonal = lambda_.cwiseQuotient(alpha_) + eta_.cwiseQuotient((cost_ - alpha_.array()).matrix());
  if (!diagonal.allFinite()) return false;
  if (!system_.factor(mu_, diagonal)) {
    // Rows that are the same under every labeling, next to exact: a little more on the diagonal tells them
    // apart.
    diagonal.array() += 1e-12 * (diagonal.mean() + rows_.slopes(rows_.planes(alpha_)).cwiseAbs().maxCoeff() /
                                                       std::max(alpha_.maxCoeff(), 1e-300));
    if (!system_.factor(mu_, diagonal)) return false;
  }
  solved_g_ = g_;
  system_.solve_in_place(solved_g_);
  border_ = g_.transpose() * solved_g_;
  border_.diagonal() += r_.cwiseQuotient(mu_);
  const Eigen::LLT<ColMatrix> llt(border_);
  if (llt.info() != Eigen::Success) return false;
  border_ = llt.matrixL();
  return true;
}

SimplexInterior::Direction SimplexInterior::solve(const Targets& targets) const {
  const Index n = alpha_.size();
  const Eigen::ArrayXd alpha = alpha_, room = cost_ - alpha, lambda = lambda_, eta = eta_, mu = mu_, r = r_;
  const Vector first = g_ * mu_ - Vector::Ones(n) - lambda_ + eta_;
  ColMatrix alone =
      (-first.array() + targets.lambda.array() / alpha - lambda - (targets.eta.array() / room - eta))
          .matrix();
  system_.solve_in_place(alone);
  // What is left for mu and t: border dmu + dt = right, sum dmu = 1 - sum mu.
  const Vector right =
      ((q_ + r_).array() - t_ + targets.mu.array() / mu - r).matrix() + g_.transpose() * alone.col(0);
  const auto border = [&](const Vector& b) -> Vector {
    const auto lower = border_.triangularView<Eigen::Lower>();
    return lower.transpose().solve(lower.solve(b));
  };
  const Vector with = border(right), even = border(Vector::Ones(mu_.size()));
  Direction d;
  d.t = (with.sum() - (1 - mu_.sum())) / even.sum();
  d.mu = with - d.t * even;
  d.alpha = alone.col(0) - solved_g_ * d.mu;
  d.lambda = (targets.lambda.array() - lambda * d.alpha.array()) / alpha - lambda;
  d.eta = (targets.eta.array() + eta * d.alpha.array()) / room - eta;
  d.r = (targets.mu.array() - r * d.mu.array()) / mu - r;
  return d;
}

double SimplexInterior::longest(const Direction& d) const {
  const Vector room = (cost_ - alpha_.array()).matrix();
  return std::min({longest_step(alpha_, d.alpha), longest_step(room, -d.alpha),
                   longest_step(lambda_, d.lambda), longest_step(eta_, d.eta), longest_step(mu_, d.mu),
                   longest_step(r_, d.r)});
}

double SimplexInterior::tau_after(const Direction& d, double length) const {
  const Vector room = (cost_ - alpha_.array()).matrix();
  return ((alpha_ + length * d.alpha).dot(lambda_ + length * d.lambda) +
          (room - length * d.alpha).dot(eta_ + length * d.eta) +
          (mu_ + length * d.mu).dot(r_ + length * d.r)) /
         static_cast<double>(2 * alpha_.size() + mu_.size());
}

void SimplexInterior::move(const Direction& d, double length) {
  alpha_ += length * d.alpha;
  lambda_ += length * d.lambda;
  eta_ += length * d.eta;
  mu_ += length * d.mu;
  r_ += length * d.r;
  t_ += length * d.t;
}

bool SimplexInterior::step() {
  if (!factor()) return false;
  const Index n = alpha_.size(), labelings = mu_.size();
  const double now = tau();
  const Direction ahead = solve({Vector::Zero(n), Vector::Zero(n), Vector::Zero(labelings)});
  const double reach = longest(ahead);
  const double centring = std::clamp(std::pow(tau_after(ahead, reach) / now, 3), 1e-6, 1.0);
  // Second-order terms, as far as the predictor went.
  const double square = reach * reach;
  const Direction both =
      solve({Vector::Constant(n, centring * now) - square * ahead.alpha.cwiseProduct(ahead.lambda),
             Vector::Constant(n, centring * now) + square * ahead.alpha.cwiseProduct(ahead.eta),
             Vector::Constant(labelings, centring * now) - square * ahead.mu.cwiseProduct(ahead.r)});
  // Short of the boundary, and nearer to it the nearer the end is.
  const double value = std::abs(alpha_.sum() + held_.alpha_sum - q_.maxCoeff());
  const double share = std::clamp(1 - now * static_cast<double>(n) / std::max(value, now), 0.9, 0.9995);
  const double length = std::min(1.0, share * longest(both));
  if (!std::isfinite(length) || !both.alpha.allFinite() || !both.mu.allFinite() || length < 1e-12)
    return false;
  move(both, length);
  look();
  return q_.allFinite();
}

}  // namespace bagwise::internal
