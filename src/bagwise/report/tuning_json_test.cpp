#include "bagwise/report/tuning_json.h"

#include <catch2/catch.hpp>

#include "support/transfer_problems.h"

namespace bagwise {
namespace {

TEST_CASE("tuning_json: settings on all folds come first, then the lower value, then their order",
          "[report][tuning_json]") {
  Tuned tuned;
  const auto tried = [&](std::size_t folds, double value) {
    tuned.tried.push_back({.arm = 0, .setting = {}, .folds = folds, .value = value});
  };
  tried(1, 0);
  tried(3, 5);
  tried(3, 2);
  tried(2, 9);
  tried(3, 2);
  CHECK(best_first(tuned) == std::vector<std::size_t>{2, 4, 1, 3, 0});
}

TEST_CASE("tuning_json: what was tried and what came of it are told", "[report][tuning_json]") {
  Rng rng(6);
  const test::World world = test::random_world(rng, 2, 2);
  const std::vector<Arm> arms = {{find_method("tl-llp"), "none", {{{{"C", "1"}}, {{"C", "2"}}}}},
                                 {find_method("inv-cal"), "pca", {{{{"C", "4"}}}}}};
  const auto tuned = tune(world.tasks, arms, {.folds = 3}, {.seed = 2, .threads = 1});
  REQUIRE(tuned);
  const auto order = best_first(*tuned);
  const Json json = to_json(*tuned, arms, order);
  CHECK(json["selection"]["settings"] == 3);
  CHECK(json["selection"]["members"] == tuned->members);
  CHECK(json["seed"] == 2);
  CHECK(json.contains("options"));
  REQUIRE(json["table"].size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const Tried& tried = tuned->tried[order[i]];
    CHECK(json["table"][i]["method"] == arms[tried.arm].method->name);
    CHECK(json["table"][i]["metric"] == arms[tried.arm].metric);
    CHECK(json["table"][i]["options"]["C"] == tried.setting.at("C"));
    CHECK(json["table"][i]["value"] == tried.value);
    CHECK(json["table"][i]["folds"] == 3);
  }
}

}  // namespace
}  // namespace bagwise
