// tune end to end: options chosen on held-out bags, the model made of them, and going on after a stop.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "cli/run_binary.h"
#include "cli/small_data.h"
#include "cli/transfer_tasks.h"

namespace bagwise::test {
namespace {

// Twelve bags of eight rows, and a source of as many.
struct SmallTasks : Workplace {
  SmallTasks() {
    said(*this,
         "generate --out d --seed 3 --target-rows 96 --source-rows 96 --test-rows 60 --features 5 --quiet");
    said(*this, "bag --input d/target.csv --size 8 --out-instances t.csv --out-proportions p.csv --quiet");
    said(*this, "bag --input d/source.csv --size 8 --out-instances s.csv --out-proportions q.csv --quiet");
  }
};

std::string tuning(const std::string& method, const std::string& more = "") {
  return fmt::format("tune --method {} --target t.csv --target-proportions p.csv -o m.json {}", method, more);
}
const std::string kSource = "--source s.csv --source-proportions q.csv ";

std::set<std::string> options_tried(const json& report) {
  std::set<std::string> out;
  for (const json& row : report["table"])
    out.insert(row["method"].get<std::string>() + row["options"].dump());
  return out;
}

void check_refused(const Workplace& place, const std::string& command,
                   const std::vector<std::string>& parts) {
  const auto before = place.names();
  const Outcome outcome = place.run(command);
  INFO("bagwise " << command << "\n" << outcome.out << outcome.err);
  CHECK(outcome.status == 2);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.starts_with("bagwise: "));
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  for (const std::string& part : parts) CHECK_THAT(outcome.err, Catch::Contains(part));
  CHECK(place.names() == before);
}

}  // namespace

TEST_CASE("tune: it says what it tried, what was best and what the model is", "[cli][tune]") {
  const SmallTasks place;
  const Outcome outcome = place.run(tuning("inv-cal"));
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 0);
  CHECK(outcome.err.empty());
  for (const char* part :
       {"inv-cal: 96 instances in 12 bags, 5 features", "tried         16 settings on 5 folds",
        "best          inv-cal C=", "miscount", "the average of", "the 10 best of 16 settings"})
    CHECK_THAT(outcome.out, Catch::Contains(part));
  CHECK(place.has("m.json"));
  CHECK_FALSE(place.has("m.json.tuning"));
  CHECK(place.run(tuning("inv-cal", "--quiet")).out.empty());
}

TEST_CASE("tune: --json has the table of all settings, the best first", "[cli][tune]") {
  const SmallTasks place;
  const json report = told(place, tuning("inv-cal", "--folds 3 --repeats 2 --seed 4"));
  for (const char* key :
       {"method", "selection", "table", "options", "seconds", "peak_memory_bytes", "model", "objective",
        "termination", "instances", "features", "bags", "warnings", "seed", "version"}) {
    INFO(key);
    CHECK(report.contains(key));
  }
  const json& selection = report["selection"];
  CHECK(selection["criterion"] == "miscount");
  CHECK(selection["combine"] == "average");
  CHECK(selection["search"] == "grid");
  CHECK(selection["folds"] == 3);
  CHECK(selection["repeats"] == 2);
  CHECK(selection["settings"] == 16);
  CHECK(selection["members"] >= 6);
  for (const char* key : {"read", "reduce", "choose", "solve", "total"})
    CHECK(report["seconds"].contains(key));
  REQUIRE(report["table"].size() == 16);
  for (std::size_t i = 0; i < 16; ++i) {
    const json& row = report["table"][i];
    CHECK(row["method"] == "inv-cal");
    CHECK(row["metric"] == "none");
    CHECK(row["folds"] == 6);
    CHECK(row["options"].contains("C"));
    CHECK(row["options"].contains("epsilon"));
    if (i > 0) CHECK(row["value"] >= report["table"][i - 1]["value"]);
  }
  const json& best = report["table"][0];
  CHECK(selection["value"] == best["value"]);
  CHECK(selection["best"] == fmt::format("inv-cal C={} epsilon={}", best["options"]["C"].get<std::string>(),
                                         best["options"]["epsilon"].get<std::string>()));
  CHECK(report["method"] == "inv-cal");
  CHECK(report["model"] == "m.json");
}

