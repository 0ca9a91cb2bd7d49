#include "bagwise/evaluate/diagnosis.h"

#include <catch2/catch.hpp>

#include "support/transfer_problems.h"

namespace bagwise {
namespace {

TEST_CASE("diagnosis: every task, every source and the model are looked at as by themselves",
          "[evaluate][diagnosis]") {
  Rng rng(4);
  const test::World world = test::random_world(rng, 3, 2);
  const auto fit = find_method("tl-llp")->fit(world.tasks, {}, {});
  REQUIRE(fit);
  const ModelDiagnosisOptions options{.seed = 5, .threads = 1, .folds = 3, .draws = 5};
  const auto found = diagnose(world.tasks, &fit->model, options);
  REQUIRE(found);
  REQUIRE(found->tasks.size() == 3);
  REQUIRE(found->transfers.size() == 2);
  for (std::size_t t = 0; t < 3; ++t) {
    const TaskDiagnosis alone =
        diagnose_task(world.tasks[t].name, world.data[t], world.tasks[t].reduced, {.seed = 5, .threads = 1});
    CHECK(found->tasks[t].name == world.tasks[t].name);
    CHECK(found->tasks[t].effective_size == alone.effective_size);
    CHECK(found->tasks[t].signal.correlation == alone.signal.correlation);
  }
  for (std::size_t t = 0; t < 2; ++t) {
    const TransferDiagnosis alone =
        diagnose_transfer(world.tasks[t].name, world.data[t], world.tasks[t].reduced, world.data[2],
                          world.tasks[2].reduced, {.seed = 5, .threads = 1});
    CHECK(found->transfers[t].source == world.tasks[t].name);
    CHECK(found->transfers[t].mean_shift == alone.mean_shift);
    CHECK(found->transfers[t].across.correlation == alone.across.correlation);
  }
  const auto judged = diagnose_model(fit->model, world.tasks, options);
  REQUIRE(judged);
  REQUIRE(found->model);
  CHECK(found->model->proportion_error.value == judged->proportion_error.value);
  CHECK_FALSE(diagnose(world.tasks, nullptr, options)->model);
}

TEST_CASE("diagnosis: a model of other tasks is refused", "[evaluate][diagnosis][badargs]") {
  Rng rng(4);
  const test::World world = test::random_world(rng, 2, 2);
  const auto fit = find_method("tl-llp")->fit(world.tasks, {}, {});
  REQUIRE(fit);
  CHECK(check_tasks_of(fit->model, 2));
  CHECK(check_tasks_of(fit->model, 1).error().message ==
        "was trained with 1 source(s) and none is given; expected the data it was trained on");
  const auto found = diagnose(std::span(world.tasks).last(1), &fit->model, {.folds = 0, .draws = 0});
  REQUIRE_FALSE(found);
}

TEST_CASE("diagnosis: an observer stops it between any two parts", "[evaluate][diagnosis]") {
  Rng rng(4);
  const test::World world = test::random_world(rng, 2, 2);
  for (int last = 0; last < 3; ++last) {
    int calls = 0;
    const auto found = diagnose(world.tasks, nullptr, {.threads = 1}, [&](const Progress& progress) {
      CHECK(progress.total == 3);
      return calls++ == last ? Next::kStop : Next::kContinue;
    });
    REQUIRE_FALSE(found);
    CHECK(calls == last + 1);
  }
}

}  // namespace
}  // namespace bagwise
