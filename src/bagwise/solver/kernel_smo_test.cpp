#include "bagwise/solver/internal/kernel_smo.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "support/kernel_tube_certificate.h"

namespace bagwise {
namespace {

// run_smo on a matrix held whole.
template <class Enough>
void run_smo(const TubeTerms& p, const ColMatrix& q, std::int64_t limit, const Enough& enough,
             internal::SmoState& s) {
  internal::DenseColumns columns(q);
  internal::run_smo(p, columns, limit, enough, s);
}
using internal::SmoState;
using test::entry;

// 1/2 beta' Q beta - y.beta + sum_i eps_i |beta_i|
long double objective(const TubeTerms& p, const ColMatrix& q, const std::vector<double>& beta) {
  long double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    for (std::size_t j = 0; j < p.size(); ++j) sum += beta[i] * (entry(q, i, j) / 2.0L) * beta[j];
    sum += std::abs(beta[i]) * static_cast<long double>(p.tube[i]) -
           beta[i] * static_cast<long double>(p.target[i]);
  }
  return sum;
}

// (down_j - up_i)^2 / (Q_ii + Q_jj - 2 Q_ij): what raising beta_i and lowering beta_j surely gains.
double sure_gain(const TubeTerms& p, const ColMatrix& q, const SmoState& s, std::size_t i, std::size_t j) {
  const double up = s.gradient[static_cast<Eigen::Index>(i)] + (s.beta[i] < 0 ? -1 : 1) * p.tube[i];
  const double down = s.gradient[static_cast<Eigen::Index>(j)] + (s.beta[j] > 0 ? 1 : -1) * p.tube[j];
  if (i == j || s.beta[j] <= -p.cost_above[j] || down <= up) return 0;
  const double size = entry(q, i, i) + entry(q, j, j);
  return (down - up) * (down - up) / std::max(size - 2 * entry(q, i, j), 1e-12 * size);
}

bool never(const SmoState&) { return false; }

SmoState at_beta(const TubeTerms& p, const ColMatrix& q, std::vector<double> beta) {
  SmoState s{std::move(beta), Vector::Zero(static_cast<Eigen::Index>(p.size())), 0};
  for (std::size_t i = 0; i < p.size(); ++i) {
    double& g = s.gradient[static_cast<Eigen::Index>(i)];
    g = -p.target[i];
    for (std::size_t j = 0; j < p.size(); ++j) g += entry(q, i, j) * s.beta[j];
  }
  return s;
}

SmoState from_zero(const KernelTubeProblem& p) {
  return at_beta(p, p.kernel, std::vector<double>(p.size(), 0.0));
}

// Somewhere in the boxes, in balance: steps from here cross zeros.
SmoState from_anywhere(const KernelTubeProblem& p, Rng& rng) {
  std::vector<double> beta(p.size(), 0.0);
  for (int k = 0; k < 60; ++k) {
    const std::size_t i = rng.below(p.size()), j = rng.below(p.size());
    if (i == j || p.task_of(i) != p.task_of(j)) continue;
    const double room = std::min(p.cost_below[i] - beta[i], beta[j] + p.cost_above[j]);
    const double step = rng.below(4) == 0 ? room : room * rng.uniform();
    beta[i] = std::min(beta[i] + step, p.cost_below[i]);
    beta[j] = std::max(beta[j] - step, -p.cost_above[j]);
  }
  return at_beta(p, p.kernel, std::move(beta));
}

}  // namespace

