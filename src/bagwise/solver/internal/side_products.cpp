#include "bagwise/solver/internal/side_products.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace bagwise::internal {
namespace {

using Array = Eigen::ArrayXd;
using Index = Eigen::Index;

}  // namespace

SideLosses side_losses(const TubeProblem& p) {
  const auto n = static_cast<Index>(p.size());
  const Eigen::Map<const Array> target(p.target.data(), n), tube(p.tube.data(), n);
  SideLosses out;
  out.cost = to_sides({p.cost_above, p.cost_below});
  out.constant.resize(2 * n);
  out.constant << tube + target, tube - target;
  return out;
}

Array to_sides(const TubeMultipliers& m) {
  const auto n = static_cast<Index>(m.above.size());
  Array out(2 * n);
  out << Eigen::Map<const Array>(m.above.data(), n), Eigen::Map<const Array>(m.below.data(), n);
  return out;
}

TubeMultipliers to_multipliers(const Array& sides) {
  const Index n = sides.size() / 2;
  return {{sides.data(), sides.data() + n}, {sides.data() + n, sides.data() + 2 * n}};
}

Array sum_by_task(const TubeProblem& p, const Array& sides) {
  const auto n = static_cast<Index>(p.size());
  Array sum = Array::Zero(static_cast<Index>(p.tasks()));
  for (Index i = 0; i < n; ++i) {
    sum[static_cast<Index>(p.task_of(static_cast<std::size_t>(i)))] += sides[i] + sides[n + i];
  }
  return sum;
}

Array side_products(const TubeRows& rows, const TubePlanes& x) {
  const TubeProblem& p = rows.problem();
  const auto n = static_cast<Index>(p.size());
  std::vector<Vector> w(p.tasks());
  for (std::size_t t = 0; t < p.tasks(); ++t) w[t] = x.weights(t);
  Vector z;
  rows.multiply(w, z);
  Array out(2 * n);
  for (Index i = 0; i < n; ++i) {
    const double f = z[i] + x.bias[p.task_of(static_cast<std::size_t>(i))];
    out[i] = f;
    out[n + i] = -f;
  }
  if (p.shifted()) {
    std::vector<double> g(p.tasks());
    for (std::size_t t = 0; t < p.tasks(); ++t) g[t] = p.direction[t].dot(w[t]);
    for (Index i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      out[i] += p.shift_above[k] * g[p.task_of(k)];
      out[n + i] += p.shift_below[k] * g[p.task_of(k)];
    }
  }
  return out;
}

TubePlanes pull_sides(const TubeRows& rows, const Array& c) {
  const TubeProblem& p = rows.problem();
  const auto n = static_cast<Index>(p.size());
  const Vector difference = c.head(n) - c.tail(n);
  TubePlanes out;
  out.own = rows.multiply_transposed(difference);
  out.bias.assign(p.tasks(), 0.0);
  std::vector<double> along(p.tasks(), 0.0);
  for (Index i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    out.bias[p.task_of(k)] += difference[i];
    if (p.shifted()) along[p.task_of(k)] += p.shift_above[k] * c[i] + p.shift_below[k] * c[n + i];
  }
  out.shared = Vector::Zero(static_cast<Index>(p.features()));
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    if (along[t] != 0) out.own[t] += along[t] * p.direction[t];
    out.shared += out.own[t];
    if (!std::isfinite(p.lambda[t])) out.own[t].setZero();
  }
  return out;
}

TubePlanes lagrangian_gradient(const TubeRows& rows, const TubePlanes& x, const Array& c) {
  const TubeProblem& p = rows.problem();
  TubePlanes g = pull_sides(rows, c);
  g.shared += x.shared;
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    if (std::isfinite(p.lambda[t])) g.own[t] += p.lambda[t] * x.own[t];
  }
  return g;
}

void add_scaled(TubePlanes& x, double s, const TubePlanes& step) {
  x.shared += s * step.shared;
  for (std::size_t t = 0; t < x.own.size(); ++t) {
    x.own[t] += s * step.own[t];
    x.bias[t] += s * step.bias[t];
  }
}

std::vector<double> kernel_scales(const TubeProblem& p) {
  std::vector<double> scale(p.tasks(), 0.0), count(p.tasks(), 0.0);
  const auto square = [&](std::size_t i) {
    return std::visit(
        [i](const auto& rows) {
          double sum = 0;
          if constexpr (std::is_same_v<std::decay_t<decltype(rows)>, DenseView>) {
            for (const double v : rows.row(i)) sum += v * v;
          } else {
            const auto from = static_cast<std::size_t>(rows.start[i]);
            for (const double v :
                 rows.values.subspan(from, static_cast<std::size_t>(rows.start[i + 1]) - from)) {
              sum += v * v;
            }
          }
          return sum;
        },
        p.rows);
  };
  for (std::size_t i = 0; i < p.size(); ++i) {
    scale[p.task_of(i)] += square(i);
    count[p.task_of(i)] += 1;
  }
  for (std::size_t t = 0; t < p.tasks(); ++t) scale[t] *= (1 + 1 / p.lambda[t]) / std::max(count[t], 1.0);
  return scale;
}

}  // namespace bagwise::internal
