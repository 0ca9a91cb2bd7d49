#include "tl_llp/task.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "bagwise/core/parallel.h"
#include "bagwise/core/random.h"
#include "bagwise/methods/inv_cal/inv_cal.h"
#include "support/generated_bags.h"

namespace bagwise::bench {
void make_task(GeneratorKind kind, std::size_t bag_size, Task& task) {
  GeneratedData data = timed_data(kind);
  Rng rng(1);
  TubeProblem& p = task.problem;
  p = {};
  p.lambda = {10, 1};
  task.means = DenseRows(data.target.features.columns());
  for (std::uint32_t t = 0; t < 2; ++t) {
    const ReducedBags reduced = reduce(in_bags(std::move(t == 0 ? data.source : data.target), bag_size, rng));
    const DenseRows means = reduced.sums.means();
    const TubeProblem one = inverse_calibration_problem(reduced, means.view(), {});
    std::copy_n(means.view().values, means.rows() * means.columns(), task.means.append(means.rows()));
    p.task.insert(p.task.end(), means.rows(), t);
    p.target.insert(p.target.end(), one.target.begin(), one.target.end());
  }
  p.rows = task.means.view();
  p.tube.assign(p.size(), 0.1);
  p.cost_above.assign(p.size(), 32);
  p.cost_below = p.cost_above;
}

void make_large_task(std::size_t bags, Task& task) {
  constexpr std::size_t kFeatures = 100, kBlock = 4096, kBagSize = 32;
  Rng rng(7);
  std::vector<Vector> plane(2, Vector(static_cast<Eigen::Index>(kFeatures)));
  for (Vector& w : plane) {
    for (double& x : w) x = rng.normal() / std::sqrt(static_cast<double>(kFeatures));
  }
  plane[1] = 0.8 * plane[0] + 0.6 * plane[1];
  TubeProblem& p = task.problem;
  p = {};
  p.lambda = {10, 1};
  p.task.resize(bags);
  p.target.resize(bags);
  p.cost_above.resize(bags);
  p.tube.assign(bags, 0.1);
  task.means = DenseRows(kFeatures);
  double* const values = task.means.append(bags);
  parallel_for((bags + kBlock - 1) / kBlock, 0, [&](std::size_t block) {
    Rng own(100 + block);
    for (std::size_t i = block * kBlock; i < std::min(bags, (block + 1) * kBlock); ++i) {
      const std::uint32_t t = i < bags / 4 * 3 ? 0 : 1;
      double score = 0.5 * own.normal();
      for (std::size_t j = 0; j < kFeatures; ++j) {
        const double x = own.normal();
        values[i * kFeatures + j] = x;
        score += x * plane[t][static_cast<Eigen::Index>(j)];
      }
      const double clip = 1.0 / (2 * kBagSize + 2);
      const double share = std::round(kBagSize / (1 + std::exp(-score))) / kBagSize;
      const double clipped = std::clamp(share, clip, 1 - clip);
      p.task[i] = t;
      p.target[i] = std::log(clipped / (1 - clipped));
      p.cost_above[i] = t == 0 ? 0.25 : 1;
    }
  });
  p.cost_below = p.cost_above;
  p.rows = task.means.view();
}

namespace {

double regulariser(const TubeProblem& p, const TubePlanes& planes) {
  double sum = planes.shared.squaredNorm() / 2;
  for (std::size_t t = 0; t < p.tasks(); ++t) sum += p.lambda[t] / 2 * planes.own[t].squaredNorm();
  return sum;
}

double loss(const TubeProblem& p, const TubePlanes& planes, double widening) {
  const auto rows = std::get<DenseView>(p.rows);
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const Vector w = planes.weights(p.task[i]);
    double f = planes.bias[p.task[i]];
    for (std::size_t j = 0; j < rows.columns; ++j) f += rows.row(i)[j] * w[static_cast<Eigen::Index>(j)];
    sum += p.cost_above[i] * std::max(0.0, std::abs(f - p.target[i]) - p.tube[i] - widening * w.norm());
  }
  return sum;
}

}  // namespace

double objective(const TubeProblem& p, const TubePlanes& planes) {
  return regulariser(p, planes) + loss(p, planes, 0);
}

// One task whose rows hold a_i once for w_0 and once, over sqrt(lambda_t), for v_t: the same kernel, one
// bias.
double one_bias_optimum(const TubeProblem& p) {
  const auto rows = std::get<DenseView>(p.rows);
  DenseRows wide(p.size(), rows.columns * (1 + p.tasks()));
  for (std::size_t i = 0; i < p.size(); ++i) {
    for (std::size_t j = 0; j < rows.columns; ++j) {
      wide(i, j) = rows.row(i)[j];
      wide(i, (1 + p.task[i]) * rows.columns + j) = rows.row(i)[j] / std::sqrt(p.lambda[p.task[i]]);
    }
  }
  TubeProblem one = p;
  one.task.clear();
  one.lambda = {std::numeric_limits<double>::infinity()};
  one.rows = wide.view();
  return solve_tube_regression(one, {.gap_tolerance = 1e-10}).report.primal;
}

}  // namespace bagwise::bench
