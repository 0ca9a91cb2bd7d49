#include "bagwise/solver/kernel_tube.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "bagwise/solver/tube_regression.h"
#include "support/tube_certificate.h"
#include "support/tube_problems.h"

namespace bagwise {
namespace {

using test::log_uniform;
using test::make_random;
using test::Shape;

KernelTubeProblem kernel_of(const test::RandomProblem& made) {
  KernelTubeProblem out;
  static_cast<TubeTerms&>(out) = made.problem;
  const auto rows = test::plain_rows(made.problem.rows);
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

// Both formulas by plain loops.
void expect_optimal(const KernelTubeProblem& p, const KernelTubeSolution& s, double gap) {
  std::vector<double> balance(p.tasks(), 0.0), total(p.tasks(), 0.0);
  long double square = 0, loss = 0, linear = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    REQUIRE(s.beta[i] >= -p.cost_above[i]);
    REQUIRE(s.beta[i] <= p.cost_below[i]);
    balance[p.task_of(i)] += s.beta[i];
    total[p.task_of(i)] += std::abs(s.beta[i]);
    long double f = 0;
    for (std::size_t j = 0; j < p.size(); ++j) {
      const double own = p.task_of(i) == p.task_of(j) ? 1 / p.lambda[p.task_of(i)] : 0.0;
      f += static_cast<long double>(s.beta[j]) * (1 + own) *
           p.kernel(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
    }
    square += s.beta[i] * f / 2;
    f += s.bias[p.task_of(i)];
    CHECK(s.values[i] == Approx(static_cast<double>(f)).epsilon(1e-8).margin(1e-8));
    const long double r = f - p.target[i];
    loss +=
        p.cost_above[i] * std::max(0.0L, r - p.tube[i]) + p.cost_below[i] * std::max(0.0L, -r - p.tube[i]);
    linear += p.target[i] * s.beta[i] - p.tube[i] * std::abs(s.beta[i]);
  }
  for (std::size_t t = 0; t < p.tasks(); ++t) CHECK(std::abs(balance[t]) <= 1e-11 * total[t]);
  const auto primal = static_cast<double>(square + loss), dual = static_cast<double>(linear - square);
  CHECK(s.report.primal == Approx(primal).epsilon(1e-8));
  CHECK(primal - dual <= 1.05 * gap * std::abs(primal) + 1e-300);
  CHECK(s.report.termination == Termination::kConverged);
}

TEST_CASE("kernel_tube: both algorithms agree with the linear form", "[solver][kernel]") {
  Rng rng(91);
  for (int round = 0; round < 45; ++round) {
    Shape shape;
    shape.rows = round < 3 ? 2 : 3 + rng.below(40);
    shape.features = 1 + rng.below(20);
    shape.tasks = round < 3 ? 1 : 1 + rng.below(3);
    shape.cost = log_uniform(rng, 0.05, 100);
    shape.one_sided = rng.below(3) == 0;
    shape.deficient = rng.below(2) == 0;
    const auto made = make_random(rng, shape);
    const KernelTubeProblem p = kernel_of(*made);
    const double linear = solve_tube_regression(made->problem, {.gap_tolerance = 1e-8}).report.primal;
    for (const auto algorithm :
         {KernelTubeAlgorithm::kFactored, KernelTubeAlgorithm::kSmo, KernelTubeAlgorithm::kAutomatic}) {
      CAPTURE(round, shape.rows, shape.features, shape.tasks, shape.cost, static_cast<int>(algorithm));
      const auto s = solve_kernel_tube(p, {.gap_tolerance = 1e-6, .algorithm = algorithm});
      expect_optimal(p, s, 1e-6);
      CHECK(s.report.primal == Approx(linear).epsilon(2e-6).margin(1e-12));
      const auto again = solve_kernel_tube(p, {.gap_tolerance = 2e-6, .algorithm = algorithm}, &s);
      CHECK(again.report.iterations == 0);
    }
  }
}

TEST_CASE("kernel_tube: every way to end is reported", "[solver][kernel]") {
  Rng rng(93);
  const auto made = make_random(rng, {.rows = 40, .features = 12, .tasks = 2, .cost = 3});
  KernelTubeProblem p = kernel_of(*made);
  for (const auto algorithm : {KernelTubeAlgorithm::kFactored, KernelTubeAlgorithm::kSmo}) {
    const Observer stop = [](const Progress&) { return Next::kStop; };
    const auto stopped = solve_kernel_tube(p, {.algorithm = algorithm}, nullptr, stop);
    CHECK(stopped.report.termination == Termination::kStopped);
    const auto limited = solve_kernel_tube(p, {.gap_tolerance = 1e-18, .algorithm = algorithm});
    CHECK(limited.report.termination == Termination::kIterationLimit);
    CHECK(limited.report.relative_gap() < 1e-6);
  }
  p.kernel *= 1e308;
  p.target.assign(p.size(), 1e308);
  p.target[0] = -1e308;
  CHECK(solve_kernel_tube(p).report.termination == Termination::kNumericalFault);
}

}  // namespace
}  // namespace bagwise
