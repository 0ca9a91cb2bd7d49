// How many steps the algorithms of tube regression take on problems that stay the same: a change that leaves
// the answers right and makes the way there longer is found here. Bounds are 3 % above what was measured,
// which was the same to the step on five kinds of processors (OpenBLAS kernels).
#include <catch2/catch.hpp>
#include <cstdint>
#include <utility>

#include "bagwise/solver/kernel_tube.h"
#include "bagwise/solver/tube_regression.h"
#include "support/kernel_tube_certificate.h"
#include "support/tube_problems.h"

namespace bagwise {
namespace {

using test::make_random;

// Rows, features, tasks, costs and shifts in turn.
test::Shape shape_of(int round) {
  const std::size_t rows[] = {20, 60, 200, 600};
  return {.rows = rows[round % 4],
          .features = 2 + 7 * static_cast<std::size_t>(round % 5),
          .tasks = 1 + static_cast<std::size_t>(round % 3),
          .cost = round % 2 == 0 ? 0.3 : 30.0,
          .shifted = round % 4 == 3,
          .one_sided = round % 6 == 5,
          .sparse = round % 3 == 2,
          .deficient = round % 8 == 7};
}

// The steps of one algorithm over all rounds.
int steps_of(TubeAlgorithm algorithm, double gap) {
  Rng rng(11);
  int steps = 0;
  for (int round = 0; round < 24; ++round) {
    const auto random = make_random(rng, shape_of(round));
    const auto s = solve_tube_regression(random->problem, {.gap_tolerance = gap, .algorithm = algorithm});
    CHECK(s.report.termination == Termination::kConverged);
    steps += s.report.iterations;
  }
  return steps;
}

}  // namespace

TEST_CASE("tube_effort: no algorithm takes more steps than it did", "[solver][tube]") {
  CHECK(steps_of(TubeAlgorithm::kSemismooth, 1e-4) <= 633);
  CHECK(steps_of(TubeAlgorithm::kSemismooth, 1e-9) <= 788);
  CHECK(steps_of(TubeAlgorithm::kInteriorPoint, 1e-4) <= 203);
  CHECK(steps_of(TubeAlgorithm::kInteriorPoint, 1e-9) <= 272);
  CHECK(steps_of(TubeAlgorithm::kAutomatic, 1e-6) <= 240);
}

TEST_CASE("tube_effort: many sparse features take no more steps than they did", "[solver][tube]") {
  Rng rng(13);
  int steps = 0;
  for (const double cost : {0.1, 3.0, 30.0}) {
    for (const std::size_t tasks : {1U, 2U}) {
      const auto random =
          make_random(rng, {.rows = 400, .features = 120, .tasks = tasks, .cost = cost, .sparse = true});
      const auto s = solve_tube_regression(random->problem, {.algorithm = TubeAlgorithm::kSparse});
      CHECK(s.report.termination == Termination::kConverged);
      steps += s.report.iterations;
    }
  }
  CHECK(steps <= 610);
}

TEST_CASE("tube_effort: kernels take no more steps than they did", "[solver][kernel]") {
  for (const auto& [algorithm, most] :
       {std::pair{KernelTubeAlgorithm::kSmo, 65600}, {KernelTubeAlgorithm::kFactored, 60}}) {
    Rng rng(17);
    int steps = 0;
    for (const double cost : {0.05, 0.5, 5.0}) {
      for (const std::size_t tasks : {1U, 2U}) {
        const auto p = test::kernel_of(
            make_random(rng, {.rows = 50, .features = 20, .tasks = tasks, .cost = cost})->problem);
        const auto s = solve_kernel_tube(p, {.algorithm = algorithm});
        CHECK(s.report.termination == Termination::kConverged);
        steps += s.report.iterations;
      }
    }
    CHECK(steps <= most);
  }
}

}  // namespace bagwise
