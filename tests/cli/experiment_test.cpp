// experiment end to end: what it writes, going on after a kill, and what it refuses.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/run_binary.h"
#include "cli/transfer_tasks.h"

namespace bagwise::test {
namespace {

const char* const kExperiment = R"({"name": "small", "title": "A small one",
 "data": [{"name": "g", "kind": "gaussian", "source_rows": 60, "target_rows": 80, "features": 5},
          {"name": "t", "target": "t.csv"}],
 "methods": [{"name": "inv-cal", "grid": {"C": [1, 4]}}, {"name": "tl-llp", "grid": {"C": [1, 4], "lambda": 1}},
             {"name": "fixed", "method": "mean-map", "options": {"lambda": 1}}],
 "bag_sizes": [4, 8], "noise": [0, 0.25], "folds": 3, "selection": {"folds": 3, "combine": "best"}})";

struct SmallExperiment : Workplace {
  SmallExperiment() : Workplace(Files{{"e.json", kExperiment}}) {
    std::string table = "id,label,x,y\n";
    for (int i = 0; i < 120; ++i)
      table += fmt::format("r{},{},{},{}\n", i, i % 2, (i % 2) + (i * 7 % 10) / 10.0, (i * 3 % 11) / 10.0);
    write("t.csv", table);
  }
};

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> out = split(text, '\n');
  std::sort(out.begin(), out.end());
  return out;
}

std::size_t lines_of(const Workplace& place, const std::string& file) {
  const std::string text = place.has(file) ? place.read(file) : "";
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

constexpr std::size_t kCells = 2 * 3 * 2 * 2 * 3;

}  // namespace

