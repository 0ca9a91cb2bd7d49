// A textbook: L-BFGS with ten pairs and a line search by halving and doubling (weak Wolfe conditions).
#include <cmath>
#include <deque>

#include "bagwise/core/timing.h"
#include "mean_map/task.h"

namespace bagwise::bench {
namespace {

struct Pair {
  Vector step, change;
  double product = 0;
};

// The two-loop recursion: minus the inverse Hessian of the pairs times the gradient.
Vector direction(const std::deque<Pair>& pairs, const Vector& gradient) {
  Vector q = -gradient;
  std::vector<double> alpha(pairs.size());
  for (std::size_t k = pairs.size(); k-- > 0;) {
    alpha[k] = pairs[k].step.dot(q) / pairs[k].product;
    q -= alpha[k] * pairs[k].change;
  }
  if (!pairs.empty()) q *= pairs.back().product / pairs.back().change.squaredNorm();
  for (std::size_t k = 0; k < pairs.size(); ++k)
    q += (alpha[k] - pairs[k].change.dot(q) / pairs[k].product) * pairs[k].step;
  return q;
}

}  // namespace

Answer solve_lbfgs(const Task& task, double lambda) {
  const Stopwatch watch;
  const auto x = task.dense.view().matrix();
  const Eigen::Index d = x.cols();
  const Vector& c = task.linear;
  double passes = 0;
  const auto evaluate = [&](const Vector& w, Vector& gradient) {
    ++passes;
    const Eigen::ArrayXd z = (x * w.head(d)).array() + w[d];
    const Vector slope = z.tanh();
    gradient = lambda * w - c;
    gradient.head(d) += x.transpose() * slope;
    gradient[d] += slope.sum();
    return (z.abs() + (-2 * z.abs()).exp().log1p()).sum() - c.dot(w) + lambda / 2 * w.squaredNorm();
  };
  Vector w = Vector::Zero(d + 1), gradient, next_gradient;
  double value = evaluate(w, gradient);
  std::deque<Pair> pairs;
  int steps = 0;
  for (; steps < 5000 && gradient.norm() > 1e-8 * c.norm(); ++steps) {
    const Vector step = direction(pairs, gradient);
    double length = pairs.empty() ? 1 / gradient.norm() : 1, low = 0, high = 0;
    const double slope = gradient.dot(step);
    Vector next = w;
    double next_value = value;
    for (int k = 0; k < 60; ++k) {
      next = w + length * step;
      next_value = evaluate(next, next_gradient);
      if (!(next_value <= value + 1e-4 * length * slope + 1e-13 * std::abs(value))) {
        high = length;
      } else if (next_gradient.dot(step) < 0.9 * slope) {
        low = length;
      } else {
        break;
      }
      length = high > 0 ? (low + high) / 2 : 2 * low;
    }
    Pair pair{next - w, next_gradient - gradient};
    pair.product = pair.step.dot(pair.change);
    if (pair.product > 0) pairs.push_back(std::move(pair));
    if (pairs.size() > 10) pairs.pop_front();
    w = next;
    gradient = next_gradient;
    value = next_value;
  }
  return {w, watch.seconds(), steps, passes};
}

}  // namespace bagwise::bench
