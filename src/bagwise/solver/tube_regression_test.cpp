#include "bagwise/solver/tube_regression.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "bagwise/core/random.h"
#include "bagwise/solver/internal/algorithms.h"
#include "support/tube_certificate.h"
#include "support/tube_problems.h"

namespace bagwise {
namespace {

using test::expect_optimal;
using test::log_uniform;
using test::make_random;
using test::NaiveTube;
using test::Shape;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TubeProblem one_feature(const DenseRows& rows, std::vector<double> y, double tube, double cost) {
  TubeProblem p;
  p.rows = rows.view();
  p.target = std::move(y);
  p.tube.assign(p.target.size(), tube);
  p.cost_above.assign(p.target.size(), cost);
  p.cost_below = p.cost_above;
  return p;
}

TEST_CASE("tube_regression: random problems of every kind are solved to a certified 1e-9", "[solver][tube]") {
  Rng rng(2026);
  for (int round = 0; round < 150; ++round) {
    Shape shape;
    shape.rows = 3 + rng.below(50);
    shape.features = 1 + rng.below(30);
    shape.tasks = 1 + rng.below(4);
    shape.cost = log_uniform(rng, 0.05, 200);
    shape.shifted = rng.below(2) == 0;
    shape.one_sided = rng.below(2) == 0;
    shape.sparse = rng.below(2) == 0;
    shape.deficient = rng.below(3) == 0;
    const auto made = make_random(rng, shape);
    for (const auto algorithm : {TubeAlgorithm::kAutomatic, TubeAlgorithm::kSemismooth}) {
      CAPTURE(round, shape.rows, shape.features, shape.tasks, shape.cost, shape.shifted,
              static_cast<int>(algorithm));
      const auto s =
          solve_tube_regression(made->problem, {.gap_tolerance = 1e-9, .algorithm = algorithm, .threads = 1});
      expect_optimal(made->problem, s, 1e-9);
    }
  }
}

TEST_CASE("tube_regression: large costs and rank-deficient means do not slow it down", "[solver][tube]") {
  Rng rng(7);
  for (const double cost : {1.0, 32.0, 128.0, 4096.0}) {
    const auto made = make_random(rng, {.rows = 120, .features = 20, .cost = cost, .deficient = true});
    made->problem.lambda = {kInfinity};
    const auto s = solve_tube_regression(made->problem, {.gap_tolerance = 1e-9, .threads = 1});
    CAPTURE(cost, s.report.iterations);
    expect_optimal(made->problem, s, 1e-9);
    CHECK(s.report.iterations < 60);
  }
}

TEST_CASE("tube_regression: the units and offsets of raw data cost no digits", "[solver][tube]") {
  Rng rng(41);
  for (int round = 0; round < 24; ++round) {
    CAPTURE(round);
    const auto made =
        make_random(rng, {.rows = 40, .features = 6, .tasks = 2, .cost = 1, .shifted = round % 2 == 0});
    TubeProblem plain = made->problem;
    // A power of two and whole offsets, so that the moved problem is the same to the last bit.
    const double unit = std::exp2(static_cast<double>(rng.below(80)) - 40);
    DenseRows moved(40, 6);
    std::vector<std::vector<double>> offset(2, std::vector<double>(6));
    for (auto& task : offset) {
      for (double& x : task) x = round % 3 == 0 ? 0.0 : std::round(1e6 * rng.normal());
    }
    for (std::size_t i = 0; i < 40; ++i) {
      for (std::size_t j = 0; j < 6; ++j) {
        const double rounded = std::round(made->dense(i, j) * 0x1p20) * 0x1p-20;
        made->dense(i, j) = rounded;
        moved(i, j) = (rounded + offset[plain.task[i]][j]) * unit;
      }
    }
    TubeProblem raw = plain;
    raw.rows = moved.view();
    for (auto* costs : {&raw.cost_above, &raw.cost_below}) {
      for (double& c : *costs) c /= unit * unit;
    }
    for (auto* shifts : {&raw.shift_above, &raw.shift_below}) {
      for (double& v : *shifts) v *= unit;
    }
    const auto reference = solve_tube_regression(plain, {.gap_tolerance = 1e-9});
    const auto s = solve_tube_regression(raw, {.gap_tolerance = 1e-9});
    CHECK(s.report.termination == Termination::kConverged);
    CHECK(s.report.primal * unit * unit == Approx(reference.report.primal).epsilon(3e-9));
    CHECK(solve_tube_regression(raw, {.gap_tolerance = 1e-8}, &s).report.iterations ==
          0);  // a start is moved too
    // The plane in raw units does what it says, as far as its bias can be told at all.
    CHECK(NaiveTube{raw}.primal(s.planes) == Approx(s.report.primal).epsilon(1e-6));
  }
}

TEST_CASE("tube_regression: rows far larger than their costs ask for are fitted all the same",
          "[solver][tube]") {
  Rng rng(43);
  for (const double unit : {1e-9, 1e7, 1e11}) {
    const auto made = make_random(rng, {.rows = 60, .features = 5, .cost = 1});
    for (std::size_t i = 0; i < 60; ++i) {
      for (double& x : made->dense.row(i)) x *= unit;
    }
    made->problem.lambda = {kInfinity};
    CAPTURE(unit);
    expect_optimal(made->problem, solve_tube_regression(made->problem), 1e-6);
  }
}

TEST_CASE("tube_regression: both roads of the linear algebra agree", "[solver][tube]") {
  Rng rng(11);
  for (int round = 0; round < 20; ++round) {
    const auto made = make_random(
        rng, {.rows = 25, .features = 12, .tasks = 1 + rng.below(3), .cost = 2, .shifted = round % 2 == 0});
    const TubeOptions options{.gap_tolerance = 1e-8, .threads = 1};
    const auto rows =
        internal::solve_interior_point(made->problem, options, {}, internal::NewtonSystem::Road::kRows);
    const auto features =
        internal::solve_interior_point(made->problem, options, {}, internal::NewtonSystem::Road::kFeatures);
    CAPTURE(round);
    expect_optimal(made->problem, rows, 1e-8);
    expect_optimal(made->problem, features, 1e-8);
    CHECK(rows.report.primal == Approx(features.report.primal).epsilon(2e-8));
  }
}

TEST_CASE("tube_regression: problems solved by hand have their known answers", "[solver][tube][known]") {
  DenseRows two(2, 1);
  two(0, 0) = -1;
  two(1, 0) = 1;
  // Rows at -1 and 1 with targets -3 and 3: b = 0 by symmetry, loss 2 C max(0, 3 - w - 0.1).
  SECTION("unclipped: the tube's edge is reached, w = 2.9 and beta = w/2") {
    const auto p = one_feature(two, {-3, 3}, 0.1, 10);
    const auto s = solve_tube_regression(p, {.gap_tolerance = 1e-10});
    CHECK(s.planes.weights(0)[0] == Approx(2.9).epsilon(1e-8));
    CHECK(s.planes.bias[0] == Approx(0).margin(1e-8));
    CHECK(s.multipliers.below[1] == Approx(1.45).epsilon(1e-6));
    CHECK(s.report.primal == Approx(2.9 * 2.9 / 2).epsilon(1e-9));
  }
  SECTION("clipped: w = 2 C = 1 where the cost is too small to reach the tube") {
    const auto p = one_feature(two, {-3, 3}, 0.1, 0.5);
    const auto s = solve_tube_regression(p, {.gap_tolerance = 1e-10});
    CHECK(s.planes.weights(0)[0] == Approx(1).epsilon(1e-7));
    CHECK(s.report.primal == Approx(0.5 + 2 * 0.5 * (3 - 1 - 0.1)).epsilon(1e-9));
  }
  SECTION("everything fits without a slope: objective 0 exactly, no iterations") {
    const auto s = solve_tube_regression(one_feature(two, {0.95, 1.05}, 0.1, 1));
    CHECK(s.report.primal == 0);
    CHECK(s.report.relative_gap() == 0);
    CHECK(s.planes.bias[0] == Approx(1));
    CHECK(s.report.termination == Termination::kConverged);
  }
  SECTION("two tasks of opposite slope: lambda decides between own ways and the pooled plane") {
    DenseRows four(4, 1);
    for (std::size_t i = 0; i < 4; ++i) four(i, 0) = i % 2 == 0 ? -1 : 1;
    auto p = one_feature(four, {-1, 1, 1, -1}, 0, 100);
    p.task = {0, 0, 1, 1};
    p.lambda = {1, 1};
    // w_0 = 0 by symmetry, v = +-1: 1/2 + 1/2.
    const auto s = solve_tube_regression(p, {.gap_tolerance = 1e-10});
    CHECK(s.planes.weights(0)[0] == Approx(1).epsilon(1e-6));
    CHECK(s.planes.weights(1)[0] == Approx(-1).epsilon(1e-6));
    CHECK(s.report.primal == Approx(1).epsilon(1e-8));
    p.lambda = {kInfinity, kInfinity};  // one plane: 0 is best, loss 4 * 100
    CHECK(solve_tube_regression(p).report.primal == Approx(400).epsilon(1e-6));
  }
  SECTION("one-sided rows: only an excess costs, so the bias moves out of the way") {
    auto p = one_feature(two, {-3, 3}, 0.1, 10);
    p.cost_below = {0, 0};
    const auto s = solve_tube_regression(p);
    CHECK(s.report.primal == 0);
    CHECK(s.planes.bias[0] < -2.9);
  }
}

TEST_CASE("tube_regression: a shift gives the answer of explicitly shifted rows", "[solver][tube]") {
  Rng rng(17);
  for (int round = 0; round < 20; ++round) {
    const auto made = make_random(rng, {.rows = 15, .features = 6, .tasks = 2, .cost = 3, .shifted = true});
    const TubeProblem& p = made->problem;
    const std::size_t n = p.size(), d = p.features();
    DenseRows both(2 * n, d);
    TubeProblem plain;
    plain.lambda = p.lambda;
    for (std::size_t side = 0; side < 2; ++side) {
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < d; ++j) {
          const double u = p.direction[p.task[i]][static_cast<Eigen::Index>(j)];
          both(side * n + i, j) = made->dense(i, j) + (side == 0 ? p.shift_above[i] : -p.shift_below[i]) * u;
        }
        plain.task.push_back(p.task[i]);
        plain.target.push_back(p.target[i]);
        plain.tube.push_back(p.tube[i]);
        plain.cost_above.push_back(side == 0 ? p.cost_above[i] : 0);
        plain.cost_below.push_back(side == 1 ? p.cost_below[i] : 0);
      }
    }
    plain.rows = both.view();
    const auto a = solve_tube_regression(p, {.gap_tolerance = 1e-9});
    const auto b = solve_tube_regression(plain, {.gap_tolerance = 1e-9});
    CAPTURE(round);
    expect_optimal(plain, b, 1e-9);
    CHECK(a.report.primal == Approx(b.report.primal).epsilon(3e-9));
  }
}

