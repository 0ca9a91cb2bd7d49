#include "bagwise/methods/tl_llp/rounds_state.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "bagwise/bags/memory_rows.h"
#include "bagwise/methods/registry.h"
#include "support/bag_problems.h"

namespace bagwise {
namespace {

// Keeps every state, and gives back the one that it is set to.
class Kept final : public Checkpoint {
 public:
  Result<void> save(std::string_view bytes) override {
    states.emplace_back(bytes);
    return {};
  }
  std::optional<std::string> load() override { return left; }
  std::vector<std::string> states;
  std::optional<std::string> left;
};

void check_same(const Fit& a, const Fit& b) {
  REQUIRE(a.model.tasks.size() == b.model.tasks.size());
  for (std::size_t t = 0; t < a.model.tasks.size(); ++t) {
    CHECK(a.model.tasks[t].weights == b.model.tasks[t].weights);
    CHECK(a.model.tasks[t].bias == b.model.tasks[t].bias);
  }
  CHECK(a.model.training.objective == b.model.training.objective);
  CHECK(a.model.training.objective_history == b.model.training.objective_history);
  CHECK(a.model.training.solver_steps == b.model.training.solver_steps);
  CHECK(a.model.training.termination == b.model.training.termination);
}

TEST_CASE("rounds_state: a fit that goes on after any round has the same bits", "[methods][checkpoint]") {
  Rng rng(1);
  const BaggedData source = test::random_bags(rng, 20, 3), target = test::random_bags(rng, 15, 3);
  MemoryRows rows(target);
  struct Case {
    const char* method;
    OptionTexts options;
  };
  const Case cases[] = {
      {"tl-llp", {{"delta", "0.3"}, {"tolerance", "1e-6"}}},
      {"tl-llp", {{"delta", "0.3"}, {"tolerance", "0"}, {"uncertainty", "literal"}, {"max-rounds", "6"}}},
      {"mean-map", {}}};
  for (const auto& [name, options] : cases) {
    CAPTURE(name);
    const Method& method = *find_method(name);
    std::vector<TrainingTask> tasks = {{"target", reduce(target), &target}};
    if (method.uses_sources) tasks.insert(tasks.begin(), {"source", reduce(source), &source});
    if (!method.uses_sources) tasks.back().stream = &rows;
    Kept kept;
    const auto whole = method.fit(tasks, options, {.checkpoint = &kept});
    REQUIRE(whole.ok());
    REQUIRE(kept.states.size() > 2);
    const auto plain = method.fit(tasks, options, {});
    REQUIRE(plain.ok());
    check_same(*plain, *whole);
    for (const std::string& state : kept.states) {
      Kept again;
      again.left = state;
      const auto rest = method.fit(tasks, options, {.checkpoint = &again});
      REQUIRE(rest.ok());
      check_same(*rest, *whole);
      CHECK(again.states.size() < kept.states.size());
    }
    // Of other options, of another problem, or cut short.
    OptionTexts other = options;
    other["lambda"] = "0.5";
    Kept wrong;
    wrong.left = kept.states[0];
    const auto refused = method.fit(tasks, other, {.checkpoint = &wrong});
    REQUIRE_FALSE(refused.ok());
    CHECK_THAT(refused.error().message, Catch::Contains("another problem"));
    wrong.left->resize(wrong.left->size() - 3);
    const auto damaged = method.fit(tasks, options, {.checkpoint = &wrong});
    REQUIRE_FALSE(damaged.ok());
    CHECK_THAT(damaged.error().message, Catch::Contains("damaged"));
  }
}

TEST_CASE("rounds_state: numbers that are no counts and no ends are refused", "[methods][tl_llp][badargs]") {
  RoundsState state;
  state.result.solution.planes.shared = Vector::Constant(2, 0.5);
  state.result.history = {2, 1};
  state.result.steps = {5, 3};
  const std::string good = state.to_bytes();
  REQUIRE(RoundsState::from_bytes(good).has_value());
  // Whatever number is put in any place, what is read is written again the same, or nothing is read.
  for (const double value : {0.5, -1.0, 7.0, 1e300, std::nan("")}) {
    std::size_t refused = 0;
    for (std::size_t at = 0; at < good.size(); at += sizeof value) {
      std::string bytes = good;
      std::memcpy(bytes.data() + at, &value, sizeof value);
      const auto read = RoundsState::from_bytes(bytes);
      if (read) CHECK(read->to_bytes() == bytes);
      refused += read ? 0 : 1;
    }
    CHECK(refused > 10);
  }
}

}  // namespace
}  // namespace bagwise
