// tl-llp end to end: several tasks in, a model that knows them all out, and what it says of the transfer.
#include <algorithm>
#include <cmath>
#include <map>

#include "cli/small_data.h"
#include "cli/transfer_tasks.h"

namespace bagwise::test {
namespace {

void check_refused(const Files& files, const std::string& command, const std::vector<std::string>& parts) {
  const Workplace place(files);
  const Outcome outcome = place.run(command);
  INFO("bagwise " << command << "\n" << outcome.out << outcome.err);
  CHECK(outcome.status == 2);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.starts_with("bagwise: "));
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  for (const std::string& part : parts) CHECK_THAT(outcome.err, Catch::Contains(part));
  CHECK_FALSE(place.has("m.json"));
}

// A target and a source of three bags each.
const std::string kSource = "bag,x1,x2\nm,1,1\nm,2,2\nn,0,4\nn,1,3\no,3,2\no,2,1\n";
const std::string kSourceProportions = "bag,proportion\nm,0.5\nn,1\no,0.25\n";
const std::string kFromOne = " --source s.csv --source-proportions q.csv";
const std::string kTransfer = kTarget + kFromOne;

Files two_tasks(const Files& more = {}) {
  Files files = {
      {"t.csv", kTable}, {"p.csv", kProportions}, {"s.csv", kSource}, {"q.csv", kSourceProportions}};
  for (const auto& [name, bytes] : more) files[name] = bytes;
  return files;
}

}  // namespace

TEST_CASE("transfer: one source or several, each task is in the report and can be predicted with",
          "[cli][transfer]") {
  const GeneratedTasks place;
  const json report = told(place, kTarget + kFromThree);
  REQUIRE(report["tasks"].size() == 4);
  const std::vector<std::string> names = {"source", "source-2", "source-3", "target"};
  for (std::size_t t = 0; t < names.size(); ++t) {
    const json& task = report["tasks"][t];
    CHECK(task["name"] == names[t]);
    CHECK(task["bags"] == (t == 3 ? 12 : 20));
    CHECK(task["instances"] == (t == 3 ? 96 : 160));
    for (const char* per_bag : {"bag", "residual", "shift", "at_bound"})
      CHECK(task[per_bag].size() == task["bags"]);
    CHECK(task["angles"].size() == 4);
    CHECK(task["angles"][t] == 0.0);
  }
  CHECK(report["shared_norm"] > 0);

  std::map<std::string, std::string> scores;
  const auto predict = [&](const std::string& task) {
    return said(place, "predict --model m.json --input d1/test.csv --task " + task);
  };
  for (const std::string& name : names) scores[name] = predict(name);
  CHECK(said(place, "predict --model m.json --input d1/test.csv") == scores["target"]);
  for (std::size_t t = 0; t < names.size(); ++t) {
    CHECK(predict(fmt::format("{}", t + 1)) == scores[names[t]]);
    for (std::size_t s = 0; s < t; ++s) CHECK(scores[names[s]] != scores[names[t]]);
  }
  const Outcome outcome = place.run("predict --model m.json --input d1/test.csv --task source-4");
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.err, Catch::Contains("\"source-4\"") && Catch::Contains("source-3, target"));
  CHECK(told(place, "evaluate --model m.json --input d2/source.csv --task source-2")["rows"] == 160);
}

TEST_CASE("transfer: a value for the sources is given once for all or once for each", "[cli][transfer]") {
  const GeneratedTasks place;
  for (const std::string option : {"--C-source", "--lambda-source"}) {
    const auto model_with = [&](const std::vector<std::string>& values) {
      std::string command = kTarget + kFromThree;
      for (const std::string& value : values) command += fmt::format(" {} {}", option, value);
      said(place, command);
      return model_in(place)["tasks"];
    };
    const json all = model_with({"0.5"});
    CHECK(model_with({"0.5", "0.5", "0.5"}) == all);
    const json each = model_with({"0.5", "1", "2"});
    CHECK(each != all);
    CHECK(model_with({"0.5,1,2"}) == each);
    CHECK(model_with({"2", "1", "0.5"}) != each);
    const Outcome outcome = place.run(kTarget + kFromThree + fmt::format(" {0} 1 {0} 2", option));
    CHECK(outcome.status == 2);
    CHECK_THAT(outcome.err, Catch::StartsWith(fmt::format("bagwise: {} = 1,2 has 2 values", option)) &&
                                Catch::Contains("3 sources"));
  }
}