TEST_CASE("tube_regression: a warm start ends at once at its own solution and soon nearby",
          "[solver][tube]") {
  for (const auto algorithm : {TubeAlgorithm::kSemismooth, TubeAlgorithm::kAutomatic}) {
    Rng rng(23);
    int cold = 0, warm = 0;
    for (int round = 0; round < 20; ++round) {
      const auto made =
          make_random(rng, {.rows = 60, .features = 15, .tasks = 2, .cost = 2, .shifted = round % 2 == 0});
      TubeProblem& p = made->problem;
      const TubeOptions options{.gap_tolerance = 1e-7, .algorithm = algorithm};
      const auto first = solve_tube_regression(p, options);
      CHECK(solve_tube_regression(p, options, &first).report.iterations == 0);
      for (auto* costs : {&p.cost_above, &p.cost_below}) {
        for (double& c : *costs) c *= 1.02;
      }
      const auto again = solve_tube_regression(p, options, &first);
      CAPTURE(round, static_cast<int>(algorithm));
      expect_optimal(p, again, 1e-7);
      warm += again.report.iterations;
      cold += solve_tube_regression(p, options).report.iterations;
    }
    CHECK(10 * warm < (algorithm == TubeAlgorithm::kSemismooth ? 5 : 8) * cold);
  }
}

