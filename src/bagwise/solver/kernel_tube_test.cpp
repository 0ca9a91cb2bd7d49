#include "bagwise/solver/kernel_tube.h"

#include <catch2/catch.hpp>

#include "bagwise/solver/tube_regression.h"
#include "support/kernel_tube_certificate.h"
#include "support/tube_problems.h"

namespace bagwise {
namespace {

using test::expect_optimal;
using test::kernel_of;
using test::log_uniform;
using test::make_random;
using test::Shape;

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
    const KernelTubeProblem p = kernel_of(made->problem);
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
  KernelTubeProblem p = kernel_of(made->problem);
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