TEST_CASE("tune: --set, --grid and options of the method say what is tried", "[cli][tune]") {
  const SmallTasks place;
  const std::string few = "--folds 2 ";
  using Tried = std::set<std::string>;
  CHECK(options_tried(told(place, tuning("inv-cal", few + "--set C=1,2 --epsilon 0.3"))) ==
        Tried{R"(inv-cal{"C":"1","epsilon":"0.3"})", R"(inv-cal{"C":"2","epsilon":"0.3"})"});
  CHECK(options_tried(told(place, tuning("mean-map", few + "--set lambda=0.5,3"))) ==
        Tried{R"(mean-map{"lambda":"0.5"})", R"(mean-map{"lambda":"3"})"});
  place.write("g.json", R"({"C": [0.5, 4], "epsilon": [0.1, 0.2]})");
  CHECK(told(place, tuning("inv-cal", few + "--grid g.json"))["table"].size() == 4);
  CHECK(options_tried(told(place, tuning("inv-cal", few + "--grid g.json --set epsilon=0"))) ==
        Tried{R"(inv-cal{"C":"0.5","epsilon":"0"})", R"(inv-cal{"C":"4","epsilon":"0"})"});
  place.write("m.grid", R"({"inv-cal": {"C": 3}, "tl-llp": [{"C": 5}, {"C": 6, "lambda": 2}]})");
  CHECK(options_tried(told(place, tuning("inv-cal", few + "--grid m.grid"))) == Tried{R"(inv-cal{"C":"3"})"});
  CHECK(options_tried(told(place, tuning("tl-llp", few + "--grid m.grid"))) ==
        Tried{R"(tl-llp{"C":"5"})", R"(tl-llp{"C":"6","lambda":"2"})"});
  // Every value of the metric is an arm of its own.
  const json metrics = told(place, tuning("inv-cal", few + "--set metric=none,pca --set C=1"));
  std::multiset<std::string> names;
  for (const json& row : metrics["table"]) names.insert(row["metric"].get<std::string>());
  CHECK(names == std::multiset<std::string>{"none", "none", "pca", "pca"});
}

TEST_CASE("tune: faults of what is asked for are told in one line, and nothing is left behind",
          "[cli][tune][badargs]") {
  const SmallTasks place;
  place.write("unknown.json", R"({"C": [1], "lambda": [1]})");
  place.write("empty.json", R"({"C": []})");
  place.write("broken.json", "{\"C\": [1");
  place.write("other.json", R"({"tl-llp": {"C": 1}})");
  place.write("value.json", R"({"C": [1, -1]})");
  check_refused(place, tuning("inv-cal", "--folds 13"), {"--folds = 13", "12 bags"});
  check_refused(place, tuning("inv-cal", "--folds 1"), {"--folds"});
  check_refused(place, tuning("inv-cal", "--grid unknown.json"), {"unknown.json", "lambda"});
  check_refused(place, tuning("inv-cal", "--grid empty.json"), {"empty.json", "\"C\" is an empty list"});
  check_refused(place, tuning("inv-cal", "--grid broken.json"), {"broken.json", "not JSON"});
  check_refused(place, tuning("inv-cal", "--grid other.json"), {"other.json", "no grid for inv-cal"});
  check_refused(place, tuning("inv-cal", "--grid value.json"), {"value.json", "C = -1"});
  check_refused(place, tuning("inv-cal", "--grid absent.json"), {"absent.json"});
  check_refused(place, tuning("inv-cal", "--set C"), {"--set C", "OPTION=VALUE"});
  check_refused(place, tuning("inv-cal", "--set C="), {"--set C=", "empty value"});
  check_refused(place, tuning("inv-cal", "--set C=1,,2"), {"empty value"});
  check_refused(place, tuning("inv-cal", "--set D=1"), {"no option \"D\""});
  check_refused(place, tuning("inv-cal", "--set C=1 --set C=2"), {"twice"});
  check_refused(place, tuning("inv-cal", "--set C=1 --C 2"), {"--C is given as well"});
  check_refused(place, tuning("inv-cal", "--set C=x"), {"\"x\""});
  check_refused(place, tuning("inv-cal", "--lambda 2"), {"--lambda", "inv-cal"});
  check_refused(place, tuning("inv-cal", kSource), {"inv-cal"});
  check_refused(place, tuning("alter-psvm", kSource + "--init random"), {"--init = random uses no source"});
  check_refused(place, tuning("inv-col"), {"inv-col", "inv-cal"});
  check_refused(place, tuning("inv-cal", "--set C=1 --kernel rbf --combine average --folds 2"),
                {"--combine = average or plane needs planes"});
}

TEST_CASE("tune: files that are in the way are neither read nor written over", "[cli][tune][badargs]") {
  const SmallTasks place;
  place.write("m.json.tuning", R"({"C": [1, 2]})");
  check_refused(place, tuning("inv-cal", "--grid m.json.tuning"),
                {"m.json.tuning", "both an input and the output"});
  check_refused(place, tuning("inv-cal"), {"m.json.tuning", "no journal"});
  CHECK(place.read("m.json.tuning") == R"({"C": [1, 2]})");
  check_refused(place, tuning("inv-cal", "--grid m.json"), {"m.json"});
}

