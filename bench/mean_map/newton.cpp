// A textbook: Newton's method with halving, the Hessian formed and factored by Eigen in every step.
#include <Eigen/Cholesky>
#include <cmath>

#include "bagwise/core/timing.h"
#include "mean_map/task.h"

namespace bagwise::bench {
namespace {

double loss(const Vector& z) { return (z.array().abs() + (-2 * z.array().abs()).exp().log1p()).sum(); }

}  // namespace

Answer solve_newton(const Task& task, double lambda) {
  const Stopwatch watch;
  const auto n = static_cast<Eigen::Index>(task.dense.rows()),
             d = static_cast<Eigen::Index>(task.dense.columns());
  RowMatrix x(n, d + 1);
  x.leftCols(d) = task.dense.view().matrix();
  x.col(d).setOnes();
  const Vector& c = task.linear;
  Vector w = Vector::Zero(d + 1), z = Vector::Zero(n);
  double value = loss(z);
  int steps = 0;
  for (; steps < 1000; ++steps) {
    const Vector slope = z.array().tanh();
    const Vector gradient = x.transpose() * slope - c + lambda * w;
    if (gradient.norm() <= 1e-8 * c.norm()) break;
    const Vector curvature = 1 / z.array().cosh().square();
    ColMatrix hessian = ColMatrix::Zero(d + 1, d + 1);
    const RowMatrix weighted = curvature.cwiseSqrt().asDiagonal() * x;
    hessian.selfadjointView<Eigen::Lower>().rankUpdate(weighted.transpose());
    hessian.diagonal().array() += lambda;
    const Vector step = -hessian.selfadjointView<Eigen::Lower>().llt().solve(gradient);
    const Vector along = x * step;
    double length = 1, next = value;
    for (int k = 0; k < 60; ++k, length /= 2) {
      const Vector trial = w + length * step;
      next = loss(z + length * along) - c.dot(trial) + lambda / 2 * trial.squaredNorm();
      if (next <= value + 1e-4 * length * gradient.dot(step) + 1e-12 * std::abs(value)) break;
    }
    w += length * step;
    z = x * w;
    value = next;
  }
  return {w, watch.seconds(), steps, 0};
}

}  // namespace bagwise::bench