TEST_CASE("kernel_smo: every step moves one pair of a task to the least value on its line", "[solver][smo]") {
  Rng rng(131);
  for (int round = 0; round < 60; ++round) {
    const test::Shape shape{.rows = 10,
                            .features = 6,
                            .tasks = 1 + rng.below(2),
                            .cost = test::log_uniform(rng, 0.1, 10),
                            .one_sided = round % 2 == 0,
                            .deficient = round % 3 == 0};
    KernelTubeProblem p = test::kernel_of(test::make_random(rng, shape)->problem);
    for (double& eps : p.tube) eps *= 5;
    const ColMatrix& q = p.kernel;
    SmoState s = round < 10 ? from_zero(p) : from_anywhere(p, rng);
    for (int step = 0; step < 30; ++step) {
      const SmoState before = s;
      run_smo(p, q, s.steps + 1, never, s);
      if (s.steps == before.steps) break;
      REQUIRE(s.steps == before.steps + 1);
      std::vector<std::size_t> moved;
      for (std::size_t i = 0; i < p.size(); ++i) {
        REQUIRE(s.beta[i] >= -p.cost_above[i]);
        REQUIRE(s.beta[i] <= p.cost_below[i]);
        if (s.beta[i] != before.beta[i]) moved.push_back(i);
      }
      if (moved.size() == 1 && std::abs(s.beta[moved[0]] - before.beta[moved[0]]) < 1e-14) break;
      REQUIRE(moved.size() == 2);
      CHECK(p.task_of(moved[0]) == p.task_of(moved[1]));
      const double made = s.beta[moved[0]] - before.beta[moved[0]];
      CHECK(s.beta[moved[1]] - before.beta[moved[1]] == Approx(-made).margin(1e-14 * shape.cost));
      const std::size_t raised = moved[made > 0 ? 0 : 1], lowered = moved[made > 0 ? 1 : 0];
      const double gain = sure_gain(p, q, before, raised, lowered);
      for (std::size_t j = 0; j < p.size(); ++j) {
        if (p.task_of(j) == p.task_of(raised)) CHECK(sure_gain(p, q, before, raised, j) <= gain * (1 + 1e-6));
      }
      // No shorter step is better, nor a longer one that stays in the box.
      const long double reached = objective(p, q, s.beta);
      for (const double share : {0.0, 0.3, 0.9, 0.999, 1.001, 1.1, 2.0, 10.0}) {
        std::vector<double> other = before.beta;
        other[moved[0]] += share * made;
        other[moved[1]] -= share * made;
        bool inside = true;
        for (const std::size_t i : moved)
          inside = inside && other[i] <= p.cost_below[i] && other[i] >= -p.cost_above[i];
        if (inside) CHECK(reached <= objective(p, q, other) + 1e-13L * (1 + std::abs(reached)));
      }
      for (std::size_t i = 0; i < p.size(); ++i) {
        double g = -p.target[i], size = std::abs(g);
        for (std::size_t j = 0; j < p.size(); ++j) {
          g += entry(q, i, j) * s.beta[j];
          size += std::abs(entry(q, i, j) * s.beta[j]);
        }
        CHECK(std::abs(s.gradient[static_cast<Eigen::Index>(i)] - g) <= 1e-13 * size);
      }
    }
  }
}

TEST_CASE("kernel_smo: it ends where no pair of rows can be improved", "[solver][smo]") {
  Rng rng(133);
  for (int round = 0; round < 20; ++round) {
    const test::Shape shape{
        .rows = 9, .features = 4, .tasks = 1 + rng.below(2), .cost = 0.7, .one_sided = true};
    const KernelTubeProblem p = test::kernel_of(test::make_random(rng, shape)->problem);
    SmoState s = from_zero(p);
    run_smo(p, p.kernel, 100'000, never, s);
    const long double reached = objective(p, p.kernel, s.beta);
    for (std::size_t i = 0; i < p.size(); ++i) {
      for (std::size_t j = 0; j < p.size(); ++j) {
        if (i == j || p.task_of(i) != p.task_of(j)) continue;
        for (const double step : {1e-5, 1e-3, 1e-2, 0.1}) {
          std::vector<double> other = s.beta;
          other[i] += step;
          other[j] -= step;
          if (other[i] > p.cost_below[i] || other[j] < -p.cost_above[j]) continue;
          CHECK(objective(p, p.kernel, other) >= reached - 1e-10L);
        }
      }
    }
  }
}

TEST_CASE("kernel_smo: it asks whether that is enough, and heeds its limit", "[solver][smo]") {
  Rng rng(137);
  const KernelTubeProblem p =
      test::kernel_of(test::make_random(rng, {.rows = 50, .features = 45, .cost = 1e4})->problem);
  std::vector<std::int64_t> asked;
  SmoState s = from_zero(p);
  run_smo(
      p, p.kernel, 1'000, [&](const SmoState& at) { return asked.push_back(at.steps), false; }, s);
  CHECK(s.steps == 1'000);
  CHECK(asked == std::vector<std::int64_t>{0, 200, 400, 600, 800});
  s = from_zero(p);
  run_smo(
      p, p.kernel, 1'000, [](const SmoState& at) { return at.steps >= 400; }, s);
  CHECK(s.steps == 400);
}

}  // namespace bagwise
