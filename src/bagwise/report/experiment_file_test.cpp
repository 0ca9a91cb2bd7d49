#include "bagwise/report/experiment_file.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "bagwise/evaluate/grid.h"
#include "support/temp_dir.h"

namespace bagwise {
namespace {

// A whole experiment, of which a part may be put otherwise.
std::string experiment(const std::string& methods = R"([{"name": "inv-cal"}])",
                       const std::string& more = "") {
  return fmt::format(R"({{"name": "x", "data": [{{"name": "g", "kind": "gaussian"}}], "methods": {},
 "bag_sizes": [2, 8]{}}})",
                     methods, more);
}

ExperimentPlan plan_of(const std::string& text) {
  auto read = experiment_from_json(text, "some/e.json");
  INFO((read ? "" : read.error().text()));
  REQUIRE(read.ok());
  return std::move(read->plan);
}

std::string fault_of(const std::string& text) {
  const auto read = experiment_from_json(text, "some/e.json");
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().file == "some/e.json");
  return read.error().text();
}

// Two methods, neither of which has too many.
std::string many_settings() {
  std::string numbers = "1";
  for (int i = 2; i <= 250; ++i) numbers += fmt::format(", {}", i);
  const std::string grid = fmt::format(R"({{"C": [{0}], "epsilon": [{0}]}})", numbers);
  return fmt::format(
      R"([{{"name": "a", "method": "inv-cal", "grid": {0}}}, {{"name": "b", "method": "inv-cal", "grid": {0}}}])",
      grid);
}

TEST_CASE("experiment_file: what is not said has its default", "[report][experiment_file]") {
  const ExperimentPlan plan = plan_of(experiment());
  CHECK(plan.title == "x");
  CHECK(plan.data[0].title == "g");
  CHECK(plan.noise == std::vector<double>{0});
  CHECK(plan.folds == 5);
  CHECK(plan.run_folds == 5);
  CHECK(plan.seed == 1);
  CHECK(plan.bag_sizes == std::vector<std::uint64_t>{2, 8});
  const ExperimentMethod& method = plan.methods[0];
  CHECK(method.tuned);
  CHECK(method.uses_sources);
  CHECK(method.selection.combine == Combine::kAverage);
  CHECK(settings_of(method.arms[0].paths) == settings_of(find_method("inv-cal")->default_grid(1)));
  CHECK(plan.published.empty());
}

TEST_CASE("experiment_file: every part can be said", "[report][experiment_file]") {
  const ExperimentPlan plan = plan_of(R"({"name": "x", "title": "All of it",
    "data": [{"name": "g", "title": "G", "kind": "documents", "preset": "unrelated", "seed": 7, "source_rows": 50,
              "target_rows": 40, "features": 30, "best_accuracy": 0.8, "angle": 45},
             {"name": "p", "pair": 9, "seed": 3, "missing_body": "omit"},
             {"name": "t", "target": "t.csv", "source": "sub/s.csv"}],
    "methods": [{"name": "a", "title": "A", "method": "tl-llp", "grid": {"C": [1, 2], "lambda": 3},
                 "set": {"metric": ["none", "pca"]}, "selection": {"combine": "plane", "tau": 2}},
                {"name": "b", "method": "mean-map", "options": {"lambda": 4, "metric": "pca"}, "sources": false}],
    "bag_sizes": [1, 64], "noise": [0, 0.5], "folds": 10, "run_folds": 3, "seed": 9,
    "selection": {"folds": 4, "repeats": 2, "criterion": "likelihood", "combine": "best", "search": "halving"},
    "published": {"cite": "They, 1999", "figures": [{"data": "p", "method": "a", "bag_size": 2, "accuracy": 0.7,
                                                      "deviation": 0.01}]
}
})");
  const auto& generator = std::get<GeneratorOptions>(plan.data[0].origin);
  CHECK(generator.kind == GeneratorKind::kDocuments);
  CHECK(generator.seed == 7);
  CHECK(generator.source_rows == 50);
  CHECK(generator.features == 30);
  CHECK(generator.angle_degrees == 45);
  const auto& pair = std::get<ExperimentPair>(plan.data[1].origin);
  CHECK(pair.number == 9);
  CHECK(pair.seed == 3);
  CHECK(pair.missing_body == MissingBody::kOmit);
  const auto& tables = std::get<ExperimentTables>(plan.data[2].origin);
  CHECK(tables.target == "some/t.csv");
  CHECK(tables.source == "some/sub/s.csv");
  const ExperimentMethod& a = plan.methods[0];
  CHECK(a.arms.size() == 2);
  CHECK(a.arms[1].metric == "pca");
  CHECK(settings_of(a.arms[0].paths) == settings_of(a.arms[1].paths));
  CHECK(settings_of(a.arms[0].paths).size() == 2);
  CHECK(a.selection.combine == Combine::kPlane);
  CHECK(a.selection.tau == 2);
  CHECK(a.selection.folds == 4);
  CHECK(a.selection.search == Search::kHalving);
  const ExperimentMethod& b = plan.methods[1];
  CHECK_FALSE(b.tuned);
  CHECK_FALSE(b.uses_sources);
  CHECK(b.arms[0].metric == "pca");
  CHECK(b.arms[0].paths[0][0] == OptionTexts{{"lambda", "4"}});
  CHECK(plan.run_folds == 3);
  CHECK(plan.published_in == "They, 1999");
  CHECK(plan.published[0].accuracy == 0.7);
}