TEST_CASE("tune: labels in the table are ignored with a remark", "[cli][tune]") {
  const SmallTasks place;
  const std::string command = tuning("inv-cal", "--folds 3");
  CHECK(told(place, command)["warnings"].empty());
  const std::string model = place.read("m.json");
  // The same table with a column of labels that says the opposite of what the proportions say.
  std::string labelled;
  for (const std::string& line : split(place.read("t.csv"), '\n'))
    labelled += labelled.empty() ? line + ",label\n" : line + ",1\n";
  place.write("t.csv", labelled);
  const json report = told(place, command);
  REQUIRE(report["warnings"].size() == 1);
  CHECK_THAT(report["warnings"][0].get<std::string>(),
             Catch::Contains("\"label\"") && Catch::Contains("labels are never used"));
  CHECK(place.read("m.json") == model);
}

TEST_CASE("tune: a committee predicts the average of its members' probabilities", "[cli][tune]") {
  const SmallTasks place;
  said(place, tuning("tl-llp", kSource + "--folds 3 --set C=0.5,2 --set lambda=1 --quiet"));
  const json model = model_in(place);
  const json& committee = model["committee"];
  for (const std::string task : {"source", "target"}) {
    const json& planes = committee["tasks"][task == "source" ? 0 : 1];
    const auto lines = split(said(place, "predict --model m.json --input d/test.csv --task " + task), '\n');
    const auto rows = split(place.read("d/test.csv"), '\n');
    REQUIRE(lines.size() == rows.size());
    const auto header = split(rows[0], ',');
    for (std::size_t i = 1; i < lines.size(); ++i) {
      const auto cells = split(rows[i], ',');
      double expected = 0;
      for (std::size_t m = 0; m < committee["share"].size(); ++m) {
        double f = planes["bias"][m].get<double>();
        for (std::size_t j = 0; j < model["features"].size(); ++j) {
          const auto column =
              std::find(header.begin(), header.end(), model["features"][j].get<std::string>());
          f += planes["weights"][m][j].get<double>() *
               std::stod(cells[static_cast<std::size_t>(column - header.begin())]);
        }
        const double z = planes["slope"][m].get<double>() * f + planes["offset"][m].get<double>();
        expected += committee["share"][m].get<double>() / (1 + std::exp(-z));
      }
      CHECK(std::stod(split(lines[i], ',')[2]) == Approx(expected).margin(1e-9));
    }
  }
  const std::string rows = said(place, "predict --model m.json --input d/test.csv --threads 1");
  CHECK(said(place, "predict --model m.json --input d/test.csv --threads 4") == rows);
  const json measured = told(place, "evaluate --model m.json --input d/test.csv");
  CHECK(measured["accuracy"] > 0.5);
  CHECK(
      told(place, "evaluate --model m.json --input t.csv --proportions p.csv").contains("proportion_error"));
  const json inside = told(place, "inspect m.json");
  CHECK(inside["committee"]["members"] == committee["share"].size());
  double total = 0;
  for (const json& one : inside["committee"]["settings"]) total += one["share"].get<double>();
  CHECK(total == Approx(1));
  CHECK(inside["selection"]["folds"] == 3);
  CHECK_THAT(said(place, "inspect m.json"),
             Catch::Contains("averages the probabilities") && Catch::Contains("chosen"));
}

TEST_CASE("tune: the best setting alone is what train makes of it", "[cli][tune]") {
  const SmallTasks place;
  const json best =
      told(place, tuning("tl-llp", kSource + "--combine best --set lambda=1 --folds 3 --seed 7"));
  const json tuned = model_in(place);
  CHECK_FALSE(tuned.contains("committee"));
  CHECK(tuned["selection"]["combine"] == "best");
  std::string command = kTarget + " " + kSource + "--seed 7";
  for (const auto& [name, value] : best["table"][0]["options"].items())
    command += fmt::format(" --{} {}", name, value.get<std::string>());
  said(place, command);
  CHECK(model_in(place)["tasks"] == tuned["tasks"]);
  CHECK(model_in(place)["options"] == tuned["options"]);
  // And its mean plane is a model without members.
  said(place, tuning("tl-llp", kSource + "--combine plane --set lambda=1 --folds 3 --quiet"));
  CHECK_FALSE(model_in(place).contains("committee"));
  CHECK(model_in(place)["selection"]["combine"] == "plane");
}

TEST_CASE("tune: threads change no byte of the model, the seed does", "[cli][tune]") {
  const SmallTasks place;
  const std::string command = tuning("tl-llp", kSource + "--set lambda=1 --folds 3 --quiet --threads ");
  said(place, command + "1");
  const std::string model = place.read("m.json");
  said(place, command + "4");
  CHECK(place.read("m.json") == model);
  said(place, command + "1 --seed 2");
  CHECK(place.read("m.json") != model);
}