TEST_CASE("tube_regression: a start of another problem, or of nonsense, does no harm", "[solver][tube]") {
  Rng rng(24);
  for (int round = 0; round < 20; ++round) {
    const auto made = make_random(rng, {.rows = 40, .features = 9, .tasks = 2, .cost = 5});
    const auto other = make_random(rng, {.rows = 40, .features = 9, .tasks = 2, .cost = 50});
    TubeSolution start = solve_tube_regression(other->problem);
    if (round == 0) start.planes.shared.setConstant(std::numeric_limits<double>::quiet_NaN());
    if (round == 1) start.multipliers.above.assign(40, 1e300);
    if (round == 2) start.planes.own[0] *= 1e12;
    expect_optimal(made->problem, solve_tube_regression(made->problem, {.gap_tolerance = 1e-8}, &start),
                   1e-8);
  }
}

TEST_CASE("tube_regression: the bits do not depend on the number of threads", "[solver][tube]") {
  Rng rng(29);
  const auto made = make_random(rng, {.rows = 9000, .features = 6, .tasks = 2, .cost = 1});
  for (const auto algorithm : {TubeAlgorithm::kInteriorPoint, TubeAlgorithm::kSemismooth}) {
    const auto one = solve_tube_regression(made->problem, {.algorithm = algorithm, .threads = 1});
    for (const unsigned threads : {2U, 4U}) {
      const auto many = solve_tube_regression(made->problem, {.algorithm = algorithm, .threads = threads});
      CHECK(one.report.primal == many.report.primal);
      CHECK(one.planes.weights(0) == many.planes.weights(0));
      CHECK(one.planes.bias == many.planes.bias);
      CHECK(one.multipliers.above == many.multipliers.above);
    }
  }
}

