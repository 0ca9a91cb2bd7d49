// Tube regression over many sparse features: steps by conjugate gradients, from coordinate descent.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "bagwise/solver/internal/algorithms.h"
#include "bagwise/solver/internal/augmented_lagrangian.h"
#include "bagwise/solver/internal/certificate.h"
#include "bagwise/solver/internal/coordinate_start.h"
#include "bagwise/solver/internal/newton_system.h"
#include "bagwise/solver/internal/side_products.h"
#include "bagwise/solver/tube_regression.h"
#include "support/tube_certificate.h"
#include "support/tube_problems.h"

namespace bagwise {
namespace {

using internal::NewtonSystem;
using test::expect_optimal;
using test::log_uniform;
using test::make_random;
using test::NaiveTube;
using test::Shape;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Shape any_shape(Rng& rng) {
  Shape shape;
  shape.rows = 5 + rng.below(60);
  shape.features = 1 + rng.below(50);
  shape.tasks = 1 + rng.below(3);
  shape.cost = log_uniform(rng, 0.05, 50);
  shape.shifted = rng.below(2) == 0;
  shape.one_sided = rng.below(2) == 0;
  shape.sparse = true;
  shape.deficient = rng.below(3) == 0;
  return shape;
}

// Rows of zeros, columns without a value and rows that are there twice.
void make_awkward(Csr& rows) {
  Csr out;
  out.columns = rows.columns + 3;
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    const std::size_t from = i % 5 == 4 ? i - 1 : i;
    for (auto k = rows.start[from]; i % 7 != 0 && k < rows.start[from + 1]; ++k) {
      out.index.push_back(rows.index[static_cast<std::size_t>(k)] + 2);
      out.values.push_back(rows.values[static_cast<std::size_t>(k)]);
    }
    out.start.push_back(static_cast<std::int64_t>(out.values.size()));
  }
  rows = std::move(out);
}

const TubeOptions kFine{.gap_tolerance = 1e-7, .algorithm = TubeAlgorithm::kSparse, .threads = 1};

TEST_CASE("tube_sparse: random sparse problems are solved to a certified 1e-7", "[solver][tube]") {
  Rng rng(91);
  for (int round = 0; round < 60; ++round) {
    const Shape shape = any_shape(rng);
    const auto made = make_random(rng, shape);
    TubeProblem& p = made->problem;
    if (round % 2 == 0 && !p.shifted()) {
      make_awkward(made->sparse);
      p.rows = made->sparse.view();
    }
    CAPTURE(round, shape.rows, shape.features, shape.tasks, shape.cost, shape.shifted, shape.one_sided);
    const auto s = solve_tube_regression(p, kFine);
    expect_optimal(p, s, 1e-7);
    const auto dense = solve_tube_regression(p, {.gap_tolerance = 1e-9, .threads = 1});
    CHECK(s.report.primal == Approx(dense.report.primal).epsilon(2e-7));
    for (std::size_t t = 0; t < p.tasks(); ++t)
      CHECK((s.planes.weights(t) - dense.planes.weights(t)).norm() <=
            std::sqrt(4e-7 * std::abs(s.report.primal) * (1 + 1 / p.lambda[t])) + 1e-9);
  }
}

TEST_CASE("tube_sparse: costs may be tiny or huge", "[solver][tube]") {
  Rng rng(93);
  for (const double cost : {1e-6, 1e-3, 1e3, 1e5}) {
    const auto made = make_random(rng, {.rows = 80, .features = 30, .cost = cost, .sparse = true});
    made->problem.lambda = {kInfinity};
    CAPTURE(cost);
    expect_optimal(made->problem, solve_tube_regression(made->problem, kFine), 1e-7);
  }
}

TEST_CASE("tube_sparse: one step leaves no more of the gradient than it may", "[solver][tube]") {
  Rng rng(95);
  for (int round = 0; round < 30; ++round) {
    const auto made = make_random(rng, any_shape(rng));
    const TubeProblem& p = made->problem;
    const internal::TubeRows rows(p, 1);
    Eigen::ArrayXd weight(2 * static_cast<Eigen::Index>(p.size())), rho(static_cast<Eigen::Index>(p.tasks()));
    for (double& w : weight) w = rng.below(3) == 0 ? 0.0 : log_uniform(rng, 0.1, 10);
    for (double& r : rho) r = 0.01;
    TubePlanes g = internal::pull_sides(rows, weight);
    for (double& x : g.shared) x = rng.normal();
    for (std::size_t t = 0; t < p.tasks(); ++t) {
      for (double& x : g.own[t]) x = std::isfinite(p.lambda[t]) ? rng.normal() : 0.0;
      g.bias[t] = rng.normal();
    }
    NewtonSystem system(rows, NewtonSystem::Road::kSparse);
    REQUIRE(system.factor(weight, rho));
    const auto step = system.solve(g);
    TubePlanes left = internal::lagrangian_gradient(rows, step.x, weight * step.products);
    internal::add_scaled(left, 1, g);
    double square = left.shared.squaredNorm(), before = g.shared.squaredNorm();
    for (std::size_t t = 0; t < p.tasks(); ++t) {
      square += left.own[t].squaredNorm();
      before += g.own[t].squaredNorm();
      // Biases are eliminated exactly.
      CHECK(left.bias[t] + 0.01 * step.x.bias[t] == Approx(0).margin(1e-9));
    }
    // The right side also has what the biases' gradients pull: no more than a few times the gradient here.
    CAPTURE(round, square, before);
    CHECK(std::sqrt(square) <= 0.4 * (std::sqrt(before) + 50));
  }
}

TEST_CASE("tube_sparse: a new centre has the gradient that one made afresh has", "[solver][tube]") {
  Rng rng(96);
  for (int round = 0; round < 10; ++round) {
    const auto made = make_random(rng, any_shape(rng));
    const TubeProblem& p = made->problem;
    internal::Penalty penalty = internal::kernel_penalty(p, 1);
    penalty.rho.setConstant(0.5);  // far more than the method has it, to be seen
    const TubePlanes origin = internal::planes_of(p, {p.cost_above, p.cost_below}, 1);
    internal::AugmentedLagrangian kept(p, 1, NewtonSystem::Road::kSparse);
    kept.centre(internal::to_sides({p.cost_above, p.cost_below}) / 2, penalty, &origin);
    for (int centre = 0; centre < 20; ++centre) {
      kept.advance();
      kept.advance();
      penalty.grow(1.5);
      const Eigen::ArrayXd alpha = kept.multipliers();
      kept.centre(alpha, penalty);
      internal::AugmentedLagrangian afresh(p, 1, NewtonSystem::Road::kSparse);
      const TubePlanes here = kept.planes();
      afresh.centre(alpha, penalty, &here);
      CAPTURE(round, centre);
      const double scale = std::abs(afresh.values().primal) + 1;
      CHECK((kept.multipliers() - afresh.multipliers()).abs().maxCoeff() <= 1e-8 * scale);
      CHECK(kept.squared_gradient() == Approx(afresh.squared_gradient()).epsilon(1e-6).margin(1e-8 * scale));
      CHECK(kept.values().dual == Approx(afresh.values().dual).epsilon(1e-8).margin(1e-8 * scale));
    }
  }
}

// Nearly as many rows at the edge of their tube as there are features: the slowest case for conjugate
// gradients.
TEST_CASE("tube_sparse: large costs on noisy rows are certified within few steps", "[solver][tube]") {
  for (const std::uint64_t seed : {1, 2}) {
    Rng rng(seed);
    Csr rows;
    rows.columns = 500;
    TubeProblem p;
    for (std::size_t i = 0; i < 2000; ++i) {
      double product = 0;
      for (std::int32_t k = 0; k < 10; ++k) {
        rows.index.push_back(k * 50 + static_cast<std::int32_t>(rng.below(50)));
        rows.values.push_back(rng.normal() / 3);
        product += rows.values.back() * (rows.index.back() % 3 - 1);
      }
      rows.start.push_back(static_cast<std::int64_t>(rows.values.size()));
      p.target.push_back(product + 0.5 * rng.normal());
    }
    p.rows = rows.view();
    p.tube.assign(p.size(), 0.1);
    for (const double cost : {32.0, 128.0}) {
      p.cost_above.assign(p.size(), cost);
      p.cost_below = p.cost_above;
      const auto s = solve_tube_regression(
          p, {.gap_tolerance = 1e-6, .algorithm = TubeAlgorithm::kSparse, .threads = 1});
      CAPTURE(seed, cost);
      expect_optimal(p, s, 1e-6);
      CHECK(s.report.iterations <= 350);
    }
  }
}

TEST_CASE("tube_sparse: the answer has the same bits on any number of threads", "[solver][tube]") {
  Rng rng(97);
  for (const std::size_t tasks : {1, 3}) {
    const auto made =
        make_random(rng, {.rows = 3000, .features = 60, .tasks = tasks, .cost = 2, .sparse = true});
    TubeOptions options = kFine;
    const auto one = solve_tube_regression(made->problem, options);
    for (const unsigned threads : {2U, 3U}) {
      options.threads = threads;
      const auto s = solve_tube_regression(made->problem, options);
      CHECK(s.planes.shared == one.planes.shared);
      CHECK(s.planes.bias == one.planes.bias);
      CHECK(s.multipliers.above == one.multipliers.above);
      CHECK(s.report.iterations == one.report.iterations);
    }
  }
}

TEST_CASE("tube_sparse: an observer stops it at any time, and a start is taken up", "[solver][tube]") {
  Rng rng(99);
  const auto made = make_random(rng, {.rows = 300, .features = 40, .cost = 2, .sparse = true});
  TubeProblem& p = made->problem;
  p.lambda = {kInfinity};
  for (int allowed = 0; allowed < 30; allowed += 3) {
    int calls = 0;
    // Asks to stop once only: that is to be enough.
    const Observer stop = [&](const Progress&) {
      return ++calls == allowed + 1 ? Next::kStop : Next::kContinue;
    };
    const auto s = solve_tube_regression(p, kFine, nullptr, stop);
    CAPTURE(allowed);
    CHECK((s.report.termination == Termination::kStopped || calls <= allowed));
    CHECK(calls <= allowed + 1);
    CHECK(NaiveTube{p}.primal(s.planes) == Approx(s.report.primal).epsilon(1e-9));
    CHECK(NaiveTube{p}.dual(s.multipliers) == Approx(s.report.dual).epsilon(1e-9).margin(1e-9));
  }
  const auto cold = solve_tube_regression(p, kFine);
  TubeOptions finer = kFine;
  finer.gap_tolerance = 1e-9;
  const auto warm = solve_tube_regression(p, finer, &cold);
  expect_optimal(p, warm, 1e-9);
  CHECK(warm.report.algorithm == "sparse");
}

TEST_CASE("tube_sparse: coordinate descent comes near the best dual value", "[solver][tube]") {
  Rng rng(101);
  const auto made = make_random(rng, {.rows = 200, .features = 30, .cost = 0.2, .sparse = true});
  TubeProblem& p = made->problem;
  p.lambda = {kInfinity};
  REQUIRE(internal::has_coordinate_start(p));
  const auto best = solve_tube_regression(p, {.gap_tolerance = 1e-9, .threads = 1});
  const auto start = internal::coordinate_start(p, 200, {});
  for (std::size_t i = 0; i < p.size(); ++i) {
    CHECK((start.multipliers.above[i] >= 0 && start.multipliers.above[i] <= p.cost_above[i]));
    CHECK((start.multipliers.below[i] >= 0 && start.multipliers.below[i] <= p.cost_below[i]));
  }
  // The planes are those of the multipliers, and all but the bias's share of the way is gone.
  const Vector pulled =
      internal::pull_sides(internal::TubeRows(p, 1), internal::to_sides(start.multipliers)).shared;
  CHECK((pulled + start.planes.shared).norm() <= 1e-10 * start.planes.shared.norm());
  CHECK(NaiveTube{p}.primal(start.planes) <= 1.02 * best.report.primal);
}

TEST_CASE("tube_sparse: thousands of sparse rows and features are taken this way by default",
          "[solver][tube]") {
  Rng rng(103);
  Csr rows;
  rows.columns = 5000;
  TubeProblem p;
  for (std::size_t i = 0; i < 4200; ++i) {
    double product = 0;
    for (std::int32_t k = 0; k < 8; ++k) {
      rows.index.push_back(k * 625 + static_cast<std::int32_t>(rng.below(625)));
      rows.values.push_back(rng.normal() / 3);
      product += rows.values.back() * (rows.index.back() % 3 - 1);
    }
    rows.start.push_back(static_cast<std::int64_t>(rows.values.size()));
    p.target.push_back(product + 0.2 * rng.normal());
  }
  p.rows = rows.view();
  p.tube.assign(p.size(), 0.1);
  p.cost_above.assign(p.size(), 1.0);
  p.cost_below = p.cost_above;
  const auto s = solve_tube_regression(p);
  CHECK(s.report.algorithm == "sparse");
  CHECK(s.report.termination == Termination::kConverged);
  CHECK(s.report.relative_gap() <= 1e-6);
}

}  // namespace
}  // namespace bagwise
