// tl-count end to end: from tables to a model, through every command that reads one.
#include <algorithm>
#include <cmath>

#include "cli/transfer_tasks.h"

namespace bagwise::test {
namespace {

const std::string kCount =
    "train --method tl-count --target t.csv --target-proportions p.csv -o m.json --quiet";
const std::string kFromOne = " --source s1.csv --source-proportions q1.csv";

// The scores of a prediction, and the probabilities beside them.
struct Predicted {
  Numbers score, probability;
};
Predicted predicted(const Workplace& place, const std::string& command) {
  Predicted out;
  const auto lines = split(said(place, command), '\n');
  for (std::size_t i = 1; i < lines.size() && !lines[i].empty(); ++i) {
    const auto cells = split(lines[i], ',');
    REQUIRE(cells.size() >= 3);
    out.score.push_back(std::stod(cells[1]));
    out.probability.push_back(std::stod(cells[2]));
  }
  return out;
}

}  // namespace

TEST_CASE("count: train tells every step, every task and how each bag is met", "[cli][count]") {
  const GeneratedTasks place;
  const json report = told(place, kCount + kFromThree);
  CHECK(report["method"] == "tl-count");
  CHECK(report["termination"] == "converged");
  const auto history = report["objective_history"].get<Numbers>();
  CHECK(std::is_sorted(history.rbegin(), history.rend()));
  CHECK(report["objective"] == history.back());
  CHECK(report["rounds"] == history.size() - 1);
  for (const char* option : {"C", "C-source", "lambda", "lambda-source", "exact-up-to", "init", "kernel",
                             "nystrom", "tolerance", "max-steps", "scale", "metric"})
    CHECK(report["options"].contains(option));
  REQUIRE(report["tasks"].size() == 4);
  for (const json& task : report["tasks"]) {
    CHECK(task["residual"].size() == task["bags"]);
    CHECK(task["bag"].size() == task["bags"]);
    CHECK(task["angles"].size() == 4);
    for (const double residual : task["residual"]) CHECK(std::abs(residual) <= 1);
  }
  // No bound to how far the objective is from the least: the problem is not convex.
  CHECK((!report.contains("relative_gap") || report["relative_gap"].is_null()));
}

TEST_CASE("count: residuals are mean probabilities less shares, as predict and evaluate have them",
          "[cli][count]") {
  const GeneratedTasks place;
  const json report = told(place, kCount + kFromOne);
  const Predicted rows = predicted(place, "predict --model m.json --input t.csv");
  REQUIRE(rows.score.size() == 96);
  for (std::size_t i = 0; i < rows.score.size(); ++i)
    CHECK(rows.probability[i] == Approx(1 / (1 + std::exp(-rows.score[i]))).margin(1e-9));
  double sum = 0;
  for (const double p : rows.probability) sum += p / 96;
  double from_bags = 0;
  const auto shares = split(place.read("p.csv"), '\n');
  const json& target = report["tasks"][1];
  for (std::size_t k = 0; k < target["bags"]; ++k) {
    const auto cells = split(shares[k + 1], ',');
    const auto bag = std::find(target["bag"].begin(), target["bag"].end(), cells[0]) - target["bag"].begin();
    from_bags += (target["residual"][static_cast<std::size_t>(bag)].get<double>() + std::stod(cells[1])) / 12;
  }
  CHECK(sum == Approx(from_bags).margin(1e-9));
  const json evaluated = told(place, "evaluate --model m.json --input d1/test.csv");
  CHECK(evaluated["rows"] == 50);
  CHECK(evaluated["accuracy"] > 0.6);
  const Predicted source = predicted(place, "predict --model m.json --input t.csv --task source");
  CHECK(source.score != rows.score);
  CHECK(predicted(place, "predict --model m.json --input t.csv --task target").score == rows.score);
}

TEST_CASE("count: the same seed gives the same model file whatever the threads", "[cli][count]") {
  const GeneratedTasks place;
  for (const std::string options :
       {"", " --kernel rbf --nystrom 20", " --metric pca", " --exact-up-to 0 --scale standard"}) {
    const std::string command = kCount + kFromThree + options + " --threads ";
    said(place, command + "1");
    const std::string model = place.read("m.json");
    for (const char* threads : {"1", "2", "3"}) {
      said(place, command + threads);
      CHECK(place.read("m.json") == model);
    }
    CHECK_FALSE(said(place, "predict --model m.json --input d1/test.csv").empty());
  }
}

TEST_CASE("count: inspect shows the model and its planes", "[cli][count]") {
  const GeneratedTasks place;
  said(place, kCount + kFromThree);
  const std::string text = said(place, "inspect m.json");
  for (const char* part : {"tl-count", "converged", "source-3", "target", "exact-up-to", "objective"})
    CHECK_THAT(text, Catch::Contains(part));
  const json found = told(place, "inspect m.json");
  CHECK(found["method"] == "tl-count");
  CHECK(found["tasks"].size() == 4);
  // What the file holds is what it holds when it is read and told again.
  CHECK(told(place, "inspect m.json") == found);
}

TEST_CASE("count: diagnose judges its model by bags", "[cli][count][diagnose]") {
  const GeneratedTasks place;
  said(place, kCount + kFromOne);
  const std::string command = "diagnose --target t.csv --target-proportions p.csv" + kFromOne +
                              " --bootstrap 10 --folds 3 --model m.json";
  const json found = told(place, command)["model"];
  CHECK(found["bags"].size() == 12);
  CHECK(found["held_out"]["folds"] == 3);
  CHECK(found["bootstrap"]["weights"].size() == 6);
  CHECK(said(place, command + " --threads 1") == said(place, command + " --threads 2"));
}

TEST_CASE("count: tune tries its settings and averages them", "[cli][count][tune]") {
  const GeneratedTasks place;
  place.write("g.json", R"({"tl-count": {"C": [0.25, 1, 4], "lambda": [0.1, 1]}})");
  const json report =
      told(place, "tune --method tl-count --target t.csv --target-proportions p.csv -o m.json" + kFromOne +
                      " --folds 3 --grid g.json");
  CHECK(report["table"].size() == 6);
  CHECK(report["method"] == "tl-count");
  CHECK(told(place, "evaluate --model m.json --input d1/test.csv")["rows"] == 50);
}

TEST_CASE("count: noise of the shares is weighed, not ignored", "[cli][count][noise]") {
  const GeneratedTasks place;
  said(place, kCount);
  const json exact = model_in(place);
  std::string noisy = "bag,proportion,stderr\n";
  const auto shares = split(place.read("p.csv"), '\n');
  for (std::size_t k = 1; k < shares.size() && !shares[k].empty(); ++k) {
    const auto cells = split(shares[k], ',');
    noisy += fmt::format("{},{},0.2\n", cells[0], cells[1]);
  }
  place.write("p.csv", noisy);
  const json report = told(place, kCount);
  CHECK(model_in(place)["tasks"][0]["weights"] != exact["tasks"][0]["weights"]);
  for (const json& warning : report["warnings"])
    CHECK_THAT(warning.get<std::string>(), !Catch::Contains("takes them for exact"));
}

TEST_CASE("count: steps that end too early are told, and the model is still written", "[cli][count]") {
  const GeneratedTasks place;
  const Outcome outcome = place.run(kCount + kFromOne + " --max-steps 1 --tolerance 1e-12 --json");
  CHECK(outcome.status == 1);
  CHECK(json::parse(outcome.out)["termination"] == "iteration-limit");
  CHECK(json::parse(outcome.out)["objective_history"].size() == 2);
  CHECK_THAT(outcome.err, Catch::Contains("iteration-limit") && Catch::Contains("after 1 step"));
  CHECK(model_in(place)["training"]["termination"] == "iteration-limit");
}

TEST_CASE("count: options that do not go together are refused before any reading", "[cli][count][badargs]") {
  const GeneratedTasks place;
  const auto refused = [&](const std::string& command, const std::string& part) {
    const Outcome outcome = place.run(command);
    INFO("bagwise " << command << "\n" << outcome.out << outcome.err);
    CHECK(outcome.status == 2);
    CHECK(outcome.err.starts_with("bagwise: "));
    CHECK_THAT(outcome.err, Catch::Contains(part));
    CHECK_FALSE(place.has("m.json"));
  };
  refused(kCount + " --kernel rbf", "kernel = rbf without nystrom");
  refused(kCount + " --nystrom 5", "nystrom");
  refused(kCount + " --C 0", "--C = 0 breaks C > 0");
  refused(kCount + " --exact-up-to -1", "exact-up-to");
  refused(kCount + " --C-source 2", "there is no --source");
  refused(kCount + kFromThree + " --C-source 1 --C-source 2", "3 sources");
  refused(kCount + " --epsilon 0.1", "--epsilon");
  refused(kCount + kFromOne + " --kernel rbf --nystrom 5 --metric pca", "metric");
}

TEST_CASE("count: the help of train lists every option of tl-count", "[cli][count]") {
  const Workplace place;
  const std::string help = said(place, "train --help");
  const auto start = help.find("Options of tl-count");
  REQUIRE(start != std::string::npos);
  const std::string section = help.substr(start);
  for (const char* option : {"--C ", "--C-source", "--lambda ", "--lambda-source", "--exact-up-to",
                             "--init anneal|tl-llp", "--kernel linear|rbf|poly", "--gamma", "--degree",
                             "--nystrom", "--tolerance", "--max-steps", "--scale", "--metric none|pca"})
    CHECK_THAT(section, Catch::Contains(option));
  CHECK_THAT(said(place, "methods"), Catch::Contains("tl-count"));
}

}  // namespace bagwise::test