TEST_CASE("experiment_file: a fault names its key, what was found and what was expected",
          "[report][experiment_file]") {
  const auto with = [](const std::string& more) {
    return experiment(R"([{"name": "inv-cal"}])", ", " + more);
  };
  const std::pair<std::string, std::string> faults[] = {
      {"{\"name\": \"x\",\n \"data\": [}", "some/e.json:2: column 11: is not JSON"},
      {"[]", "is of type array"},
      {"{}", "has no \"name\""},
      {experiment("[]"), "\"methods\" is empty"},
      {experiment(R"([{"name": "inv-cal"}, {"name": "inv-cal"}])"), "\"inv-cal\" twice"},
      {experiment(R"([{"name": "inv-cle"}])"), "no method \"inv-cle\"; expected"},
      {experiment(R"([{"name": "inv-cal", "grid": {"D": 1}}])"), "\"inv-cal\""},
      {experiment(R"([{"name": "inv-cal", "grid": {"C": []}}])"), "empty list"},
      {experiment(R"([{"name": "inv-cal", "set": {"C": -1}}])"), "C"},
      {experiment(R"([{"name": "inv-cal", "set": [1]}])"), "\"methods.set\" is of type array"},
      {experiment(R"([{"name": "inv-cal", "options": {"C": 1}, "grid": {"C": 1}}])"),
       "expected one of the two"},
      {experiment(R"([{"name": "inv-cal", "selection": {"combine": "worst"}}])"),
       "expected best, average, plane"},
      {experiment(R"([{"name": "inv-cal", "gird": {}}])"), "\"methods.gird\", which is not known"},
      {with("\"bag_size\": 3"), "\"bag_size\", which is not known"},
      {with("\"noise\": [0, 1.5]"), "\"noise\" has 1.5"},
      {with("\"noise\": [0, 0]"), "\"noise\" has a value twice"},
      {with("\"folds\": 1"), "\"folds\" is 1"},
      {with("\"run_folds\": 6"), "\"run_folds\" is 6; expected from 1 to all 5"},
      {with("\"seed\": -1"), "\"seed\" is -1"},
      {with("\"selection\": {\"folds\": 1}"), "\"selection.folds\" is 1"},
      {with("\"folds\": 100000000"), "cells; expected at most"},
      {experiment(many_settings()), "has methods of more than 100000 settings in all"},
      {with("\"seed\": 1, \"seed\": 2"), "has the key \"seed\" twice"},
      {with("\"format\": \"other\""), "expected bagwise-experiment"},
      {with("\"selection\": {\"repeats\": 1000000000000}"), "expected from 1 to 1000"},
      {with(R"("published": {"cite": "T", "figures": [{"data": "g", "method": "inv-cal", "bag_size": 2,
                "accuracy": 74.5, "deviation": 0.1}]})"),
       "has the accuracy 74.5; expected a share"},
      {with(R"("published": {"cite": "T", "figures": [], "file": "p.csv"})"), "expected one of the two"},
      {R"({"name": "x", "data": [{"name": "p", "pair": 10}], "methods": [{"name": "inv-cal"}], "bag_sizes": [2]})",
       "expected a pair from 1 to 9"},
      {R"({"name": "x", "data": [{"name": "p"}], "methods": [{"name": "inv-cal"}], "bag_sizes": [2]})",
       "does not say where it comes from"},
      {R"({"name": "x", "data": [{"name": "p", "kind": "gaussian", "features": 1}], "methods": [{"name": "inv-cal"}],
          "bag_sizes": [2]})",
       "features"},
  };
  for (const auto& [text, part] : faults) {
    INFO(text);
    CHECK_THAT(fault_of(text), Catch::Contains(part));
  }
}

TEST_CASE("experiment_file: published figures of another file become part of the document",
          "[report][experiment_file]") {
  const test::TempDir folder;
  std::ofstream(folder.file("p.csv")) << "data,method,bag_size,accuracy,deviation\ng,inv-cal,8,0.75,0.02\n";
  const std::string text =
      experiment(R"([{"name": "inv-cal"}])", R"(, "published": {"cite": "They", "file": "p.csv"})");
  const auto read = experiment_from_json(text, folder.file("e.json"));
  REQUIRE(read.ok());
  REQUIRE(read->plan.published.size() == 1);
  CHECK(read->plan.published[0].bag_size == 8);
  CHECK(read->plan.published[0].deviation == 0.02);
  const ExperimentPlan again = plan_of(read->document);  // where there is no such file
  CHECK(again.published.size() == 1);
  CHECK(again.published[0].accuracy == 0.75);

  std::ofstream(folder.file("p.csv")) << "data,method,bag_size,accuracy,deviation\ng,inv-cal,8,often,0.02\n";
  const auto wrong = experiment_from_json(text, folder.file("e.json"));
  REQUIRE_FALSE(wrong.ok());
  CHECK_THAT(wrong.error().text(), Catch::Contains("p.csv:2: column 4 (accuracy)"));
}

TEST_CASE("experiment_file: the fingerprint of a method tells settings and selections apart",
          "[report][experiment_file]") {
  const auto print = [](const std::string& method) {
    return fingerprint(plan_of(experiment("[" + method + "]")).methods[0]);
  };
  const std::string plain = print(R"({"name": "tl-llp"})");
  CHECK(print(R"({"name": "other", "title": "T", "method": "tl-llp"})") == plain);
  for (const char* other :
       {R"({"name": "tl-llp", "sources": false})", R"({"name": "tl-llp", "set": {"metric": "pca"}})",
        R"({"name": "tl-llp", "set": {"epsilon": 0.1}})", R"({"name": "tl-llp", "selection": {"tau": 3}})",
        R"({"name": "tl-count"})", R"({"name": "tl-llp", "options": {}})"}) {
    INFO(other);
    CHECK(print(other) != plain);
  }
}

}  // namespace
}  // namespace bagwise