TEST_CASE("tune: with a kernel the best setting is kept, and it says so", "[cli][tune]") {
  const SmallTasks place;
  const json report = told(place, tuning("inv-cal", "--kernel rbf --set C=1,4 --epsilon 0.1 --folds 2"));
  CHECK(report["selection"]["combine"] == "best");
  CHECK_THAT(report["warnings"][0].get<std::string>(), Catch::Contains("no planes to average"));
  CHECK(model_in(place).contains("expansion"));
}

TEST_CASE("tune: auto tries every method and shows the table of all", "[cli][tune]") {
  const SmallTasks place;
  place.write("g.json", R"({"tl-llp": {"C": [0.5, 2]}, "inv-cal": {"C": [1, 4]}, "mean-map": {"lambda": 1},
    "alter-psvm": {"C": [0.1, 1]}, "conv-psvm": {"C": [0.1, 1]}, "tl-count": {"C": [0.5, 2]}})");
  const std::string command = tuning("auto", kSource + "--grid g.json --folds 2 ");
  const json report = told(place, command);
  std::multiset<std::string> methods;
  for (const json& row : report["table"]) methods.insert(row["method"].get<std::string>());
  CHECK(methods == std::multiset<std::string>{"tl-llp", "tl-llp", "inv-cal", "inv-cal", "mean-map",
                                              "alter-psvm", "alter-psvm", "conv-psvm", "conv-psvm",
                                              "tl-count", "tl-count"});
  CHECK(report["method"] == "auto");
  CHECK(told(place, "evaluate --model m.json --input d/test.csv")["rows"] == 60);
  const std::string text = said(place, command);
  for (const char* part : {"share of the model", "tl-llp", "conv-psvm", "mean-map"})
    CHECK_THAT(text, Catch::Contains(part));
  const json best = told(place, command + "--combine best");
  CHECK(best["method"] == best["table"][0]["method"]);
}

TEST_CASE("tune: alter-psvm is tried with the source and without it", "[cli][tune]") {
  const SmallTasks place;
  const json report = told(place, tuning("alter-psvm", kSource + "--set C=0.1,1 --C-p 1 --folds 2"));
  std::multiset<std::string> inits;
  for (const json& row : report["table"]) inits.insert(row["options"]["init"].get<std::string>());
  CHECK(inits == std::multiset<std::string>{"inv-cal", "inv-cal", "tl-llp", "tl-llp"});
  CHECK(report["transfer"]["share"] > 0);
  CHECK(report["transfer"]["share"] < 1);
  CHECK(told(place, "evaluate --model m.json --input d/test.csv")["rows"] == 60);
}

TEST_CASE("tune: stopped by Ctrl-C, the same command goes on to the same model", "[cli][tune]") {
  const SmallTasks place;
  const std::string command =
      tuning("tl-llp", kSource + "--set C=0.5,1,2,4 --set epsilon=0.1 --repeats 5 --folds 4 --threads 1");
  const Outcome stopped = place.run_while(command, [&](int child) {
    // Once some of it is on disk, well before all of it is: the head and three lines, of which one is damaged
    // below.
    for (int wait = 0; wait < 20000; ++wait) {
      const std::string kept = place.has("m.json.tuning") ? place.read("m.json.tuning") : "";
      if (std::count(kept.begin(), kept.end(), '\n') >= 4) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    kill(child, SIGINT);
  });
  INFO(stopped.out << stopped.err);
  REQUIRE(stopped.status == 130);
  CHECK(stopped.out.empty());
  CHECK_THAT(stopped.err, Catch::Contains("m.json.tuning") && Catch::Contains("goes on"));
  CHECK_FALSE(place.has("m.json"));
  REQUIRE(place.has("m.json.tuning"));
  // As if it had been killed in the middle of a line.
  const std::string journal = place.read("m.json.tuning");
  place.write("m.json.tuning", journal.substr(0, journal.size() - 5));
  const json resumed = told(place, command);
  REQUIRE(resumed["warnings"].size() == 1);
  CHECK_THAT(resumed["warnings"][0].get<std::string>(), Catch::Contains("went on from m.json.tuning"));
  CHECK_FALSE(place.has("m.json.tuning"));
  const std::string model = place.read("m.json");
  const json undisturbed = told(place, command);
  CHECK(undisturbed["warnings"].empty());
  CHECK(place.read("m.json") == model);
  CHECK(undisturbed["table"] == resumed["table"]);
  // What is left of other data is no start.
  place.write("m.json.tuning", journal);
  CHECK(told(place, tuning("inv-cal", "--folds 2 --seed 2"))["warnings"].empty());
}

}  // namespace bagwise::test
