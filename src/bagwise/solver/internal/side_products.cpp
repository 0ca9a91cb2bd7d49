#include "bagwise/solver/internal/side_products.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "bagwise/comm/over_ranks.h"
#include "bagwise/solver/internal/blocks.h"

namespace bagwise::internal {
namespace {

using Array = Eigen::ArrayXd;
using Index = Eigen::Index;

double squared_length(const RowsView& view, std::size_t i) {
  return std::visit(
      [i](const auto& rows) {
        std::span<const double> values;
        if constexpr (std::is_same_v<std::decay_t<decltype(rows)>, DenseView>) {
          values = rows.row(i);
        } else {
          const auto from = static_cast<std::size_t>(rows.start[i]);
          values = rows.values.subspan(from, static_cast<std::size_t>(rows.start[i + 1]) - from);
        }
        double sum = 0;
        for (const double v : values) sum += v * v;
        return sum;
      },
      view);
}

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

Array sum_by_task(const TubeProblem& p, const Array& sides, unsigned threads) {
  const auto n = static_cast<Index>(p.size());
  const Array zero = Array::Zero(static_cast<Index>(p.tasks()));
  Array sum = zero;
  const auto block = [&](std::size_t from, std::size_t to, Array& part) {
    for (std::size_t k = from; k < to; ++k) {
      const auto i = static_cast<Index>(k);
      part[static_cast<Index>(p.task_of(k))] += sides[i] + sides[n + i];
    }
  };
  for (const Array& part : parts_of_blocks(p.size(), threads, zero, block)) sum += part;
  return sum;
}

Array side_products(const TubeRows& rows, const TubePlanes& x) {
  const TubeProblem& p = rows.problem();
  const auto n = static_cast<Index>(p.size());
  std::vector<Vector> w(p.tasks());
  std::vector<double> g(p.tasks(), 0.0);
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    w[t] = x.weights(t);
    if (p.shifted()) g[t] = p.direction[t].dot(w[t]);
  }
  Vector z;
  rows.multiply(w, z);
  Array out(2 * n);
  over_blocks(p.size(), rows.threads(), [&](std::size_t from, std::size_t to) {
    for (std::size_t k = from; k < to; ++k) {
      const auto i = static_cast<Index>(k);
      const std::size_t t = p.task_of(k);
      const double f = z[i] + x.bias[t];
      out[i] = p.shifted() ? f + p.shift_above[k] * g[t] : f;
      out[n + i] = p.shifted() ? p.shift_below[k] * g[t] - f : -f;
    }
  });
  return out;
}

TubePlanes pull_sides(const TubeRows& rows, const Array& c) {
  const TubeProblem& p = rows.problem();
  const auto n = static_cast<Index>(p.size());
  struct Sums {
    double bias = 0, along = 0;
  };
  Vector difference(n);
  const auto parts = parts_of_blocks(p.size(), rows.threads(), std::vector<Sums>(p.tasks()),
                                     [&](std::size_t from, std::size_t to, std::vector<Sums>& part) {
                                       for (std::size_t k = from; k < to; ++k) {
                                         const auto i = static_cast<Index>(k);
                                         Sums& sums = part[p.task_of(k)];
                                         difference[i] = c[i] - c[n + i];
                                         sums.bias += difference[i];
                                         if (p.shifted())
                                           sums.along +=
                                               p.shift_above[k] * c[i] + p.shift_below[k] * c[n + i];
                                       }
                                     });
  TubePlanes out;
  out.own = rows.multiply_transposed(difference);
  out.bias.assign(p.tasks(), 0.0);
  out.shared = Vector::Zero(static_cast<Index>(p.features()));
  std::vector<double> along(p.tasks(), 0.0);
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    for (const auto& part : parts) {
      out.bias[t] += part[t].bias;
      along[t] += part[t].along;
    }
    sum_over_ranks(p.comm, {out.own[t].data(), p.features()});
  }
  sum_over_ranks(p.comm, out.bias);
  sum_over_ranks(p.comm, along);
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
  constexpr std::size_t kSample = 2048;  // rows per task: a scale needs no more
  std::vector<double> scale(p.tasks(), 0.0);
  std::vector<std::size_t> rows(p.tasks(), 0), met(p.tasks(), 0), used(p.tasks(), 0);
  for (std::size_t i = 0; i < p.size(); ++i) ++rows[p.task_of(i)];
  for (std::size_t i = 0; i < p.size(); ++i) {
    const std::size_t t = p.task_of(i);
    if (met[t]++ % (rows[t] / kSample + 1) != 0) continue;
    scale[t] += squared_length(p.rows, i);
    ++used[t];
  }
  sum_over_ranks(p.comm, scale);
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    used[t] = sum_over_ranks(p.comm, used[t]);
    scale[t] *= (1 + 1 / p.lambda[t]) / static_cast<double>(std::max<std::size_t>(used[t], 1));
  }
  const double largest = *std::max_element(scale.begin(), scale.end());
  for (double& s : scale) {
    if (!(s > 0)) s = largest > 0 ? largest : 1.0;  // no rows, or rows of zeros
  }
  return scale;
}

}  // namespace bagwise::internal
