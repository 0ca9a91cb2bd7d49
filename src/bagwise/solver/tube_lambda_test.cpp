// Tube regression at every lambda: one task alone, tasks nearly apart, tasks nearly pooled, and mixtures.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "bagwise/solver/tube_regression.h"
#include "support/tube_certificate.h"
#include "support/tube_problems.h"

namespace bagwise {
namespace {

using test::expect_optimal;
using test::log_uniform;
using test::make_random;
using test::Shape;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

void scale_costs(TubeProblem& p, double factor) {
  for (auto* costs : {&p.cost_above, &p.cost_below}) {
    for (double& c : *costs) c *= factor;
  }
}

// Costs and tubes as the methods set them: the same for all rows, or varying from row to row.
std::unique_ptr<test::RandomProblem> make_tasks(Rng& rng, std::size_t tasks) {
  Shape shape;
  shape.tasks = tasks;
  shape.rows = tasks * (4 + rng.below(25));
  shape.features = 2 + rng.below(25);
  shape.cost = std::exp2(-2.0 + static_cast<double>(rng.below(10)));
  shape.shifted = rng.below(3) == 0;
  shape.sparse = rng.below(3) == 0;
  shape.deficient = rng.below(3) == 0;
  auto made = make_random(rng, shape);
  if (rng.below(2) == 0) {
    TubeProblem& p = made->problem;
    p.tube.assign(p.size(), 0.1);
    p.cost_above.assign(p.size(), shape.cost);
    p.cost_below = p.cost_above;
  }
  return made;
}

TEST_CASE("tube_lambda: one task has the bits of the one plane with costs times (1 + lambda)/lambda",
          "[solver][tube]") {
  Rng rng(5);
  for (const double lambda : {1e-7, 1e-3, 0.1, 1.0, 50.0, 1e6, 1e20}) {
    for (const bool shifted : {false, true}) {
      CAPTURE(lambda, shifted);
      const auto made = make_random(rng, {.rows = 40, .features = 8, .cost = 0.7, .shifted = shifted});
      TubeProblem task = made->problem, plane = made->problem;
      task.lambda = {lambda};
      scale_costs(task, std::min(lambda, 1.0));
      plane.lambda = {kInfinity};
      plane.cost_above = task.cost_above;
      plane.cost_below = task.cost_below;
      const double factor = (1 + lambda) / lambda;
      scale_costs(plane, factor);
      const auto own = solve_tube_regression(task, {.gap_tolerance = 1e-9});
      const auto one = solve_tube_regression(plane, {.gap_tolerance = 1e-9});
      expect_optimal(task, own, 1e-9);
      CHECK(own.planes.weights(0) == one.planes.weights(0));
      CHECK(own.planes.bias == one.planes.bias);
      CHECK(own.report.iterations == one.report.iterations);
      CHECK(own.report.primal * factor == Approx(one.report.primal).epsilon(1e-14));
      CHECK((own.planes.shared - one.planes.weights(0) / factor).norm() <= 1e-15 * one.planes.shared.norm());
      CHECK(solve_tube_regression(task, {.gap_tolerance = 2e-9}, &own).report.iterations == 0);
    }
  }
}

TEST_CASE("tube_lambda: from nearly separate to nearly pooled tasks every gap is certified",
          "[solver][tube]") {
  enum class Mix { kEqual, kMixed, kSeparate };
  Rng rng(2027);
  int problems = 0, to_nine_digits = 0;
  for (const std::size_t tasks : {1, 2, 4}) {
    for (const Mix mix : {Mix::kEqual, Mix::kMixed, Mix::kSeparate}) {
      for (int round = 0; round < 25; ++round) {
        const auto made = make_tasks(rng, tasks);
        TubeProblem& p = made->problem;
        const double all = log_uniform(rng, 1e-3, 1e3);
        for (double& lambda : p.lambda) lambda = mix == Mix::kMixed ? log_uniform(rng, 1e-3, 1e3) : all;
        if (mix == Mix::kSeparate) {
          p.lambda.assign(tasks, 1e-7);
          scale_costs(p, 1e-7);
        }
        CAPTURE(tasks, static_cast<int>(mix), round, p.size(), p.features());
        expect_optimal(p, solve_tube_regression(p, {.gap_tolerance = 1e-6, .threads = 1}), 1e-6);
        const auto close = solve_tube_regression(p, {.gap_tolerance = 1e-9, .threads = 1});
        to_nine_digits += close.report.termination == Termination::kConverged ? 1 : 0;
        ++problems;
      }
    }
  }
  CHECK(100 * to_nine_digits >= 98 * problems);
}

TEST_CASE("tube_lambda: the semismooth method alone knows the scale of each task's kernel",
          "[solver][tube]") {
  Rng rng(2028);
  for (int round = 0; round < 60; ++round) {
    const auto made = make_tasks(rng, 1 + rng.below(4));
    TubeProblem& p = made->problem;
    const double all = log_uniform(rng, 1e-8, 1e8);
    for (double& lambda : p.lambda) lambda = all * log_uniform(rng, 0.1, 10);
    for (std::size_t i = 0; i < p.size(); ++i) {  // InvCal's cost stays what it was
      const double lambda = p.lambda[p.task_of(i)];
      p.cost_above[i] *= lambda / (1 + lambda);
      p.cost_below[i] *= lambda / (1 + lambda);
    }
    const auto s = solve_tube_regression(
        p, {.gap_tolerance = 1e-6, .algorithm = TubeAlgorithm::kSemismooth, .threads = 1});
    CAPTURE(round, p.size(), p.features(), p.tasks(), s.report.iterations);
    expect_optimal(p, s, 1e-6);
    CHECK(s.report.iterations < 150);
  }
}

}  // namespace
}  // namespace bagwise
