// Tube regression with far more rows than features: solved from samples, in blocks, on several threads.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "bagwise/solver/internal/best_bias.h"
#include "bagwise/solver/internal/sample.h"
#include "bagwise/solver/tube_regression.h"
#include "support/tube_certificate.h"
#include "support/tube_problems.h"

namespace bagwise {
namespace {

using test::expect_optimal;
using test::log_uniform;
using test::make_random;
using test::Shape;

Shape many_rows(Rng& rng) {
  Shape shape;
  shape.rows = 1500 + rng.below(2000);
  shape.features = 1 + rng.below(5);
  shape.tasks = 1 + rng.below(3);
  shape.cost = log_uniform(rng, 0.1, 100);
  shape.shifted = rng.below(2) == 0;
  shape.one_sided = rng.below(3) == 0;
  shape.sparse = rng.below(2) == 0;
  shape.deficient = rng.below(3) == 0;
  return shape;
}

TEST_CASE("tube_many_rows: solutions found from samples are certified", "[solver][tube]") {
  Rng rng(71);
  for (int round = 0; round < 12; ++round) {
    const Shape shape = many_rows(rng);
    const auto made = make_random(rng, shape);
    REQUIRE(internal::RowSample::worthwhile(made->problem, 8));
    for (const double gap : {1e-5, 1e-8}) {
      CAPTURE(round, gap, shape.rows, shape.features, shape.tasks, shape.cost, shape.shifted, shape.sparse);
      expect_optimal(made->problem, solve_tube_regression(made->problem, {.gap_tolerance = gap}), gap);
    }
  }
}

TEST_CASE("tube_many_rows: rows that are all alike, or sorted, are no special case", "[solver][tube]") {
  Rng rng(73);
  const auto made = make_random(rng, {.rows = 3000, .features = 3, .tasks = 2, .cost = 1});
  TubeProblem& p = made->problem;
  p.lambda = {1, 10};
  SECTION("ten rows repeated") {
    for (std::size_t i = 10; i < p.size(); ++i) {
      std::copy_n(made->dense.row(i % 10).data(), 3, made->dense.row(i).data());
      p.target[i] = p.target[i % 10];
      p.task[i] = p.task[i % 10];
    }
  }
  SECTION("one row repeated, with different targets") {
    for (std::size_t i = 1; i < p.size(); ++i)
      std::copy_n(made->dense.row(0).data(), 3, made->dense.row(i).data());
  }
  SECTION("sorted by target and task") {
    for (std::size_t i = 0; i < p.size(); ++i) p.task[i] = i < 2900 ? 0 : 1;
    std::sort(p.target.begin(), p.target.end());
  }
  SECTION("targets that a plane fits exactly") {
    for (std::size_t i = 0; i < p.size(); ++i) p.target[i] = made->dense(i, 0) - 2 * made->dense(i, 2);
  }
  expect_optimal(p, solve_tube_regression(p, {.gap_tolerance = 1e-7}), 1e-7);
}

TEST_CASE("tube_many_rows: a solve that is stopped early still returns a certified point", "[solver][tube]") {
  Rng rng(79);
  const auto made = make_random(rng, {.rows = 3000, .features = 4, .tasks = 2, .cost = 2});
  const TubeProblem& p = made->problem;
  for (int allowed = 0; allowed < 40; allowed += 3) {
    int calls = 0;
    const Observer stop = [&](const Progress&) { return ++calls > allowed ? Next::kStop : Next::kContinue; };
    const auto s = solve_tube_regression(p, {.gap_tolerance = 1e-9}, nullptr, stop);
    CAPTURE(allowed);
    CHECK((s.report.termination == Termination::kStopped || calls <= allowed));
    CHECK(test::NaiveTube{p}.primal(s.planes) == Approx(s.report.primal).epsilon(1e-9));
    CHECK(test::NaiveTube{p}.dual(s.multipliers) == Approx(s.report.dual).epsilon(1e-9).margin(1e-9));
  }
}

TEST_CASE("tube_many_rows: the best bias of many rows is no worse than any kink", "[solver][tube]") {
  Rng rng(83);
  for (int round = 0; round < 6; ++round) {
    Shape shape = many_rows(rng);
    shape.rows = 9000 + rng.below(3000);  // enough for the search to start from a sample
    const auto made = make_random(rng, shape);
    TubeProblem& p = made->problem;
    if (round == 0) p.cost_below.assign(p.size(), 0.0);  // nothing pulls up
    if (round == 1) std::fill(p.target.begin() + 100, p.target.end(), 1.0);
    if (round == 2) std::sort(p.target.begin(), p.target.end());
    internal::Unbiased rows{Vector::Zero(static_cast<Eigen::Index>(p.size())), {}};
    rows.along.assign(p.tasks(), 0.3);
    if (round != 1) {
      for (double& z : rows.z) z = rng.normal();
    }
    const auto loss = [&](std::size_t t, double bias) {
      long double sum = 0;
      for (std::size_t i = 0; i < p.size(); ++i) {
        if (p.task_of(i) != t) continue;
        const double r = rows.z[static_cast<Eigen::Index>(i)] + bias - p.target[i];
        const double above = p.shifted() ? p.shift_above[i] * 0.3 : 0.0;
        const double below = p.shifted() ? p.shift_below[i] * 0.3 : 0.0;
        sum += p.cost_above[i] * std::max(0.0, r + above - p.tube[i]);
        sum += p.cost_below[i] * std::max(0.0, -r + below - p.tube[i]);
      }
      return static_cast<double>(sum);
    };
    const auto biases = internal::best_biases(p, rows, 2);
    CHECK(biases == internal::best_biases(p, rows, 1));
    for (std::size_t t = 0; t < p.tasks(); ++t) {
      const double best = loss(t, biases[t]);
      for (int k = 0; k < 40; ++k) {  // convex: if no point near or far is lower, none is
        const double step = (k % 2 == 0 ? 1 : -1) * std::pow(10.0, -7 + k / 4.0);
        CHECK(best <= loss(t, biases[t] + step) * (1 + 1e-13));
      }
    }
  }
}

}  // namespace
}  // namespace bagwise
