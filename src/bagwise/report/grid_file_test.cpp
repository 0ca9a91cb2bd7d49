#include "bagwise/report/grid_file.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <set>

#include "support/temp_dir.h"

namespace bagwise {
namespace {

std::set<std::string> settings(const std::string& text, const std::string& method = "") {
  const auto read = grid_from_json(text, "g.json");
  INFO(text << (read ? "" : read.error().text()));
  REQUIRE(read.ok());
  std::set<std::string> out;
  for (const OptionTexts& setting : settings_of(read->by_method.at(method)))
    out.insert(setting_text(setting));
  return out;
}

std::string fault_of(const std::string& text) {
  const auto read = grid_from_json(text, "g.json");
  return read ? "" : read.error().text();
}

using Texts = std::set<std::string>;

TEST_CASE("grid_file: an object is all combinations, a list is one after the other", "[report][grid_file]") {
  CHECK(settings(R"({"C": [0.5, 1], "epsilon": [0.01]})") == Texts{"C=0.5 epsilon=0.01", "C=1 epsilon=0.01"});
  CHECK(settings(R"([{"C": [1, 2]}, {"C": 4, "epsilon": [0.25]}])") ==
        Texts{"C=1", "C=2", "C=4 epsilon=0.25"});
  CHECK(settings("{}") == Texts{""});
  CHECK(settings(R"({"scale": ["none", "standard"], "reheat": true})") ==
        Texts{"reheat=true scale=none", "reheat=true scale=standard"});
}

TEST_CASE("grid_file: an option of one number per source has lists as values", "[report][grid_file]") {
  CHECK(settings(R"({"C-source": [[1, 2.5], 3]})") == Texts{"C-source=1,2.5", "C-source=3"});
}

TEST_CASE("grid_file: numbers mean what they say, however they are written", "[report][grid_file]") {
  const auto read = grid_from_json(R"({"C": [1e-3, 1E2, 0.1, 3]})", "g.json");
  REQUIRE(read.ok());
  std::vector<double> values;
  for (const OptionTexts& setting : settings_of(read->by_method.at("")))
    values.push_back(std::stod(setting.at("C")));
  CHECK(values == std::vector<double>{1e-3, 1e2, 0.1, 3});
}

TEST_CASE("grid_file: a grid for each method is known by its keys", "[report][grid_file]") {
  const std::string text = R"({"inv-cal": {"C": [1, 2]}, "tl-llp": [{"C": 3}, {"C": 4}]})";
  CHECK(settings(text, "inv-cal") == Texts{"C=1", "C=2"});
  CHECK(settings(text, "tl-llp") == Texts{"C=3", "C=4"});
  CHECK(grid_from_json(text, "g.json")->by_method.size() == 2);
}

TEST_CASE("grid_file: faults name the key and what was expected", "[report][grid_file][badargs]") {
  CHECK_THAT(fault_of(R"({"C": []})"), Catch::Contains("g.json: \"C\" is an empty list"));
  CHECK_THAT(fault_of(R"({"C": [1, []]})"), Catch::Contains("\"C\" has []"));
  CHECK_THAT(fault_of(R"({"C": [null]})"), Catch::Contains("\"C\" has null; expected a number"));
  CHECK_THAT(fault_of(R"({"C": {"a": 1}})"), Catch::Contains("\"C\" has {"));
  CHECK_THAT(fault_of(R"({"C-source": [[1, "x"]]})"), Catch::Contains("\"C-source\" has a list with \"x\""));
  CHECK_THAT(fault_of("[]"), Catch::Contains("empty list"));
  CHECK_THAT(fault_of("[1]"), Catch::Contains("has 1 in its list; expected objects"));
  CHECK_THAT(fault_of("3"), Catch::Contains("expected an object"));
  CHECK_THAT(fault_of(R"({"inv-cal": []})"), Catch::Contains("empty list"));
  CHECK_THAT(fault_of("{\"C\": [1,"), Catch::Contains("g.json:1: column 10: is not JSON"));
  CHECK_THAT(fault_of(""), Catch::Contains("is empty"));
  CHECK_THAT(fault_of("{\"C\": [1e999]}"), Catch::Contains("out of range"));
  CHECK_THAT(fault_of(std::string(200000, '[')), Catch::Contains("g.json"));
}

TEST_CASE("grid_file: a grid that explodes is refused before it does", "[report][grid_file][badargs]") {
  std::string text = "{";
  for (int a = 0; a < 12; ++a) {
    text += fmt::format("{}\"a{}\": [", a == 0 ? "" : ", ", a);
    for (int v = 0; v < 100; ++v) text += fmt::format("{}{}", v == 0 ? "" : ", ", v);
    text += "]";
  }
  CHECK_THAT(fault_of(text + "}"), Catch::Contains("more than 100000 settings"));
}

TEST_CASE("grid_file: a file is read, and one that is not there is named", "[report][grid_file]") {
  const test::TempDir folder;
  std::ofstream(folder.file("g.json")) << R"({"C": [7]})";
  const auto read = read_grid(folder.file("g.json"));
  REQUIRE(read.ok());
  CHECK(setting_text(read->by_method.at("")[0][0]) == "C=7");
  const auto absent = read_grid(folder.file("h.json"));
  REQUIRE_FALSE(absent.ok());
  CHECK_THAT(absent.error().text(), Catch::Contains("h.json"));
}

}  // namespace
}  // namespace bagwise