TEST_CASE("transfer: exact never rises, literal keeps its best round, off is one solve", "[cli][transfer]") {
  const GeneratedTasks place;
  const std::string command = kTarget + kFromThree + " --C 32 --C-source 8 --delta 0.3";
  std::map<std::string, json> reports;
  for (const std::string uncertainty : {"exact", "literal", "off"}) {
    const Outcome outcome = place.run(command + " --json --uncertainty " + uncertainty);
    INFO(uncertainty << outcome.out << outcome.err);
    REQUIRE((outcome.status == 0 || (uncertainty == "literal" && outcome.status == 1)));
    const json report = json::parse(outcome.out);
    const auto history = report["objective_history"].get<Numbers>();
    CHECK(report["options"]["uncertainty"] == uncertainty);
    CHECK(report["rounds"] == history.size());
    CHECK(report["solver_steps"].size() == history.size());
    const double gap = report["relative_gap"], convex = report["convex_objective"];
    CHECK(gap >= 0);
    CHECK(gap <= 1e-6);
    CHECK(gap == Approx((convex - report["dual_objective"].get<double>()) / convex).margin(1e-12));
    CHECK(report["objective"] == *std::min_element(history.begin(), history.end()));
    reports[uncertainty] = report;
  }
  const auto exact = reports["exact"]["objective_history"].get<Numbers>();
  REQUIRE(exact.size() >= 3);
  CHECK(std::is_sorted(exact.rbegin(), exact.rend()));
  CHECK(exact.back() < exact.front());
  // The last convex problem lies above F and touches it at the planes before, which are almost the last ones.
  CHECK(reports["exact"]["objective"] <= reports["exact"]["convex_objective"].get<double>() * (1 + 1e-9));
  CHECK(reports["off"]["rounds"] == 1);
  CHECK(reports["off"]["objective"] == reports["off"]["convex_objective"]);
  CHECK(reports["exact"]["objective"] < reports["off"]["objective"]);
  CHECK(reports["literal"]["objective"] == reports["literal"]["convex_objective"]);
  CHECK(reports["literal"]["rounds"] > 1);
  for (const char* task : {"0", "3"}) {
    const json& off = reports["off"]["tasks"][std::stoul(task)];
    CHECK(off["shift"] == json(std::vector<double>(off["shift"].size(), 0.0)));
    double moved = 0;
    for (const double shift : reports["exact"]["tasks"][std::stoul(task)]["shift"]) {
      CHECK(std::abs(shift) <= 0.3);
      moved += std::abs(shift);
    }
    CHECK(moved > 0);
  }
}

TEST_CASE("transfer: rounds that end too early are told, and the model is still written", "[cli][transfer]") {
  const Workplace place(two_tasks());
  const Outcome outcome = place.run(kTransfer + " --max-rounds 1 --json");
  CHECK(outcome.status == 1);
  CHECK(json::parse(outcome.out)["termination"] == "round-limit");
  CHECK(json::parse(outcome.out)["objective_history"].size() == 1);
  CHECK_THAT(outcome.err, Catch::Contains("round-limit") && Catch::Contains("max-rounds"));
  CHECK(model_in(place)["training"]["termination"] == "round-limit");
}

TEST_CASE("transfer: the same seed gives the same model file whatever the threads", "[cli][transfer]") {
  const GeneratedTasks place;
  for (const char* uncertainty : {"exact", "literal", "off"}) {
    const std::string command =
        fmt::format("{}{} --delta 0.1 --uncertainty {} --threads ", kTarget, kFromThree, uncertainty);
    static_cast<void>(place.run(command + "1"));
    const std::string model = place.read("m.json");
    REQUIRE_FALSE(model.empty());
    for (const char* threads : {"1", "2"}) {
      static_cast<void>(place.run(command + threads));
      CHECK(place.read("m.json") == model);
    }
  }
}

