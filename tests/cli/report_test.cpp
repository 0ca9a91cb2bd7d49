// bagwise report, end to end: the page and the tables of an experiment's folder.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "cli/run_binary.h"
#include "cli/transfer_tasks.h"

namespace bagwise::test {
namespace {

struct Folder {
  std::vector<std::string> data = {"1", "2", "3"}, methods = {"inv-cal", "tl-llp"};
  std::vector<int> bag_sizes = {2, 8};
  std::vector<double> noise = {0};
  int folds = 2;
  std::string data_title = "Set", method_title = "Method";
  std::size_t lines = 1000000;  // of results, the first ones
  bool timings = true;
  bool published = false;
};

// experiment.json, results.jsonl and timings.jsonl under a folder, as bagwise experiment writes them.
Files written(const Folder& folder, const std::string& under) {
  json plan = {{"format", "bagwise-experiment"},
               {"name", "tiny"},
               {"title", "A tiny one"},
               {"bag_sizes", folder.bag_sizes},
               {"noise", folder.noise},
               {"folds", folder.folds},
               {"seed", 7},
               {"data", json::array()},
               {"methods", json::array()}};
  for (const std::string& name : folder.data)
    plan["data"].push_back({{"name", name}, {"title", folder.data_title + " " + name}, {"pair", 1}});
  for (const std::string& name : folder.methods) {
    plan["methods"].push_back(
        {{"name", name}, {"title", folder.method_title + " " + name}, {"method", name}});
  }
  if (folder.published) {
    json figure = {
        {"data", "1"}, {"method", "inv-cal"}, {"bag_size", 2}, {"accuracy", 0.4321}, {"deviation", 0.01}};
    plan["published"] = {{"cite", "A journal"}, {"figures", {figure}}};
  }
  std::string results, timings;
  std::size_t lines = 0;
  for (const std::string& data : folder.data) {
    for (const double noise : folder.noise) {
      for (const int size : folder.bag_sizes) {
        for (int fold = 0; fold < folder.folds; ++fold) {
          for (std::size_t m = 0; m < folder.methods.size(); ++m) {
            if (lines++ >= folder.lines) continue;
            const json key = {{"data", data},
                              {"method", folder.methods[m]},
                              {"bag_size", size},
                              {"noise", noise},
                              {"fold", fold}};
            json result = key, times = key;
            // The second method is ahead by 0.1, by 0.2 on the first set.
            result["accuracy"] = 0.6 + 0.01 * fold + (m == 1 ? data == "1" ? 0.2 : 0.1 : 0.0);
            result["balanced_accuracy"] = 0.7;
            result["auc"] = nullptr;
            result["proportion_error"] = 0.05;
            result["options"] = {{"C", "1"}};
            results += result.dump() + "\n";
            times["seconds"] = {{"choose", 2.0}, {"fit", 0.5}, {"total", 2.5}};
            times["settings"] = 16;
            times["jobs"] = 2;
            timings += times.dump() + "\n";
          }
        }
      }
    }
  }
  Files files = {{under + "/experiment.json", plan.dump(1)}, {under + "/results.jsonl", results}};
  if (folder.timings) files[under + "/timings.jsonl"] = timings;
  return files;
}

}  // namespace

TEST_CASE("cli: report makes a page of an experiment", "[cli][report]") {
  const Workplace place(written({.published = true}, "run"));
  CHECK_THAT(said(place, "report run -o page.html"), Catch::Contains("24 of 24 cells done") &&
                                                         Catch::Contains("page.html") &&
                                                         Catch::Contains("Method tl-llp"));
  const std::string page = place.read("page.html");
  CHECK_THAT(page, Catch::StartsWith("<!DOCTYPE html>") && Catch::Contains("A tiny one") &&
                       Catch::Contains("Method tl-llp has the highest mean accuracy") &&
                       Catch::Contains("Set 1") && Catch::Contains("43.21") && Catch::Contains("A journal") &&
                       Catch::Contains("up to 2 cells at once") && Catch::Contains("seed 7"));
  CHECK_THAT(page, !Catch::Contains("Unfinished") && !Catch::Contains("Noise"));
  CHECK(said(place, "report run -o -") == page);
  CHECK(said(place, "report run --quiet -o again.html").empty());
  CHECK(place.read("again.html") == page);
}

TEST_CASE("cli: report --json tells means, ranks and wins", "[cli][report]") {
  const Workplace place(written({}, "run"));
  const json found = told(place, "report run -o page.html --tables t");
  CHECK(found["cells_done"] == 24);
  CHECK(found["cells"] == 24);
  CHECK(found["cases_compared"] == 6);
  REQUIRE(found["methods"].size() == 2);
  const json& best = found["methods"][0];
  CHECK(best["method"] == "tl-llp");
  CHECK(best["best"] == 6);
  CHECK(best["mean_rank"] == 1);
  CHECK(best["accuracy"].get<double>() == Approx(0.605 + 0.4 / 3));
  const json& pair = found["pairs"][0];
  CHECK(pair["less"] == "inv-cal");
  CHECK(pair["difference"].get<double>() == Approx(0.4 / 3));
  CHECK(pair["above"] == 6);
  CHECK(pair["clearly_above"] == 6);
  CHECK_FALSE(found.contains("iman_davenport"));  // all cases agree: it has no value
  REQUIRE(found["files"].size() > 10);
  CHECK(found["files"][0] == "page.html");
  for (const json& file : found["files"]) CHECK(place.has(file.get<std::string>()));
}

TEST_CASE("cli: report --tables writes tables and figures as files", "[cli][report]") {
  const Workplace place(written({.noise = {0, 0.25}}, "run"));
  CHECK_THAT(said(place, "report run -o page.html --tables a/b"), Catch::Contains("files in a/b"));
  for (const char* name : {"summary", "accuracy", "bag_sizes", "pairs", "differences", "noise", "measures",
                           "times", "times_by_data", "options", "methods"}) {
    INFO(name);
    CHECK_THAT(place.read(fmt::format("a/b/{}.md", name)), Catch::Contains("|---"));
    CHECK_THAT(place.read(fmt::format("a/b/{}.csv", name)), Catch::Contains(","));
  }
  for (const char* name : {"bag_sizes", "ranks", "noise_mean", "noise", "times", "fit_times"})
    CHECK_THAT(place.read(fmt::format("a/b/{}.svg", name)), Catch::StartsWith("<svg"));
  CHECK_THAT(place.read("a/b/accuracy.csv"),
             Catch::StartsWith("data,bag_size,noise,inv-cal_accuracy,inv-cal_deviation,tl-llp_accuracy,"));
  CHECK_THAT(place.read("page.html"), Catch::Contains("Noise"));
}

TEST_CASE("cli: report escapes names", "[cli][report]") {
  const Workplace place(
      written({.data_title = "<script>alert(1)</script>", .method_title = "\"><img src=x>"}, "run"));
  said(place, "report run -o page.html --tables t");
  for (const char* file : {"page.html", "t/accuracy.md", "t/times.svg", "t/bag_sizes.svg"}) {
    INFO(file);
    const std::string bytes = place.read(file);
    CHECK(bytes.find("<script") == std::string::npos);
    CHECK(bytes.find("<img") == std::string::npos);
  }
}

TEST_CASE("cli: report takes runs that are small, unfinished or cut short", "[cli][report]") {
  SECTION("the last line is half written") {
    Files files = written({}, "run");
    std::string& results = files["run/results.jsonl"];
    results.resize(results.size() - 30);
    const Workplace place(files);
    CHECK_THAT(said(place, "report run -o page.html"), Catch::Contains("23 of 24 cells done"));
    CHECK_THAT(place.read("page.html"), Catch::Contains("23 of 24 cells done") && Catch::Contains("5 of 6"));
  }
  SECTION("one result only") {
    const Workplace place(written({.lines = 1}, "run"));
    CHECK_THAT(said(place, "report run -o page.html --tables t"), Catch::Contains("1 of 24 cells done"));
    CHECK_THAT(place.read("page.html"), Catch::Contains("nothing can be compared yet"));
  }
  SECTION("one method") {
    const Workplace place(written({.methods = {"inv-cal"}}, "run"));
    said(place, "report run -o page.html --tables t");
    CHECK_FALSE(place.has("t/pairs.csv"));
    CHECK_THAT(place.read("page.html"), !Catch::Contains("Ranks and pairs"));
  }
  SECTION("one case, no times") {
    const Workplace place(written({.data = {"1"}, .bag_sizes = {4}, .timings = false}, "run"));
    said(place, "report run -o page.html --tables t");
    CHECK_FALSE(place.has("t/times.csv"));
    CHECK_THAT(place.read("page.html"), Catch::Contains("in the only case there is"));
  }
}

TEST_CASE("cli: report refuses what is no experiment, in one line", "[cli][report][badargs]") {
  Files files = written({}, "run");
  files.merge(written({.lines = 0}, "empty"));
  files["plain/readme.txt"] = "nothing\n";
  files["text.txt"] = "nothing\n";
  const Workplace place(files);
  const auto refused = [&](const std::string& words, const std::string& part) {
    const std::vector<std::string> before = place.names();
    const Outcome outcome = place.run("report " + words);
    INFO(words << "\n" << outcome.err);
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    CHECK_THAT(outcome.err, Catch::Contains(part));
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK(place.names() == before);
  };
  refused("nowhere -o page.html", "nowhere");
  refused("plain -o page.html", "experiment.json");
  refused("empty -o page.html", "no results yet");
  refused("text.txt -o page.html", "text.txt");
  refused("text.txt -o page.html --tables t", "--tables is for the folder of an experiment");
  refused("run -o page.html --target text.txt", "--target is about a model");
  refused("run", "output");
  refused("run -o run/results.jsonl", "is both an input and the output");
  refused("run -o run/experiment.json", "is both an input and the output");
  refused("run -o no/such/page.html", "no/such");
  refused("run -o - --json", "--json");
  refused("run -o page.html --tables text.txt", "text.txt");
  refused("run -o t/accuracy.csv --tables t", "two outputs");
}

}  // namespace bagwise::test
