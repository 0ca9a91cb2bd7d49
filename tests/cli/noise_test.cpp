// Noisy proportions, labels that match shares, and refitted probabilities, from the command line.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/run_binary.h"
#include "cli/small_data.h"

namespace bagwise::test {
namespace {

using nlohmann::json;

json run_json(const Workplace& place, const std::string& command) {
  const Outcome outcome = place.run(command + " --json");
  INFO("bagwise " << command << "\n" << outcome.out << outcome.err);
  REQUIRE(outcome.status == 0);
  REQUIRE(json::accept(outcome.out));
  return json::parse(outcome.out);
}

TEST_CASE("cli noise: clipped shares are a warning of the fit", "[cli][noise]") {
  const Workplace place(
      Files{{"t.csv", kTable}, {"p.csv", "bag,proportion,stderr\na,0.5,0.1\nb,1.25,0.1\nc,-0.5,0.5\n"}});
  const json report = run_json(place, kTrain);
  CHECK(report["warnings"][0] == "p.csv: 2 of 3 noisy proportions lay outside [0, 1] and were clipped to it");
}

TEST_CASE("cli noise: a method that cannot use noise says so", "[cli][noise]") {
  const Workplace place(
      Files{{"t.csv", kTable}, {"p.csv", "bag,proportion,epsilon_dp\na,0.5,1\nb,1,2\nc,0,3\n"}});
  const json report =
      run_json(place, "train --method mean-map --target t.csv --target-proportions p.csv -o m.json");
  CHECK_THAT(report["warnings"].dump(), Catch::Contains("3 of 3 proportions are noisy, and mean-map takes"));
}

TEST_CASE("cli noise: bag puts noise on the same bags, the same with every run", "[cli][noise]") {
  const Workplace place(Files{{"l.csv", "x,label\n1,1\n2,0\n3,1\n4,0\n5,1\n6,1\n"}});
  const std::string bag = "bag --quiet --input l.csv --size 2 --out-instances i.csv --out-proportions p.csv";
  REQUIRE(place.run(bag).status == 0);
  const std::string rows = place.read("i.csv"), exact = place.read("p.csv");
  for (const std::string option : {" --noise 0.25", " --epsilon-dp 2"}) {
    REQUIRE(place.run(bag + option).status == 0);
    const std::string noisy = place.read("p.csv");
    CHECK(place.read("i.csv") == rows);
    CHECK(split(noisy, '\n')[0] ==
          (option == " --noise 0.25" ? "bag,proportion,size,stderr" : "bag,proportion,size,epsilon_dp"));
    CHECK(noisy != exact);
    REQUIRE(place.run(bag + option).status == 0);
    CHECK(place.read("p.csv") == noisy);
  }
  const Outcome both = place.run(bag + " --noise 0.1 --epsilon-dp 1");
  CHECK(both.status == 2);
  CHECK(both.err ==
        "bagwise: --noise and --epsilon-dp both put noise on the proportions; expected one of the two\n");
}

TEST_CASE("cli noise: evaluate tells the accuracy of the labels that predict gives", "[cli][noise]") {
  const Workplace place(
      trained({{"v.csv", "bag,x1,x2,label\na,1,0,1\na,2,1,0\nb,0,1,1\nb,1,3,1\nc,2,2,0\nc,0,1,0\n"}}));
  const json report = run_json(place, "evaluate --model m.json --input v.csv --proportions p.csv");
  REQUIRE(place.run("predict --model m.json --input v.csv --proportions p.csv -o out.csv").status == 0);
  const auto lines = split(place.read("out.csv"), '\n');
  const std::string truth = "101100";
  double right = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) right += lines[i + 1].back() == truth[i] ? 1 : 0;
  CHECK(report["matched_accuracy"] == Approx(right / 6));
  CHECK_FALSE(run_json(place, "evaluate --model m.json --input v.csv").contains("matched_accuracy"));
  const Outcome text = place.run("evaluate --model m.json --input v.csv --proportions p.csv");
  CHECK_THAT(text.out, Catch::Contains("accuracy, matched"));
}

TEST_CASE("cli noise: calibrate changes probabilities and nothing else", "[cli][noise]") {
  const Workplace place(trained());
  REQUIRE(place.run(kTrain + " --calibrate bags").status == 0);
  const json refitted = json::parse(place.read("m.json"));
  REQUIRE(place.run(kTrain).status == 0);
  const json plain = json::parse(place.read("m.json"));
  CHECK(refitted["tasks"][0]["weights"] == plain["tasks"][0]["weights"]);
  CHECK(refitted["tasks"][0]["bias"] == plain["tasks"][0]["bias"]);
  CHECK(refitted["tasks"][0]["probability"] != plain["tasks"][0]["probability"]);
  CHECK(place.run(kTrain + " --calibrate maybe").status == 2);
}

}  // namespace
}  // namespace bagwise::test
