// bagwise diagnose, end to end: before and after training, as text and as JSON.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "cli/run_binary.h"
#include "cli/small_data.h"
#include "cli/transfer_tasks.h"

namespace bagwise::test {
namespace {

const std::string kData = "diagnose --target t.csv --target-proportions p.csv";
const std::string kSource = " --source s1.csv --source-proportions q1.csv";

json without_findings(json all) {
  all.erase("findings");
  return all;
}

}  // namespace

TEST_CASE("cli: diagnose tells what bags are worth and whether a source helps", "[cli][diagnose]") {
  const GeneratedTasks place;
  const json told_of = told(place, kData + kSource);
  REQUIRE(told_of["tasks"].size() == 2);
  const json& target = told_of["tasks"][1];
  CHECK(target["name"] == "target");
  CHECK(target["instances"] == 96);
  CHECK(target["bags"] == 12);
  CHECK(target["features"] == 6);
  CHECK(target["bag_sizes"]["largest"] == 8);
  CHECK(target["effective_size"] > 0);
  CHECK(target["leaks"].empty());
  REQUIRE(told_of["transfer"].size() == 1);
  CHECK(told_of["transfer"][0]["energy"]["rows"] == 256);
  CHECK(told_of["findings"][0]["severity"] == "verdict");
  CHECK(told_of["seed"] == 1);
  CHECK_FALSE(told_of.contains("model"));

  const std::string text = said(place, kData + kSource);
  CHECK_THAT(text, Catch::Contains("effective size") && Catch::Contains("transfer from the source is"));
  CHECK(said(place, kData + kSource + " --threads 1") == said(place, kData + kSource + " --threads 3"));
}

TEST_CASE("cli: diagnose judges a model by bags alone", "[cli][diagnose]") {
  const GeneratedTasks place;
  const std::string source = " --source s1.csv --source-proportions q1.csv";
  said(place, "train --method inv-cal --target t.csv --target-proportions p.csv -o m.json --quiet");
  said(place,
       "train --method inv-cal --kernel rbf --target t.csv --target-proportions p.csv -o k.json --quiet");
  said(place, "train --method mean-map --target t.csv --target-proportions p.csv -o mm.json --quiet");
  said(place, "train --method tl-llp --target t.csv --target-proportions p.csv -o tl.json --quiet" + source);
  for (const std::string& model :
       {std::string("m.json"), std::string("k.json"), std::string("mm.json"), std::string("tl.json")}) {
    INFO(model);
    const std::string command =
        kData + (model == "tl.json" ? source : "") + " --bootstrap 20 --folds 4 --model " + model;
    const json found = told(place, command)["model"];
    CHECK(found["bags"].size() == 12);
    CHECK(found["held_out"]["folds"] == 4);
    const json& accuracy = found["held_out"]["accuracy"];
    CHECK(accuracy["low"] <= accuracy["value"]);
    CHECK(accuracy["value"] <= accuracy["high"]);
    CHECK(found["bootstrap"].is_null() == (model == "k.json"));
    if (model != "k.json") CHECK(found["bootstrap"]["weights"].size() == 6);
    CHECK(said(place, command + " --threads 1") == said(place, command + " --threads 2"));
    CHECK_THAT(said(place, command),
               Catch::Contains("rows are labelled right") || Catch::Contains("these bags do not tell"));
  }
}

TEST_CASE("cli: diagnose takes the sources of a model that keeps no plane of them", "[cli][diagnose]") {
  const GeneratedTasks place;
  const std::string source = " --source s1.csv --source-proportions q1.csv";
  const std::string train =
      "train --method alter-psvm --target t.csv --target-proportions p.csv --restarts 1 --quiet -o ";
  said(place, train + "with.json" + source);
  said(place, train + "alone.json");
  const std::string ask = kData + " --bootstrap 0 --folds 3 --model ";
  CHECK(told(place, ask + "with.json" + source)["model"]["held_out"]["folds"] == 3);
  CHECK(told(place, ask + "alone.json")["model"]["held_out"]["folds"] == 3);
  for (const std::string& wrong : {ask + "with.json", ask + "alone.json" + source}) {
    const Outcome outcome = place.run(wrong);
    CHECK(outcome.status == 2);
    CHECK_THAT(outcome.err, Catch::Contains("was trained with"));
  }
}

TEST_CASE("cli: diagnose reports a leak and never looks at labels", "[cli][diagnose]") {
  const std::string leaky = "bag,x1,y,label\na,1,1,1\na,2,0,0\nb,0,1,1\nb,1,1,1\nc,2,0,0\nc,0,0,0\n";
  const Workplace place(Files{{"t.csv", leaky}, {"p.csv", kProportions}});
  const json found = told(place, kData);
  CHECK(found["tasks"][0]["leaks"] == json({"y"}));
  CHECK_THAT(said(place, kData), Catch::Contains("fault: the target has each bag's proportion") &&
                                     Catch::Contains("remark: t.csv has labels; they are not looked at"));
  // The labels turned round change nothing.
  std::string turned = leaky;
  for (const std::size_t at : {turned.find("a,1,1,1") + 6, turned.find("a,2,0,0") + 6})
    turned[at] = turned[at] == '1' ? '0' : '1';
  const Workplace other(Files{{"t.csv", turned}, {"p.csv", kProportions}});
  CHECK(without_findings(told(other, kData)) == without_findings(found));
}

TEST_CASE("cli: diagnose refuses what does not go together in one line", "[cli][diagnose][badargs]") {
  const Workplace place(trained({{"other.csv", "bag,x1,x3\na,1,0\nb,0,1\nc,2,2\n"},
                                 {"small.csv", "bag,x1,x2\na,1,0\n"},
                                 {"one.csv", "bag,proportion\na,0.5\n"}}));
  const auto refused = [&](const std::string& command, const std::string& part) {
    const Outcome outcome = place.run(command);
    INFO(command << "\n" << outcome.err);
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
    CHECK_THAT(outcome.err, Catch::Contains(part));
  };
  refused("diagnose --target nowhere.csv --target-proportions p.csv", "nowhere.csv");
  refused(kData + " --model nowhere.json", "nowhere.json");
  refused(kData + " --folds 3", "--model");
  refused(kData + " --model m.json --source t.csv --source-proportions p.csv",
          "learns from the target alone");
  refused("diagnose --target other.csv --target-proportions p.csv --model m.json", "features");
  refused(kData + " --model m.json --bootstrap -1", "--bootstrap");
  // Too few bags are no fault of the input: the verdict says what is the matter.
  CHECK_THAT(said(place, "diagnose --target small.csv --target-proportions one.csv"),
             Catch::Contains("cannot be learnt from"));
}

}  // namespace bagwise::test
