// Tables with numbers at the ends of their range, through every command that reads them: an answer without a
// number that is none, or one line that names the file and the column.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/run_binary.h"
#include "cli/small_data.h"

namespace bagwise::test {
namespace {

using Json = nlohmann::json;

// Eight bags of four rows; x1 times `unit`.
std::string table(double unit) {
  Rng rng(5);
  std::string out = "bag,x1,x2\n";
  for (int k = 0; k < 8; ++k) {
    for (int i = 0; i < 4; ++i)
      out += fmt::format("g{},{},{}\n", k, unit * (rng.normal() + 0.5 * k - 2), rng.normal());
  }
  return out;
}
std::string shares() {
  std::string out = "bag,proportion\n";
  for (int k = 0; k < 8; ++k) out += fmt::format("g{},{}\n", k, k / 7.0);
  return out;
}
Files files(double unit) { return {{"t.csv", table(unit)}, {"s.csv", table(1)}, {"p.csv", shares()}}; }

// Where a null may stand: options that the method chooses, and what the documents say is null where there is
// none.
void expect_numbers(const Json& json, const std::string& at = "") {
  for (const char* known : {"/options/", "/transfer", "/condition", "/model", "/accuracy", "/bootstrap"}) {
    if (at.find(known) != std::string::npos) return;
  }
  CAPTURE(at);
  CHECK_FALSE(json.is_null());
  if (json.is_number_float()) CHECK(std::isfinite(json.get<double>()));
  if (!json.is_structured()) return;
  for (const auto& [key, value] : json.items()) expect_numbers(value, at + "/" + key);
}

void expect_numbers_or_name(const Outcome& outcome, const std::string& output, const std::string& file) {
  CAPTURE(outcome.err, outcome.status);
  if (outcome.status == 2) {
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK_THAT(outcome.err, Catch::Contains(file) && Catch::Contains("\"x1\""));
    CHECK_THAT(outcome.err, Catch::Contains("divide") || Catch::Contains("multiply"));
    return;
  }
  CHECK((outcome.status == 0 || outcome.status == 1));
  const Json json = Json::parse(output, nullptr, false);
  REQUIRE_FALSE(json.is_discarded());
  expect_numbers(json);
}

TEST_CASE("cli: extreme values are learnt from or named, and no output has a number that is none",
          "[cli][torture]") {
  for (const double unit : {5e-322, 1e-200, 1e-12, 1e12, 1e100, 1e200, 3e307}) {
    CAPTURE(unit);
    const Workplace place(files(unit));
    const std::string data = " --target t.csv --target-proportions p.csv --quiet --json";
    for (const char* method : {"inv-cal", "tl-llp", "mean-map", "tl-count", "conv-psvm"}) {
      CAPTURE(method);
      const Outcome outcome = place.run(fmt::format("train --method {} -o m.json{}", method, data));
      expect_numbers_or_name(outcome, outcome.out, "t.csv");
    }
    const Outcome source = place.run(
        "train --method tl-llp -o m.json --target s.csv --target-proportions p.csv --source t.csv "
        "--source-proportions p.csv --quiet --json");
    expect_numbers_or_name(source, source.out, "t.csv");
    const Outcome tuned = place.run("tune --method inv-cal --set C=1,4 --folds 3 -o m.json" + data);
    expect_numbers_or_name(tuned, tuned.out, "t.csv");
    const Outcome diagnosed = place.run("diagnose" + data);
    expect_numbers_or_name(diagnosed, diagnosed.out, "t.csv");
  }
}

TEST_CASE("cli: values far from those of training are scored, or their row is named", "[cli][torture]") {
  const Workplace place(files(1));
  REQUIRE(place.run("train --method inv-cal -o m.json --target t.csv --target-proportions p.csv").status ==
          0);
  REQUIRE(
      place.run("train --method inv-cal --kernel poly -o poly.json --target t.csv --target-proportions p.csv")
          .status == 0);
  for (const double unit : {5e-322, 1e100, 1e200, 4e307}) {
    place.write("x.csv", table(unit));
    for (const char* model : {"m.json", "poly.json"}) {
      CAPTURE(unit, model);
      const Outcome outcome = place.run(fmt::format("predict --model {} --input x.csv -o o.csv", model));
      if (outcome.status == 2) {
        CHECK_THAT(outcome.err, Catch::Contains("x.csv") && Catch::Contains("the score of row"));
        continue;
      }
      REQUIRE(outcome.status == 0);
      for (const char* no_number : {"nan", "inf"})
        CHECK(place.read("o.csv").find(no_number) == std::string::npos);
      const Outcome judged = place.run(
          fmt::format("evaluate --model {} --input x.csv --proportions p.csv --json --quiet", model));
      CHECK(judged.status == 0);
      expect_numbers(Json::parse(judged.out));
    }
  }
}

TEST_CASE("cli: the page of a model of extreme values has no number that is none", "[cli][torture]") {
  const Workplace place(files(1e-200));
  REQUIRE(place.run("train --method inv-cal -o m.json --target t.csv --target-proportions p.csv").status ==
          0);
  const Outcome page = place.run("report m.json -o r.html --target t.csv --target-proportions p.csv --quiet");
  CAPTURE(page.err);
  REQUIRE(page.status == 0);
  const std::string html = place.read("r.html");
  for (const char* no_number : {">nan", ">inf", ">-inf", "\"nan", "\"inf", ",nan", ",inf"})
    CHECK(html.find(no_number) == std::string::npos);
}

}  // namespace
}  // namespace bagwise::test