TEST_CASE("experiment: it runs every cell and writes a line for each", "[cli][experiment]") {
  const SmallExperiment place;
  const Outcome outcome = place.run("experiment e.json --out out --jobs 2");
  INFO(outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  CHECK_THAT(outcome.out, Catch::Contains("A small one: 72 of 72 cells done (72 now, 0 before)") &&
                              Catch::Contains("bagwise report out"));
  CHECK_THAT(outcome.err, Catch::Contains("of 72 cells, about"));  // not a terminal: a line for each tenth
  CHECK(lines_of(place, "out/results.jsonl") == kCells);
  CHECK(lines_of(place, "out/timings.jsonl") == kCells);
  for (const std::string& line : split(place.read("out/results.jsonl"), '\n')) {
    if (line.empty()) continue;
    const json cell = json::parse(line);
    for (const char* key : {"data", "method", "bag_size", "noise", "fold", "accuracy", "balanced_accuracy",
                            "auc", "proportion_error", "options"})
      CHECK(cell.contains(key));
    CHECK_FALSE(cell.contains("seconds"));
  }
  const json times = json::parse(split(place.read("out/timings.jsonl"), '\n')[0]);
  for (const char* key : {"choose", "fit", "total"}) CHECK(times["seconds"].contains(key));

  // Again: nothing is left to do, and nothing changes.
  const std::string results = place.read("out/results.jsonl");
  const json again = told(place, "experiment e.json --out out");
  CHECK(again["done"] == kCells);
  CHECK(again["done_before"] == kCells);
  CHECK(again["methods"].size() == 3);
  CHECK(place.read("out/results.jsonl") == results);
}

TEST_CASE("experiment: killed at any moment it goes on to the same results", "[cli][experiment]") {
  const SmallExperiment place;
  REQUIRE(place.run("experiment e.json --out whole --jobs 1 --quiet").status == 0);
  const auto undisturbed = sorted_lines(place.read("whole/results.jsonl"));
  REQUIRE(undisturbed.size() == kCells);
  for (const std::size_t step : {1, 9, 23}) {
    const std::string out = fmt::format("out{}", step);
    const std::string file = out + "/results.jsonl";
    std::size_t kills = 0;
    // Killed whenever it has done some more cells, until there is nothing to kill.
    for (std::size_t wanted = step; wanted < kCells && kills < 4; ++kills) {
      const Outcome killed =
          place.run_while(fmt::format("experiment e.json --out {} --jobs 2 --quiet", out), [&](int child) {
            for (int i = 0; i < 4000 && lines_of(place, file) < wanted; ++i)
              std::this_thread::sleep_for(std::chrono::milliseconds(1));
            kill(child, SIGKILL);
          });
      CHECK((killed.status == 128 + SIGKILL || killed.status == 0));
      wanted = lines_of(place, file) + step;
    }
    if (step == 9) {  // as a crash of the machine may leave it
      const std::string text = place.read(file);
      place.write(file, text.substr(0, text.size() - 11));
    }
    REQUIRE(place.run(fmt::format("experiment e.json --out {} --jobs 2 --quiet", out)).status == 0);
    CHECK(sorted_lines(place.read(file)) == undisturbed);
  }
}

TEST_CASE("experiment: Ctrl-C keeps what is done and says how to go on", "[cli][experiment]") {
  const SmallExperiment place;
  const Outcome stopped = place.run_while("experiment e.json --out out --jobs 1 --quiet", [&](int child) {
    for (int i = 0; i < 4000 && lines_of(place, "out/results.jsonl") < 2; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    kill(child, SIGINT);
  });
  INFO(stopped.err);
  if (stopped.status == 0) return;  // it was faster
  CHECK(stopped.status == 130);
  CHECK_THAT(stopped.err, Catch::Contains("of 72 cells are kept in out") && Catch::Contains("goes on"));
  CHECK(lines_of(place, "out/results.jsonl") >= 2);
}

TEST_CASE("experiment: a cell that fails is told, is no line, and the status is 1", "[cli][experiment]") {
  const SmallExperiment place;
  std::string text = kExperiment;
  text.replace(text.find("\"bag_sizes\": [4, 8]"), 19, "\"bag_sizes\": [4, 40]");
  place.write("f.json", text);
  const Outcome outcome = place.run("experiment f.json --out out --json");
  CHECK(outcome.status == 1);
  CHECK_THAT(outcome.err, Catch::Contains("bagwise: failed: inv-cal on "));
  CHECK_THAT(place.run("experiment f.json --out quiet --quiet").err, Catch::Contains("bagwise: failed: "));
  const json report = json::parse(outcome.out);
  CHECK(report["failed"].size() > 0);
  CHECK(report["done"].get<std::size_t>() + report["failed"].size() == kCells);
  CHECK_THAT(report["failed"][0]["error"].get<std::string>(), Catch::Contains("folds = 3"));
  CHECK(lines_of(place, "out/results.jsonl") == report["done"]);
}

TEST_CASE("experiment: what is wrong is said in one line, and nothing is left behind", "[cli][experiment]") {
  const SmallExperiment place;
  place.write("bad.json", "{\"name\": \"x\"");
  place.write(
      "pair.json",
      R"({"name": "x", "data": [{"name": "p", "pair": 1}], "methods": [{"name": "inv-cal"}], "bag_sizes": [2]})");
  place.write(
      "table.json",
      R"({"name": "x", "data": [{"name": "p", "target": "none.csv"}], "methods": [{"name": "inv-cal"}],
                  "bag_sizes": [2]})");
  const auto before = place.names();
  const std::pair<const char*, const char*> wrong[] = {
      {"experiment bad.json --out out", "bad.json:1: column 13: is not JSON"},
      {"experiment none.json --out out", "none.json"},
      {"experiment pair.json --out out --corpora nowhere", "nowhere: has no 20news-19997"},
      {"experiment table.json --out out", "none.csv"},
      {"experiment e.json", "--out"},
      {"experiment e.json --out -", "expected the name of a folder"},
  };
  for (const auto& [command, part] : wrong) {
    const Outcome outcome = place.run(command);
    INFO(command << "\n" << outcome.out << outcome.err);
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    CHECK_THAT(outcome.err, Catch::Contains(part));
    CHECK(place.names() == before);
  }
  // Results of something else are not mixed with.
  REQUIRE(place.run("experiment e.json --out out --quiet").status == 0);
  place.write("t.csv", "id,label,x,y\na,1,1,2\nb,0,2,3\nc,0,2,3\nd,1,5,3\n");
  const Outcome other = place.run("experiment e.json --out out");
  CHECK(other.status == 2);
  CHECK_THAT(other.err, Catch::Contains("\"t\" of data is something else"));
}

}  // namespace bagwise::test