TEST_CASE("transfer: tables that differ in their features are refused unless they are aligned",
          "[cli][transfer]") {
  const std::string other = "bag,x3,x1\nm,1,1\nm,2,2\nn,4,0\nn,3,1\no,2,3\no,1,2\n";
  check_refused(two_tasks({{"s.csv", other}}), kTransfer,
                {"s.csv: ", "no feature \"x2\"", "t.csv", "--align-features"});
  const std::string more = "bag,x1,x2,x3\nm,1,1,5\nm,2,2,6\nn,0,4,7\nn,1,3,5\no,3,2,5\no,2,1,6\n";
  check_refused(two_tasks({{"s.csv", more}}), kTransfer, {"s.csv: ", "\"x3\"", "t.csv", "--align-features"});
  check_refused(two_tasks({{"s2.csv", more}}), kTransfer + " --source s2.csv --source-proportions q.csv",
                {"s2.csv: ", "\"x3\""});

  const Workplace place(two_tasks({{"s.csv", other}}));
  for (const char* uncertainty : {"exact", "literal"}) {
    said(place, kTransfer + " --align-features --uncertainty " + uncertainty);
    const json model = model_in(place);
    CHECK(model["features"] == json({"x1", "x2", "x3"}));
    // What is not there is 0: the same as columns of zeros.
    const Workplace filled(
        two_tasks({{"t.csv", "bag,x1,x2,x3\na,1,0,0\na,2,1,0\nb,0,1,0\nb,1,3,0\nc,2,2,0\nc,0,1,0\n"},
                   {"s.csv", "bag,x1,x2,x3\nm,1,0,1\nm,2,0,2\nn,0,0,4\nn,1,0,3\no,3,0,2\no,2,0,1\n"}}));
    said(filled, kTransfer + " --uncertainty " + uncertainty);
    CHECK(model_in(filled)["tasks"] == model["tasks"]);
    // At prediction too, where that is asked for: the target has no x3 still.
    const std::string predict = "predict --model m.json --input t.csv";
    CHECK(place.run(predict).status == 2);
    CHECK_THAT(place.run(predict).err, Catch::Contains("t.csv:1") && Catch::Contains("\"x3\""));
    CHECK(said(place, predict + " --align-features") == said(filled, predict));
    const std::string evaluate = "evaluate --model m.json --input t.csv --proportions p.csv";
    CHECK(told(place, evaluate + " --align-features") == told(filled, evaluate));
  }
}

TEST_CASE("transfer: the order of the columns does not matter", "[cli][transfer]") {
  const Workplace place(two_tasks());
  said(place, kTransfer);
  const json model = model_in(place);
  place.write("s.csv", "x2,bag,x1\n1,m,1\n2,m,2\n4,n,0\n3,n,1\n2,o,3\n1,o,2\n");
  said(place, kTransfer);
  CHECK(model_in(place)["tasks"] == model["tasks"]);
}

TEST_CASE("transfer: sparse tables of different widths are aligned by themselves", "[cli][transfer]") {
  const Files files = {
      {"t.svm", "0 qid:1 1:1\n0 qid:1 1:2 2:1\n0 qid:2 2:1\n0 qid:2 1:1 2:3\n0 qid:3 1:2 2:2\n0 qid:3 2:1\n"},
      {"s.svm", "0 qid:1 1:1 5:3\n0 qid:1 1:2\n0 qid:2 5:1\n0 qid:2 1:1\n0 qid:3 1:3 5:2\n0 qid:3 1:2\n"},
      {"p.csv", "bag,proportion\n1,0.5\n2,1\n3,0\n"}};
  const std::string command =
      "train --method tl-llp --target t.svm --target-proportions p.csv --source s.svm --source-proportions "
      "p.csv -o m.json --quiet";
  const Workplace place(files);
  for (const char* uncertainty : {"exact", "literal"}) {
    said(place, command + " --uncertainty " + uncertainty);
    const json model = model_in(place);
    const auto features = model["features"].get<std::vector<std::string>>();
    REQUIRE(features.size() >= 3);
    for (const char* name : {"1", "2", "5"}) CHECK(std::count(features.begin(), features.end(), name) == 1);
    CHECK(split(said(place, "predict --model m.json --input t.svm"), '\n').size() == 7);
    CHECK(split(said(place, "predict --model m.json --input s.svm --task source"), '\n').size() == 7);
  }
}

