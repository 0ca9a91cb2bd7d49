// Fits along paths of settings against single fits, method by method.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <string>

#include "bagwise/methods/path_state.h"
#include "bagwise/methods/registry.h"
#include "support/transfer_problems.h"

namespace bagwise {
namespace {

using test::random_world;
using test::World;

OptionTexts joined(OptionTexts setting, const OptionTexts& more) {
  setting.insert(more.begin(), more.end());
  return setting;
}

SettingsPath costs(const std::vector<const char*>& values, const OptionTexts& more = {}) {
  SettingsPath out;
  for (const char* value : values) out.push_back(joined({{"C", value}}, more));
  return out;
}

std::string option_of(const Model& model, const std::string& name) {
  for (const auto& [key, value] : model.options) {
    if (key == name) return to_text(value);
  }
  return "none such";
}

TEST_CASE("fit_path: a convex problem's fits are as good as single ones up to the gap of a path",
          "[methods][fit_path]") {
  Rng rng(1);
  const Method& method = *find_method("inv-cal");
  for (int round = 0; round < 8; ++round) {
    const World world = random_world(rng, 1, 1 + rng.below(6), 10 + rng.below(20));
    const OptionTexts more = round % 2 == 0 ? OptionTexts{{"scale", "standard"}} : OptionTexts{};
    // There and back: a start may come from either side.
    const SettingsPath path = costs({"0.25", "1", "4", "32", "4", "0.1"}, more);
    const auto fits = method.fit_path(world.tasks, path, {.threads = 1});
    REQUIRE(fits.ok());
    REQUIRE(fits->size() == path.size());
    for (std::size_t s = 0; s < path.size(); ++s) {
      const auto alone = method.fit(world.tasks, joined(path[s], {{"gap", "1e-9"}}), {.threads = 1});
      REQUIRE(alone.ok());
      const TrainingReport &warm = (*fits)[s].model.training, &cold = alone->model.training;
      CAPTURE(round, path[s].at("C"));
      CHECK(warm.objective <= cold.objective * (1 + 1.01 * kPathGap));
      CHECK(warm.objective >= cold.objective * (1 - 1e-8));
      CHECK(*warm.relative_gap <= kPathGap);
      CHECK(warm.termination == "converged");
      CHECK(option_of((*fits)[s].model, "C") == option_of(alone->model, "C"));
    }
  }
}

TEST_CASE("fit_path: tl-llp's rounds from a start descend and end where cold rounds do",
          "[methods][fit_path][tl_llp]") {
  Rng rng(2);
  const Method& method = *find_method("tl-llp");
  for (int round = 0; round < 8; ++round) {
    const World world = random_world(rng, 1 + rng.below(3), 2 + rng.below(4), 12, round % 2 == 0);
    const SettingsPath path = costs({"0.05", "0.25", "1", "4", "1", "0.25"},
                                    round % 3 == 0 ? OptionTexts{{"scale", "standard"}} : OptionTexts{});
    const auto fits = method.fit_path(world.tasks, path, {.threads = 1});
    REQUIRE(fits.ok());
    for (std::size_t s = 0; s < path.size(); ++s) {
      const auto alone = method.fit(world.tasks, path[s], {.threads = 1});
      REQUIRE(alone.ok());
      const TrainingReport &warm = (*fits)[s].model.training, &cold = alone->model.training;
      CAPTURE(round, path[s].at("C"), warm.objective_history, cold.objective_history);
      CHECK(warm.objective <= cold.objective * (1 + 5e-3));
      CHECK(warm.objective == warm.objective_history.back());
      for (std::size_t i = 1; i < warm.objective_history.size(); ++i)
        CHECK(warm.objective_history[i] <= warm.objective_history[i - 1]);
    }
  }
}

TEST_CASE("fit_path: without uncertainty tl-llp's fits are within the gap of single ones",
          "[methods][fit_path][tl_llp]") {
  Rng rng(3);
  const Method& method = *find_method("tl-llp");
  const World world = random_world(rng, 2, 4, 15);
  const SettingsPath path =
      costs({"0.25", "1", "4"}, {{"uncertainty", "off"}, {"C-source", "2"}, {"lambda-source", "3"}});
  const auto fits = method.fit_path(world.tasks, path, {.threads = 1});
  REQUIRE(fits.ok());
  for (std::size_t s = 0; s < path.size(); ++s) {
    const auto alone = method.fit(world.tasks, joined(path[s], {{"gap", "1e-9"}}), {.threads = 1});
    REQUIRE(alone.ok());
    CHECK((*fits)[s].model.training.objective <= alone->model.training.objective * (1 + 1.01 * kPathGap));
    CHECK((*fits)[s].model.training.objective >= alone->model.training.objective * (1 - 1e-8));
  }
}

TEST_CASE("fit_path: tl-count's fits end no higher than single ones by more than a path asks for",
          "[methods][fit_path][tl_count]") {
  Rng rng(7);
  const Method& method = *find_method("tl-count");
  for (int round = 0; round < 6; ++round) {
    const World world = random_world(rng, 1 + rng.below(3), 2 + rng.below(4), 12);
    const SettingsPath path = costs({"0.05", "0.2", "1", "4", "1"},
                                    round % 2 == 0 ? OptionTexts{{"scale", "standard"}} : OptionTexts{});
    const auto fits = method.fit_path(world.tasks, path, {.threads = 1});
    REQUIRE(fits.ok());
    double bags = 0;
    for (const TrainingTask& task : world.tasks) bags += static_cast<double>(task.reduced.bags.size());
    int warm_steps = 0, cold_steps = 0;
    for (std::size_t s = 0; s < path.size(); ++s) {
      const auto alone = method.fit(world.tasks, path[s], {.threads = 1});
      REQUIRE(alone.ok());
      const TrainingReport &warm = (*fits)[s].model.training, &cold = alone->model.training;
      CAPTURE(round, path[s].at("C"), warm.objective_history, cold.objective_history);
      const double cost = std::max(std::stod(path[s].at("C")), 0.3) * bags;
      CHECK(warm.objective <= cold.objective + 20 * 1e-4 * cost);
      CHECK(std::is_sorted(warm.objective_history.rbegin(), warm.objective_history.rend()));
      CHECK(warm.termination == "converged");
      warm_steps += warm.rounds;
      cold_steps += cold.rounds;
    }
    CHECK(warm_steps < cold_steps);
  }
}

TEST_CASE("fit_path: tl-count starts anew where a setting has other coordinates",
          "[methods][fit_path][tl_count]") {
  Rng rng(8);
  const Method& method = *find_method("tl-count");
  const World world = random_world(rng, 2, 3, 12);
  const SettingsPath path = {{},
                             {{"scale", "standard"}},
                             {{"kernel", "rbf"}, {"nystrom", "5"}},
                             {{"kernel", "rbf"}, {"nystrom", "8"}},
                             {{"kernel", "rbf"}, {"nystrom", "8"}, {"gamma", "0.01"}},
                             {{"metric", "pca"}},
                             {}};
  const auto fits = method.fit_path(world.tasks, path, {.threads = 1});
  REQUIRE(fits.ok());
  for (std::size_t s = 0; s < path.size(); ++s) {
    const auto alone = method.fit(world.tasks, joined(path[s], {{"tolerance", "0.0001"}}), {.threads = 1});
    REQUIRE(alone.ok());
    CAPTURE(s);
    CHECK((*fits)[s].model.training.objective_history == alone->model.training.objective_history);
  }
}

TEST_CASE("fit_path: alter-psvm goes on from the labels of a lower cost, and from inv-cal's else",
          "[methods][fit_path][alter_psvm]") {
  Rng rng(4);
  const Method& method = *find_method("alter-psvm");
  const World world = random_world(rng, 1, 3, 15);
  const SettingsPath path = costs({"0.1", "1", "0.5", "2"});
  const auto fits = method.fit_path(world.tasks, path, {.seed = 3, .threads = 1});
  REQUIRE(fits.ok());
  const std::vector<std::string> from = {"inv-cal", "path", "inv-cal", "path"};
  for (std::size_t s = 0; s < path.size(); ++s) {
    const Model& model = (*fits)[s].model;
    REQUIRE(model.training.starts.size() == 1);
    CHECK(model.training.starts[0].init == from[s]);
    CHECK(model.training.objective <= model.training.starts[0].objective);
    CHECK(std::isfinite(model.training.objective));
    CHECK(option_of(model, "init") == "inv-cal");
    CHECK(option_of(model, "reheat") == "false");
    // A setting that is no one's successor is fitted as it is alone, with a path's options.
    if (from[s] == "path") continue;
    const auto alone =
        method.fit(world.tasks, joined(path[s], {{"init", "inv-cal"}, {"reheat", "false"}, {"gap", "0.001"}}),
                   {.seed = 3, .threads = 1});
    REQUIRE(alone.ok());
    CHECK(alone->model.training.objective == Approx(model.training.objective).epsilon(2e-3));
  }
  const auto own = method.fit_path(world.tasks, costs({"1"}, {{"init", "random"}, {"restarts", "2"}}), {});
  REQUIRE(own.ok());
  CHECK((*own)[0].model.training.starts.size() == 2);
  CHECK(option_of((*own)[0].model, "init") == "random");
}

TEST_CASE("fit_path: with sources alter-psvm starts from tl-llp's labels, or does without them as asked",
          "[methods][fit_path][alter_psvm]") {
  Rng rng(6);
  const Method& method = *find_method("alter-psvm");
  const World world = random_world(rng, 2, 3, 15);
  const auto starts_of = [&](const SettingsPath& path) {
    const auto fits = method.fit_path(world.tasks, path, {.threads = 1});
    REQUIRE(fits.ok());
    std::vector<std::string> out;
    for (const Fit& fit : *fits) out.push_back(fit.model.training.starts[0].init);
    return out;
  };
  using Names = std::vector<std::string>;
  CHECK(starts_of(costs({"0.1", "1"})) == Names{"tl-llp", "path"});
  // Labels of another start are no start.
  SettingsPath mixed = costs({"0.1", "0.2"}, {{"init", "tl-llp"}});
  for (const auto& setting : costs({"1", "2"}, {{"init", "inv-cal"}})) mixed.push_back(setting);
  CHECK(starts_of(mixed) == Names{"tl-llp", "path", "inv-cal", "path"});

  const SettingsPath alone = costs({"0.1", "1"}, {{"init", "inv-cal"}});
  const auto beside = method.fit_path(world.tasks, alone, {.threads = 1});
  const auto without = method.fit_path(std::span(world.tasks).last(1), alone, {.threads = 1});
  REQUIRE(beside.ok());
  REQUIRE(without.ok());
  for (std::size_t s = 0; s < alone.size(); ++s)
    CHECK((*beside)[s].model.tasks[0].weights == (*without)[s].model.tasks[0].weights);
  CHECK_FALSE(method.fit(world.tasks, alone[0], {}).ok());
  CHECK(method.learns_alone(alone[0]));
  CHECK_FALSE(method.learns_alone(mixed[0]));
  CHECK_FALSE(method.learns_alone({}));

  std::map<std::string, std::size_t> inits;
  for (const SettingsPath& path : method.default_grid(1)) ++inits[path[0].at("init")];
  CHECK(inits == std::map<std::string, std::size_t>{{"inv-cal", 10}, {"tl-llp", 10}});
  for (const SettingsPath& path : method.default_grid(0)) CHECK_FALSE(path[0].contains("init"));
}

TEST_CASE("fit_path: a path is fitted to the same bits every time, and its first fault is told",
          "[methods][fit_path]") {
  Rng rng(5);
  const World world = random_world(rng, 1, 3, 12);
  for (const Method& method : methods()) {
    SettingsPath path = method.default_grid(0)[0];
    path.resize(std::min<std::size_t>(path.size(), 3));
    const auto one = method.fit_path(world.tasks, path, {.threads = 1});
    const auto four = method.fit_path(world.tasks, path, {.threads = 4});
    CAPTURE(method.name);
    REQUIRE(one.ok());
    REQUIRE(four.ok());
    REQUIRE(one->size() == path.size());
    for (std::size_t s = 0; s < path.size(); ++s)
      CHECK((*one)[s].model.tasks[0].weights == (*four)[s].model.tasks[0].weights);
    CHECK(method.fit_path(world.tasks, {}, {})->empty());
    path.push_back({{"no-such-option", "1"}});
    const auto wrong = method.fit_path(world.tasks, path, {});
    REQUIRE_FALSE(wrong.ok());
    CHECK_THAT(wrong.error().message, Catch::Contains("no-such-option"));
  }
}

TEST_CASE("path_state: a start is of a problem of the same shape, and gaps are a path's only on one",
          "[methods][fit_path]") {
  PathState state;
  DenseRows rows(4, 2);
  TubeProblem problem;
  problem.rows = rows.view();
  problem.lambda = {1, 1};
  problem.task = {0, 0, 1, 1};
  problem.target.assign(4, 0.0);
  CHECK(state.start_for(problem) == nullptr);
  TubeSolution solution;
  solution.planes = {Vector::Zero(2), {Vector::Zero(2), Vector::Zero(2)}, {0, 0}};
  solution.multipliers.above.assign(4, 0.0);
  state.last = solution;
  CHECK(state.start_for(problem) == &*state.last);
  state.last->multipliers.above.pop_back();
  CHECK(state.start_for(problem) == nullptr);
  state.last = solution;
  state.last->planes.own.pop_back();
  CHECK(state.start_for(problem) == nullptr);
  state.last = solution;
  state.last->planes.shared = Vector::Zero(3);
  CHECK(state.start_for(problem) == nullptr);

  Context context;
  CHECK(gap_on_path(1e-6, context) == 1e-6);
  context.path = &state;
  CHECK(gap_on_path(1e-6, context) == kPathGap);
  CHECK(gap_on_path(0.1, context) == 0.1);
}

TEST_CASE("fit_path: conv-pSVM goes on from the labelings that mattered, and is no looser for it",
          "[methods][fit_path]") {
  Rng rng(7);
  const Method& method = *find_method("conv-psvm");
  for (int round = 0; round < 3; ++round) {
    const World world = random_world(rng, 1, 3, 12);
    const SettingsPath path = costs({"0.25", "1", "4"});
    const auto fits = method.fit_path(world.tasks, path, {.threads = 1});
    REQUIRE(fits.ok());
    for (std::size_t s = 0; s < path.size(); ++s) {
      const auto alone = method.fit(world.tasks, path[s], {.threads = 1});
      REQUIRE(alone.ok());
      const TrainingReport &warm = (*fits)[s].model.training, &cold = alone->model.training;
      CAPTURE(round, path[s].at("C"));
      // Both stop where a further labeling gains 1 %; the path's masters have the gap of a path.
      CHECK(warm.objective <= cold.objective * 1.03);
      CHECK(*warm.relative_gap <= kPathGap);
      if (s > 0) CHECK(warm.rounds <= cold.rounds);
    }
  }
  // Labelings of another epsilon may not be feasible.
  const World world = random_world(rng, 1, 3, 12);
  const SettingsPath other = {{{"epsilon", "0.3"}}, {{"epsilon", "0.01"}}};
  const auto fits = method.fit_path(world.tasks, other, {.threads = 1});
  const auto alone = method.fit_path(world.tasks, std::span(other).last(1), {.threads = 1});
  REQUIRE((fits.ok() && alone.ok()));
  CHECK((*fits)[1].model.tasks[0].weights == (*alone)[0].model.tasks[0].weights);
}

}  // namespace
}  // namespace bagwise