TEST_CASE("tube_regression: every way to end is reported", "[solver][tube]") {
  Rng rng(31);
  const auto made = make_random(rng, {.rows = 50, .features = 20, .cost = 5});
  for (const auto algorithm : {TubeAlgorithm::kInteriorPoint, TubeAlgorithm::kSemismooth}) {
    const auto limited = solve_tube_regression(made->problem, {.max_iterations = 1, .algorithm = algorithm});
    CHECK(limited.report.termination == Termination::kIterationLimit);
    CHECK(limited.report.relative_gap() > 1e-6);
    CHECK(std::isfinite(limited.report.primal));
    int calls = 0;
    const Observer stop = [&](const Progress&) { return ++calls > 2 ? Next::kStop : Next::kContinue; };
    const auto stopped = solve_tube_regression(made->problem, {.algorithm = algorithm}, nullptr, stop);
    CHECK(stopped.report.termination == Termination::kStopped);
  }
  DenseRows huge(2, 1);
  huge(0, 0) = -1e200;
  huge(1, 0) = 1e200;
  const auto fault = solve_tube_regression(one_feature(huge, {-3, 3}, 0.1, 1e200));
  CHECK(fault.report.termination != Termination::kConverged);
}

TEST_CASE("tube_regression: primal_value and dual_value are those of plain loops", "[solver][tube]") {
  Rng rng(37);
  for (int round = 0; round < 30; ++round) {
    const auto made = make_random(
        rng, {.rows = 12, .features = 5, .tasks = 3, .shifted = round % 2 == 0, .sparse = round % 3 == 0});
    const TubeProblem& p = made->problem;
    TubePlanes planes;
    planes.shared = Vector::Random(5);
    for (std::size_t t = 0; t < 3; ++t) {
      planes.own.push_back(std::isfinite(p.lambda[t]) ? Vector(Vector::Random(5)) : Vector(Vector::Zero(5)));
      planes.bias.push_back(rng.normal());
    }
    TubeMultipliers m;
    for (std::size_t i = 0; i < p.size(); ++i) {
      m.above.push_back(rng.uniform() * p.cost_above[i]);
      m.below.push_back(rng.uniform() * p.cost_below[i]);
    }
    const NaiveTube naive{p};
    CHECK(primal_value(p, planes) == Approx(naive.primal(planes)).epsilon(1e-12));
    CHECK(dual_value(p, m) == Approx(naive.dual(m)).epsilon(1e-12).margin(1e-12));
  }
}

TEST_CASE("tube_regression: a column of time stamps beside ordinary ones costs nothing", "[solver][tube]") {
  Rng rng(41);
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    DenseRows rows(8, 5);
    TubeProblem p;
    for (std::size_t i = 0; i < 8; ++i) {
      for (std::size_t j = 0; j < 4; ++j) rows(i, j) = rng.normal();
      rows(i, 4) = 1.7e12 + 2e8 * rng.normal();
      p.target.push_back(2 * rng.normal());
      p.tube.push_back(0.1);
      p.cost_above.push_back(1);
      p.cost_below.push_back(1);
    }
    p.rows = rows.view();
    const TubeSolution solution = solve_tube_regression(p);
    CHECK(solution.report.relative_gap() <= 1e-6);
    CHECK(solution.report.termination == Termination::kConverged);
  }
}

}  // namespace
}  // namespace bagwise