TEST_CASE("transfer: a delta column is read, and it alone", "[cli][transfer]") {
  const std::string bounded = "bag,x1,x2,delta\na,1,0,0.2\na,2,1,0\nb,0,1,0.3\nb,1,3,0.3\nc,2,2,0\nc,0,1,0\n";
  const Workplace place(two_tasks({{"b.csv", bounded}}));
  const json plain = told(place, kTransfer);
  const json report =
      told(place, "train --method tl-llp --target b.csv --target-proportions p.csv -o m.json" + kFromOne);
  CHECK(model_in(place)["features"] == json({"x1", "x2"}));
  CHECK(report["options"]["delta"].is_null());
  // Bag c has no bound, a and b have means of 0.1 and 0.3; the source keeps the default of 0.01.
  const Numbers most = {0.1, 0.3, 0};
  const json& target = report["tasks"][1];
  for (std::size_t k = 0; k < 3; ++k) {
    CHECK(std::abs(target["shift"][k].get<double>()) <= most[k] * (1 + 1e-12));
    CHECK(std::abs(plain["tasks"][1]["shift"][k].get<double>()) <= 0.01 * (1 + 1e-12));
    CHECK(std::abs(report["tasks"][0]["shift"][k].get<double>()) <= 0.01 * (1 + 1e-12));
  }
  CHECK(std::abs(target["shift"][0].get<double>()) > 0.01);
  CHECK(target["shift"] != plain["tasks"][1]["shift"]);
  CHECK(report["objective"] < plain["objective"]);

  check_refused(two_tasks({{"t.csv", bounded}}), kTransfer + " --delta 0.1", {"--delta = 0.1", "t.csv"});
  check_refused(two_tasks({{"s.csv", "bag,x1,x2,delta\nm,1,1,0\nm,2,2,0\nn,0,4,0\nn,1,3,0\n"},
                           {"q.csv", "bag,proportion\nm,0.5\nn,1\n"}}),
                kTransfer + " --delta 0.1", {"--delta = 0.1", "source", "s.csv"});
  std::string negative = bounded;
  negative.replace(negative.find("1,3,0.3"), 7, "1,3,-0.3");
  check_refused(two_tasks({{"t.csv", negative}}), kTransfer, {"t.csv:5", "column 4 (delta)", "-0.3"});
  check_refused(two_tasks(), kTransfer + " --delta -0.1", {"--delta = -0.1 breaks delta >= 0"});
}

TEST_CASE("transfer: uncertainty larger than the data is warned of", "[cli][transfer]") {
  const Workplace place(two_tasks());
  CHECK(told(place, kTransfer)["warnings"].empty());
  const json report = told(place, kTransfer + " --delta 50");
  REQUIRE(report["warnings"].size() == 2);
  CHECK_THAT(report["warnings"][0].get<std::string>(), Catch::Contains("source") && Catch::Contains("50"));
  CHECK_THAT(report["warnings"][1].get<std::string>(), Catch::Contains("target") && Catch::Contains("50"));
  CHECK(told(place, kTransfer + " --delta 50 --uncertainty off")["warnings"].empty());
}

TEST_CASE("transfer: options and tasks out of range are refused", "[cli][transfer]") {
  for (const char* option : {"lambda", "lambda-source", "C", "C-source"}) {
    for (const char* value : {"0", "-1"}) {
      check_refused(two_tasks(), fmt::format("{} --{} {}", kTransfer, option, value),
                    {fmt::format("--{0} = {1} breaks {0} > 0", option, value)});
    }
  }
  check_refused(two_tasks(), kTransfer + kFromOne + " --lambda-source 1 --lambda-source -2",
                {"--lambda-source = 1,-2"});
  check_refused(two_tasks(), kTransfer + " --uncertainty maybe", {"--uncertainty", "exact, literal, off"});
  check_refused(two_tasks(), kTransfer + " --source s.csv", {"--source-proportions", "--source"});
  check_refused(two_tasks({{"s.csv", "bag,x1,x2\nm,1,1\nm,2,2\n"}, {"q.csv", "bag,proportion\nm,0.5\n"}}),
                kTransfer, {"s.csv: the source has 1 bag"});
  check_refused(two_tasks({{"s2.csv", "bag,x1,x2\nm,1,1\nm,2,2\n"}, {"q2.csv", "bag,proportion\nm,0.5\n"}}),
                kTransfer + " --source s2.csv --source-proportions q2.csv",
                {"s2.csv: the source-2 has 1 bag"});
  check_refused(two_tasks({{"p.csv", "bag,proportion\na,0.5\nb,0.5\nc,0.5\n"}}), kTransfer,
                {"t.csv: all 3 bags", "0.5"});
}

TEST_CASE("transfer: a source that can teach nothing is used with a warning", "[cli][transfer]") {
  const Workplace place(two_tasks({{"q.csv", "bag,proportion\nm,0.5\nn,0.5\no,0.5\n"}}));
  const std::string loud = kTransfer.substr(0, kTransfer.find(" --quiet")) + kFromOne;
  CHECK_THAT(said(place, loud), Catch::Contains("warning: all 3 bags of the source"));
  const json report = told(place, kTransfer);
  REQUIRE(report["warnings"].size() == 1);
  CHECK_THAT(report["warnings"][0].get<std::string>(), Catch::Contains("all 3 bags of the source"));
  CHECK_THAT(said(place, "inspect m.json"), Catch::Contains("all 3 bags of the source"));
}

