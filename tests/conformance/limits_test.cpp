// What docs/guide/limits.md promises: the limit itself is taken, one more is an error that names it. Nesting
// and keys of JSON are tested with their reader, indices of SVMlight with theirs.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "bagwise/core/limits.h"
#include "bagwise/data/read_table.h"
#include "bagwise/data/table_scout.h"
#include "bagwise/evaluate/grid.h"
#include "bagwise/report/experiment_file.h"
#include "bagwise/report/grid_file.h"
#include "support/temp_dir.h"

namespace bagwise {
namespace {

template <class T>
std::string fault_of(const Result<T>& result) {
  return result ? "" : result.error().text();
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST_CASE("limits: files of grids and experiments", "[limits]") {
  const test::TempDir dir;
  const std::string path = dir.file("f.json");
  const std::string experiment =
      R"({"name": "x", "data": [{"name": "g", "kind": "gaussian"}], "methods": [{"name": "inv-cal"}], "bag_sizes": [2]})";
  const auto padded = [&](std::string text, std::uint64_t size) {
    write_text(path, text + std::string(size - text.size(), ' '));
  };
  padded(R"({"C": [1]})", limits::kLargestGrid);
  CHECK(fault_of(read_grid(path)) == "");
  padded(R"({"C": [1]})", limits::kLargestGrid + 1);
  CHECK(fault_of(read_grid(path)) == path + ": is larger than 16777216 bytes");
  padded(experiment, limits::kLargestExperiment);
  CHECK(fault_of(read_experiment_file(path)) == "");
  padded(experiment, limits::kLargestExperiment + 1);
  CHECK(fault_of(read_experiment_file(path)) == path + ": is larger than 16777216 bytes");
}

TEST_CASE("limits: settings of a grid, and the length of a value", "[limits]") {
  const std::vector<GridAxis> ten = {{"C", std::vector<std::string>(10, "1")}};
  CHECK(fault_of(check_size(limits::kMostSettings / 10, ten)) == "");
  CHECK(fault_of(check_size(limits::kMostSettings / 10 + 1, ten)) ==
        "has more than 100000 settings; expected fewer");
  CHECK(fault_of(check_size(1, {{"C", {std::string(limits::kLongestSetting, '1')}}})) == "");
  CHECK(fault_of(check_size(1, {{"C", {std::string(limits::kLongestSetting + 1, '1')}}})) ==
        "\"C\" has a value of 65537 bytes; expected at most 65536");
}

TEST_CASE("limits: the settings of a list of grids are counted together", "[limits]") {
  std::string values = "[1";
  for (int i = 1; i < 1000; ++i) values += ",1";
  values += "]";
  const std::string thousand = fmt::format(R"({{"C": {0}}})", values),
                    third = fmt::format(R"({{"C": {0}, "epsilon": {0}}})", values);
  CHECK(fault_of(grid_from_json("[" + thousand + "," + thousand + "]", "g")) == "");
  CHECK(fault_of(grid_from_json("[" + thousand + "," + third + "]", "g")) ==
        "g: has more than 100000 settings; expected fewer");
}

TEST_CASE("limits: cells of an experiment", "[limits]") {
  const auto with_folds = [](std::size_t folds) {
    return experiment_from_json(
        fmt::format(
            R"({{"name": "x", "data": [{{"name": "g", "kind": "gaussian"}}], "methods": [{{"name": "inv-cal"}}],
                         "bag_sizes": [2], "folds": {}}})",
            folds),
        "e.json");
  };
  CHECK(fault_of(with_folds(limits::kMostCells)) == "");
  CHECK(fault_of(with_folds(limits::kMostCells + 1)) ==
        "e.json: has 10000001 cells; expected at most 10000000");
}

TEST_CASE("limits: a line of a table", "[limits]") {
  const test::TempDir dir;
  const std::string path = dir.file("t.csv");
  for (const std::size_t more : {0, 1}) {
    const std::string bag(limits::kLongestLine - 3 + more, 'b');  // and ",1" and the line end
    write_text(path, "bag,x\nA,1\n" + bag + ",1\nZ,1\n");
    const auto read = read_table(TableSource(path), {.want_groups = true});
    if (more == 0) {
      CHECK(fault_of(read) == "");
    } else {
      CHECK(fault_of(read) == path + ":3: the line is longer than 64 MiB; expected a line end before that");
    }
  }
}

TEST_CASE("limits: values of a one-hot column", "[limits]") {
  const test::TempDir dir;
  const std::string path = dir.file("t.csv");
  for (const std::size_t more : {0, 1}) {
    std::string text = "bag,c\n";
    for (std::size_t i = 0; i < limits::kMostOneHotValues + more; ++i) text += fmt::format("a,v{}\n", i);
    write_text(path, text);
    TableOptions options;
    options.one_hot = {"c"};
    const auto scouted = scout_table(TableSource(path), options);
    if (more == 0) {
      CHECK(fault_of(scouted) == "");
    } else {
      CHECK_THAT(fault_of(scouted), Catch::Contains("has more than 65536 different values"));
    }
  }
}

}  // namespace
}  // namespace bagwise
