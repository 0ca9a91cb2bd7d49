#include "bagwise/report/experiment_journal.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "support/temp_dir.h"

namespace bagwise {
namespace {

ExperimentFile experiment(const std::string& methods = R"({"name": "inv-cal"})", int seed = 1) {
  auto read = experiment_from_json(
      fmt::format(R"({{"name": "x", "data": [{{"name": "g", "kind": "gaussian"}}], "methods": [{}],
                       "bag_sizes": [2, 8], "folds": 2, "seed": {}}})",
                  methods, seed),
      "e.json");
  REQUIRE(read.ok());
  return std::move(*read);
}

CellOutcome outcome(const std::string& method, std::uint64_t size, std::uint64_t fold, double accuracy) {
  const ExperimentKey key{"g", method, size, 0.25, fold};
  CellOutcome out;
  out.result = {key, accuracy, std::nullopt, 1.0 / 3, 0.125, {{"C", "0.5"}, {"metric", "pca"}}};
  out.times = {key, 1.5, 0.25, 2, 16, 2};
  return out;
}

std::string bytes_of(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

const std::map<std::string, std::string> kPrints = {{"g", "0123"}};

TEST_CASE("experiment_journal: what is appended is read again, sorted by key",
          "[report][experiment_journal]") {
  const test::TempDir folder;
  {
    auto journal = ExperimentJournal::open(folder.path.string(), experiment(), kPrints);
    REQUIRE(journal.ok());
    CHECK(journal->found().empty());
    REQUIRE(journal->append(outcome("inv-cal", 8, 1, 0.7)).ok());
    REQUIRE(journal->append(outcome("inv-cal", 2, 0, 0.1)).ok());
  }
  const auto run = read_experiment(folder.path.string());
  INFO((run ? "" : run.error().text()));
  REQUIRE(run.ok());
  CHECK(run->plan.name == "x");
  REQUIRE(run->results.size() == 2);
  const ExperimentResult& first = run->results[0];
  CHECK(first.key == outcome("inv-cal", 2, 0, 0).result.key);
  CHECK(first.accuracy == 0.1);
  CHECK_FALSE(first.balanced_accuracy.has_value());
  CHECK(first.auc == 1.0 / 3);
  CHECK(first.options == OptionTexts{{"C", "0.5"}, {"metric", "pca"}});
  REQUIRE(run->times.size() == 2);
  CHECK(run->times[1].choose == 1.5);
  CHECK(run->times[1].fit == 0.25);
  CHECK(run->times[1].settings == 16);
  CHECK(run->times[1].jobs == 2);
}

TEST_CASE("experiment_journal: cut anywhere, it goes on with the whole lines there are",
          "[report][experiment_journal]") {
  const test::TempDir folder;
  {
    auto journal = ExperimentJournal::open(folder.path.string(), experiment(), kPrints);
    for (std::uint64_t fold = 0; fold < 2; ++fold)
      REQUIRE(journal->append(outcome("inv-cal", 8, fold, 0.7)).ok());
  }
  const std::string results = bytes_of(folder.file("results.jsonl")),
                    times = bytes_of(folder.file("timings.jsonl"));
  for (std::size_t cut = 0; cut <= results.size(); cut += 7) {
    std::ofstream(folder.file("results.jsonl")) << results.substr(0, cut);
    std::ofstream(folder.file("timings.jsonl")) << times.substr(0, std::min(times.size(), cut));
    CAPTURE(cut);
    const auto whole =
        static_cast<std::size_t>(std::count(results.begin(), results.begin() + long(cut), '\n'));
    const auto run = read_experiment(folder.path.string());
    REQUIRE(run.ok());
    CHECK(run->results.size() == whole);
    auto journal = ExperimentJournal::open(folder.path.string(), experiment(), kPrints);
    REQUIRE(journal.ok());
    CHECK(journal->found().size() == whole);
    for (std::uint64_t fold = whole; fold < 2; ++fold)
      REQUIRE(journal->append(outcome("inv-cal", 8, fold, 0.7)).ok());
    CHECK(bytes_of(folder.file("results.jsonl")) == results);
  }
}

TEST_CASE("experiment_journal: a damaged line in the middle is an error with its number",
          "[report][experiment_journal]") {
  const test::TempDir folder;
  REQUIRE(ExperimentJournal::open(folder.path.string(), experiment(), kPrints).ok());
  std::ofstream(folder.file("results.jsonl")) << "{\"data\": \n{}\n";
  const auto broken = read_experiment(folder.path.string());
  REQUIRE_FALSE(broken.ok());
  CHECK_THAT(broken.error().text(), Catch::Contains("results.jsonl:1: is not JSON"));
  std::ofstream(folder.file("results.jsonl")) << "{\"data\": 3}\n";
  const auto wrong = read_experiment(folder.path.string());
  REQUIRE_FALSE(wrong.ok());
  CHECK_THAT(wrong.error().text(), Catch::Contains("results.jsonl:1: \"data\" has 3; expected text"));
  CHECK_FALSE(ExperimentJournal::open(folder.path.string(), experiment(), kPrints).ok());
  CHECK_FALSE(read_experiment(folder.file("none")).ok());
  const auto line = [](const char* accuracy) {
    return fmt::format(R"({{"data":"g","method":"inv-cal","bag_size":2,"noise":0.0,"fold":0,"accuracy":{},)"
                       R"("balanced_accuracy":null,"auc":null,"proportion_error":0.1,"options":{{}}}})"
                       "\n",
                       accuracy);
  };
  std::ofstream(folder.file("results.jsonl")) << line("5");
  CHECK_THAT(read_experiment(folder.path.string()).error().text(),
             Catch::Contains("expected a share from 0 to 1"));
  std::ofstream(folder.file("results.jsonl")) << line("0.5") << line("0.5");
  CHECK(read_experiment(folder.path.string())->results.size() == 1);
  std::ofstream(folder.file("results.jsonl")) << line("0.5") << line("0.6");
  CHECK_THAT(read_experiment(folder.path.string()).error().text(), Catch::Contains("two different results"));
}

TEST_CASE("experiment_journal: a folder of another experiment is refused, one of more or less of it is not",
          "[report][experiment_journal]") {
  const test::TempDir folder;
  const auto open = [&](const ExperimentFile& file, const std::map<std::string, std::string>& prints) {
    auto opened = ExperimentJournal::open(folder.path.string(), file, prints);
    return opened ? std::string() : opened.error().text();
  };
  CHECK(open(experiment(), kPrints).empty());
  CHECK(open(experiment(), kPrints).empty());
  CHECK_THAT(open(experiment(R"({"name": "inv-cal"})", 2), kPrints), Catch::Contains("its seed is 1, not 2"));
  CHECK_THAT(open(experiment(), {{"g", "4567"}}), Catch::Contains("\"g\" of data is something else"));
  CHECK_THAT(open(experiment(R"({"name": "inv-cal", "set": {"C": 1}})"), kPrints),
             Catch::Contains("\"inv-cal\" of methods is something else"));
  CHECK(open(experiment(R"({"name": "inv-cal"}, {"name": "mean-map"})"), kPrints).empty());
  // What was there once is not forgotten by a run without it.
  CHECK(open(experiment(R"({"name": "mean-map"})"), kPrints).empty());
  CHECK_THAT(open(experiment(R"({"name": "inv-cal", "set": {"C": 1}})"), kPrints),
             Catch::Contains("\"inv-cal\" of methods is something else"));
  std::ofstream(folder.file("experiment.json")) << "{}";
  CHECK_FALSE(open(experiment(), kPrints).empty());
}

TEST_CASE("experiment_journal: one run at a time", "[report][experiment_journal]") {
  const test::TempDir folder;
  const auto first = ExperimentJournal::open(folder.path.string(), experiment(), kPrints);
  REQUIRE(first.ok());
  const auto second = ExperimentJournal::open(folder.path.string(), experiment(), kPrints);
  REQUIRE_FALSE(second.ok());
  CHECK_THAT(second.error().text(), Catch::Contains("another run"));
}

}  // namespace
}  // namespace bagwise
