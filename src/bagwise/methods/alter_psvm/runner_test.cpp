#include "bagwise/methods/alter_psvm/runner.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace bagwise::alter_psvm {
namespace {

Answer answer(double objective, End end = End::kConverged) {
  Answer out;
  out.objective = objective;
  out.end = end;
  return out;
}

TEST_CASE("runner: the first of the lowest is taken, and what has no value never", "[methods][alter_psvm]") {
  std::vector<Answer> answers = {answer(3), answer(2), answer(2), answer(1, End::kNumericalFault),
                                 answer(std::nan(""))};
  answers[1].machines = 7;
  const Answer best = take_best(answers);
  CHECK(best.objective == 2);
  CHECK(best.machines == 7);
  CHECK(best.end == End::kConverged);
  CHECK_FALSE(usable(take_best({answer(1, End::kNumericalFault)})));
  CHECK(take_best({answer(1, End::kNumericalFault), answer(5)}).objective == 5);
}

TEST_CASE("runner: where any run was stopped the choice was", "[methods][alter_psvm]") {
  const Answer best = take_best({answer(3, End::kStopped), answer(2)});
  CHECK(best.objective == 2);
  CHECK(best.end == End::kStopped);
}

TEST_CASE("runner: after a stop no start but the first is begun", "[methods][alter_psvm]") {
  const Problem problem{};
  int made = 0;
  const auto no_machine = [&]() -> std::unique_ptr<Svm> {
    ++made;
    throw std::runtime_error("begun");
  };
  const Runner runner(problem, {}, no_machine, 1, [](const Progress&) { return Next::kStop; });
  CHECK_THROWS_WITH(runner.run(std::vector<Start>(5), "alternating", 5), "begun");
  CHECK(made == 1);
}

}  // namespace
}  // namespace bagwise::alter_psvm