TEST_CASE("transfer: alter-psvm starts from what tl-llp learns from sources, and keeps the target alone",
          "[cli][transfer]") {
  const GeneratedTasks place;
  const std::string train =
      "train --method alter-psvm --target t.csv --target-proportions p.csv -o m.json --quiet --restarts 2";
  const json alone = told(place, train);
  CHECK(alone["starts"][0]["init"] == "inv-cal");
  for (const std::string more : {"", " --scale standard", " --metric pca", " --kernel rbf"}) {
    CAPTURE(more);
    const json report = told(place, train + kFromThree + more);
    REQUIRE(report["starts"].size() == 3);
    CHECK(report["starts"][0]["init"] == "tl-llp");
    CHECK(report["starts"][1]["init"] == "random");
    CHECK(model_in(place)["tasks"].size() == 1);
    CHECK(told(place, "evaluate --model m.json --input d1/test.csv")["rows"] == 50);
  }
  const json one = told(place, train + kFromThree + " --init tl-llp --calibrate bags");
  CHECK(one["starts"].size() == 1);
  CHECK(one["options"]["init"] == "tl-llp");
  for (const char* init : {"random", "inv-cal"}) {
    const Outcome outcome = place.run(train + kFromThree + " --init " + init);
    CHECK(outcome.status == 2);
    CHECK(outcome.err ==
          fmt::format("bagwise: --init = {} uses no source; expected tl-llp or both where there "
                      "are sources\n",
                      init));
  }
}

TEST_CASE("transfer: inspect tells how the tasks stand to each other", "[cli][transfer][inspect]") {
  const Workplace place(two_tasks());
  const json trained = told(place, kTransfer);
  const std::string text = said(place, "inspect m.json");
  for (const char* part :
       {"\nTasks\n", "shared part", "degrees to target", "at bound", "The common plane w_0", "Task target",
        "Task source", "cosine to the target", " shared ", " own"}) {
    CHECK_THAT(text, Catch::Contains(part));
  }
  const json report = told(place, "inspect m.json");
  CHECK(report["training"]["tasks"] == trained["tasks"]);
  REQUIRE(report["tasks"].size() == 2);
  CHECK(report["tasks"][1]["cosine_to_target"] == Approx(1));
  // Every weight is a shared and an own part, and the shared one is that of the model file.
  const auto shared = model_in(place)["shared_weights"].get<Numbers>();
  REQUIRE(shared.size() == 2);
  for (const json& task : report["tasks"]) {
    REQUIRE(task["largest_weights"].size() == 2);
    for (const json& one : task["largest_weights"]) {
      CHECK(one["shared"] == shared[one["feature"] == "x1" ? 0 : 1]);
      CHECK(one["weight"].get<double>() ==
            Approx(one["shared"].get<double>() + one["own"].get<double>()).epsilon(1e-12));
    }
  }
  CHECK(std::hypot(shared[0], shared[1]) == Approx(trained["shared_norm"].get<double>()));
  const double degrees = trained["tasks"][0]["angles"][1];
  CHECK(report["tasks"][0]["cosine_to_target"] == Approx(std::cos(degrees * std::acos(-1.0) / 180)));
  const std::string line = said(place, kTransfer.substr(0, kTransfer.find(" --quiet")) + kFromOne);
  CHECK_THAT(line, Catch::Contains("of the target's plane is shared") && Catch::Contains("uncertainty  "));
}

