// Committees and selections in model files.
#include <fmt/format.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>

#include "bagwise/core/random.h"
#include "bagwise/methods/scorer.h"
#include "bagwise/report/model_file.h"
#include "support/temp_dir.h"

namespace bagwise {
namespace {

// Any finite number, up to a size that still adds up.
double any_number(Rng& rng) {
  const double any = std::bit_cast<double>(rng());
  return std::isfinite(any) && std::abs(any) < 1e300 ? any : -0.0;
}

Model random_committee(Rng& rng, std::size_t members, std::size_t tasks, std::size_t features) {
  Model model;
  model.method = "auto";
  for (std::size_t j = 0; j < features; ++j) model.features.push_back(fmt::format("x{}", j));
  Committee committee;
  committee.settings = {"inv-cal C=1 \"\xC3\xA9\"", "tl-llp"};
  for (std::size_t m = 0; m < members; ++m) {
    committee.setting.push_back(static_cast<std::uint32_t>(rng.below(2)));
    committee.fold.push_back(static_cast<std::uint32_t>(rng.below(1000)));
    committee.share.push_back(1 / static_cast<double>(members));
  }
  for (std::size_t t = 0; t < tasks; ++t) {
    Committee::Planes planes{
        RowMatrix(static_cast<Eigen::Index>(members), static_cast<Eigen::Index>(features)), {}, {}};
    for (double& w : planes.weights.reshaped()) w = any_number(rng);
    for (std::size_t m = 0; m < members; ++m) {
      planes.bias.push_back(any_number(rng));
      planes.probability.push_back({any_number(rng), any_number(rng)});
    }
    committee.tasks.push_back(std::move(planes));
    model.tasks.push_back({t + 1 == tasks ? "target" : "source", std::vector<double>(features, 0.5), 1, {}});
  }
  model.committee = std::move(committee);
  model.selection =
      Selection{"miscount", "average", "halving", 5, 2, rng(), 170, "inv-cal C=1", rng.uniform()};
  model.training.termination = "converged";
  return model;
}

bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

bool same(const Committee::Planes& a, const Committee::Planes& b) {
  bool out = a.weights.rows() == b.weights.rows() && a.weights.cols() == b.weights.cols() &&
             a.bias.size() == b.bias.size() && a.probability.size() == b.probability.size();
  for (Eigen::Index m = 0; out && m < a.weights.rows(); ++m) {
    for (Eigen::Index j = 0; j < a.weights.cols(); ++j) out = out && same(a.weights(m, j), b.weights(m, j));
    const auto i = static_cast<std::size_t>(m);
    out = out && same(a.bias[i], b.bias[i]) && same(a.probability[i].slope, b.probability[i].slope) &&
          same(a.probability[i].offset, b.probability[i].offset);
  }
  return out;
}

std::string fault_of(std::string_view text) {
  const auto loaded = model_from_json(text, "m.json");
  return loaded ? "" : loaded.error().text();
}

// An edit with a right checksum: the error tells the sum it expected.
std::string edited(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  INFO(from << " in\n" << text);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  const std::string fault = fault_of(text);
  const auto told = fault.find("expected fnv1a64:");
  if (told == std::string::npos) return text;
  const std::string sum = fault.substr(told + 9);
  return text.replace(text.rfind("fnv1a64:"), sum.size(), sum);
}

}  // namespace

TEST_CASE("model_file: a committee and its selection read back to the same bits", "[report][model_file]") {
  Rng rng(1);
  for (int round = 0; round < 60; ++round) {
    const Model model = random_committee(rng, 1 + rng.below(6), 1 + rng.below(3), rng.below(5));
    const std::string text = model_to_json(model);
    const auto loaded = model_from_json(text, "m.json");
    INFO(text << (loaded ? "" : loaded.error().text()));
    REQUIRE(loaded.ok());
    REQUIRE(loaded->committee);
    const Committee &a = *model.committee, &b = *loaded->committee;
    CHECK(a.settings == b.settings);
    CHECK(a.setting == b.setting);
    CHECK(a.fold == b.fold);
    CHECK(a.share == b.share);
    REQUIRE(a.tasks.size() == b.tasks.size());
    for (std::size_t t = 0; t < a.tasks.size(); ++t) CHECK(same(a.tasks[t], b.tasks[t]));
    REQUIRE(loaded->selection);
    const Selection &s = *model.selection, &u = *loaded->selection;
    CHECK(s.criterion == u.criterion);
    CHECK(s.combine == u.combine);
    CHECK(s.search == u.search);
    CHECK(s.folds == u.folds);
    CHECK(s.repeats == u.repeats);
    CHECK(s.seed == u.seed);
    CHECK(s.settings == u.settings);
    CHECK(s.best == u.best);
    CHECK(same(s.value, u.value));
    CHECK(model_to_json(*loaded) == text);
  }
}

TEST_CASE("model_file: a committee scores the same after a file as before", "[report][model_file]") {
  Rng rng(2);
  Model model = random_committee(rng, 4, 2, 3);
  for (Committee::Planes& planes : model.committee->tasks) {
    for (double& w : planes.weights.reshaped()) w = rng.normal();
    for (double& b : planes.bias) b = rng.normal();
    for (Probability& p : planes.probability) p = {1 + rng.uniform(), rng.normal()};
  }
  const test::TempDir folder;
  REQUIRE(save_model(folder.file("m.json"), model).ok());
  const auto loaded = load_model(folder.file("m.json"));
  REQUIRE(loaded.ok());
  DenseRows rows(20, 3);
  for (std::size_t i = 0; i < 20; ++i)
    for (std::size_t j = 0; j < 3; ++j) rows(i, j) = rng.normal();
  for (std::size_t t = 0; t < 2; ++t)
    CHECK(Scorer(*loaded, t).scores(rows.view()) == Scorer(model, t).scores(rows.view()));
}

TEST_CASE("model_file: faults of a committee are named", "[report][model_file]") {
  Rng rng(3);
  Model model = random_committee(rng, 2, 1, 2);
  model.committee->setting = {0, 1};
  model.committee->fold = {3, 4};
  model.committee->share = {0.25, 0.75};
  Committee::Planes& planes = model.committee->tasks[0];
  planes.weights << 1, 2, 3, 4;
  planes.bias = {5, 6};
  planes.probability = {{7, 8}, {9, 10}};
  model.selection->folds = 5;
  const std::string text = model_to_json(model);
  REQUIRE(fault_of(text).empty());
  using Edit = std::pair<std::string, std::string>;
  const std::vector<std::pair<Edit, std::string>> edits = {
      {{"\"share\":[0.25,0.75]", "\"share\":[0.25,0.5]"}, "add up to 0.75, not 1"},
      {{"\"share\":[0.25,0.75]", "\"share\":[-0.25,1.25]"}, "a share outside 0 to 1"},
      {{"\"share\":[0.25,0.75]", "\"share\":[null,0.75]"}, "expected a finite number"},
      {{"\"share\":[0.25,0.75]", "\"share\":[]"}, "\"committee\" has no members"},
      {{"\"share\":[0.25,0.75]", "\"share\":[1.0]"}, "one setting and one fold per member"},
      {{"\"share\":[0.25,0.75]", "\"shore\":[]"}, "\"committee.share\""},
      {{"\"fold\":[3,4]", "\"fold\":[3]"}, "one setting and one fold per member"},
      {{"\"fold\":[3,4]", "\"fold\":[3,-4]"}, "expected a whole number from 0"},
      {{"\"fold\":[3,4]", "\"fold\":[3,4294967296]"}, "\"committee.fold\" has 4294967296; too large"},
      {{"\"setting\":[0,1]", "\"setting\":[0,2]"}, "\"committee.setting\" has 2"},
      {{"\"setting\":[0,1]", "\"setting\":[0]"}, "one setting and one fold per member"},
      {{"[[1.0,2.0],[3.0,4.0]]", "[[1.0,2.0],[3.0]]"}, "rows of different lengths"},
      {{"[[1.0,2.0],[3.0,4.0]]", "[[1.0,2.0]]"}, "a plane of 2 weights per member"},
      {{"[[1.0,2.0],[3.0,4.0]]", "[[1.0],[3.0]]"}, "a plane of 2 weights per member"},
      {{"[[1.0,2.0],[3.0,4.0]]", "[]"}, "a plane of 2 weights per member"},
      {{"[[1.0,2.0],[3.0,4.0]]", "[[1.0,2.0],[3.0,null]]"}, "expected a finite number"},
      {{"[[1.0,2.0],[3.0,4.0]]", "[[1.0,2.0],7]"}, "expected an array"},
      {{"\"bias\":[5.0,6.0]", "\"bias\":[5.0]"}, "a plane of 2 weights per member"},
      {{"\"bias\":[5.0,6.0]", "\"bias\":[5.0,\"x\"]"}, "expected a finite number"},
      {{"\"slope\":[7.0,9.0]", "\"slope\":[7.0]"}, "a slope without an offset"},
      {{"\"offset\":[8.0,10.0]", "\"offset\":[8.0,null]"}, "expected a finite number"},
      {{"\"folds\":5", "\"folds\":-5"}, "\"selection.folds\""},
      {{"\"criterion\":\"miscount\"", "\"criterion\":3"}, "\"selection.criterion\""},
      {{"\"committee\": {", "\"committee\": 3, \"c\": {"}, "expected an object"},
      {{"\"selection\": {", "\"selection\": [], \"s\": {"}, "expected an object"},
  };
  for (const auto& [edit, expected] : edits) {
    INFO(edit.first << " -> " << edit.second);
    const std::string fault = fault_of(edited(text, edit.first, edit.second));
    CHECK_THAT(fault, Catch::Contains(expected) && Catch::StartsWith("m.json: "));
  }
  Model two = model;
  two.committee->tasks.push_back(two.committee->tasks[0]);
  CHECK_THAT(fault_of(model_to_json(two)), Catch::Contains("not one for each task"));
  two = model;
  two.expansion = Expansion{{KernelKind::kRbf, 1, 3}, DenseRows(2, 2)};
  CHECK_THAT(fault_of(model_to_json(two)), Catch::Contains("committee and an expansion"));
}

TEST_CASE("model_file: a committee that is not finite is never written", "[report][model_file]") {
  Rng rng(4);
  const test::TempDir folder;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::function<void(Model&)>> breaks = {
      [&](Model& m) { m.committee->tasks[0].weights(1, 1) = nan; },
      [&](Model& m) { m.committee->tasks[0].bias[0] = nan; },
      [&](Model& m) { m.committee->tasks[0].probability[1].offset = nan; },
      [&](Model& m) { m.committee->share[0] = nan; },
      [&](Model& m) { m.selection->value = nan; },
  };
  for (const auto& damage : breaks) {
    Model model = random_committee(rng, 2, 1, 2);
    damage(model);
    CHECK_FALSE(save_model(folder.file("m.json"), model).ok());
  }
  CHECK(std::filesystem::is_empty(folder.path));
}

}  // namespace bagwise