TEST_CASE("transfer: every task of a kernel model is in the report and can be predicted with",
          "[cli][transfer]") {
  const GeneratedTasks place;
  for (const std::string kernel : {"rbf", "poly --degree 2", "rbf --nystrom 40"}) {
    for (const char* uncertainty : {"exact", "off"}) {
      const std::string command =
          fmt::format("{}{} --kernel {} --uncertainty {}", kTarget, kFromThree, kernel, uncertainty);
      INFO(command);
      const json report = told(place, command + " --threads 1");
      const std::string model = place.read("m.json");
      CHECK(report["relative_gap"] <= 1e-6);
      REQUIRE(report["tasks"].size() == 4);
      for (const json& task : report["tasks"]) {
        for (const char* per_bag : {"bag", "residual"}) CHECK(task[per_bag].size() == task["bags"]);
        CHECK(task["angles"].size() == 4);
        if (std::string(uncertainty) == "off") continue;
        for (const char* per_bag : {"shift", "at_bound"}) CHECK(task[per_bag].size() == task["bags"]);
      }
      const auto history = report["objective_history"].get<Numbers>();
      CHECK(std::is_sorted(history.rbegin(), history.rend()));
      const std::string target = said(place, "predict --model m.json --input d1/test.csv");
      CHECK(split(target, '\n').size() == 51);
      CHECK(said(place, "predict --model m.json --input d1/test.csv --task source-2") != target);
      CHECK_THAT(said(place, "inspect m.json"), Catch::Contains("\nTasks\n"));
      said(place, command + " --threads 2");
      CHECK(place.read("m.json") == model);
    }
  }
}

TEST_CASE("transfer: without a source tl-llp is InvCal at its equivalent cost", "[cli][transfer]") {
  // For one task the regulariser is lambda/(2 (1 + lambda)) |w|^2: C = 1 and lambda = 1 are InvCal's C = 2.
  const GeneratedTasks place;
  said(place, kTarget + " --uncertainty off --gap 1e-9");
  const json alone = model_in(place)["tasks"][0];
  said(place, "train --method inv-cal --C 2 --gap 1e-9 --target t.csv --target-proportions p.csv -o i.json");
  const json inv_cal = model_in(place, "i.json")["tasks"][0];
  const auto a = alone["weights"].get<Numbers>(), b = inv_cal["weights"].get<Numbers>();
  for (std::size_t j = 0; j < a.size(); ++j) CHECK(a[j] == Approx(b[j]).margin(1e-4));
  CHECK(alone["bias"].get<double>() == Approx(inv_cal["bias"].get<double>()).margin(1e-4));
}

TEST_CASE("transfer: the help of train lists every option of tl-llp", "[cli][transfer]") {
  const Workplace place;
  const std::string help = said(place, "train --help");
  const auto start = help.find("Options of tl-llp");
  REQUIRE(start != std::string::npos);
  const std::string section = help.substr(start);
  for (const char* option :
       {"--C ", "--C-source", "--lambda ", "--lambda-source", "--epsilon", "--tube", "--clip", "--delta",
        "--uncertainty exact|literal|off", "--kernel linear|rbf|poly", "--gamma", "--degree", "--nystrom",
        "--gap", "--max-rounds", "--tolerance", "--scale", "--bag-weight", "--metric none|pca"}) {
    CHECK_THAT(section, Catch::Contains(option));
  }
  CHECK_THAT(help, Catch::Contains("--align-features"));
}

TEST_CASE("transfer: an empty cell means the same in every task, in training and in prediction",
          "[cli][transfer]") {
  // The mean of the target's x2 is 8/6; the source's own would be 12/5.
  const std::string blank = "bag,x1,x2\nm,1,\nm,2,2\nn,0,4\nn,1,3\no,3,2\no,2,1\n";
  const std::string filled = "bag,x1,x2\nm,1,1.3333333333333333\nm,2,2\nn,0,4\nn,1,3\no,3,2\no,2,1\n";
  const Workplace place(two_tasks({{"s.csv", blank}, {"f.csv", filled}}));
  const json a = told(place, kTransfer + " --missing mean");
  const std::string scores = said(place, "predict --model m.json --task source --input s.csv");
  CHECK(said(place, "predict --model m.json --task source --input f.csv") == scores);
  const json b = told(place, kTarget + " --source f.csv --source-proportions q.csv");
  CHECK(a["objective"] == b["objective"]);
}

TEST_CASE("transfer: options without what they are for, and numbers beyond range, are refused",
          "[cli][transfer][badargs]") {
  check_refused(two_tasks(), kTarget + " --C-source 2", {"--C-source is given, but there is no --source"});
  check_refused(two_tasks(), kTransfer + " --gamma 2", {"--gamma = 2 has no meaning for the kernel linear"});
  check_refused(two_tasks(), kTransfer + " --C 1e300", {"t.csv", "too large to compute with: C = 1e+300"});
  check_refused(two_tasks(), kTransfer + " --kernel poly --delta 1e308",
                {"t.csv", "too large to compute with: delta = 1e+308"});
}

}  // namespace bagwise::test
