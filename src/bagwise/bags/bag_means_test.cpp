#include "bagwise/bags/bag_means.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <map>

#include "bagwise/bags/reduce_table.h"
#include "bagwise/core/random.h"
#include "support/temp_dir.h"

using namespace bagwise;

namespace {

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string fault_of(const std::string& text, const BagMeansOptions& options = {}) {
  const test::TempDir dir;
  write_text(dir.file("m.csv"), text);
  const auto read = read_bag_means(dir.file("m.csv"), options);
  return read ? "" : read.error().text().substr(dir.file("").size());
}

}  // namespace

TEST_CASE("bag_means: a sum too large for a number is refused", "[bags][bag_means][badargs]") {
  const test::TempDir dir;
  write_text(dir.file("m.csv"), "bag,size,x,y\na,1,1e308,0\nb,1000,2,-1e308\n");
  const auto read = read_bag_means(TableSource(dir.file("m.csv")));
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().text() ==
        dir.file("m.csv") +
            ":3: column 4 (y): \"-1e308\" times the size 1000 is too large for a number; "
            "expected a smaller mean");
}

TEST_CASE("bag_means: means in parts give the sums of the rows", "[bags][bag_means]") {
  const test::TempDir dir;
  Rng rng(4);
  std::string rows = "bag,x,y,delta,proportion\n";
  struct Part {
    int size = 0;
    long double x = 0, y = 0, delta = 0;
  };
  std::map<std::string, Part> parts[2];  // one per file
  for (int i = 0; i < 500; ++i) {
    const auto bag = rng.below(9);
    const double x = 1e3 + rng.normal(), y = rng.uniform(), delta = rng.uniform();
    rows += fmt::format("b{},{},{},{},{}\n", bag, x, y, delta, static_cast<double>(bag) / 16);
    Part& part = parts[rng.below(2)][fmt::format("b{}", bag)];
    ++part.size, part.x += x, part.y += y, part.delta += delta;
  }
  TableSource source;
  for (int file = 0; file < 2; ++file) {
    std::string text = file == 0 ? "bag,size,x,y,delta,proportion\n" : "y,x,proportion,delta,size,bag\n";
    for (const auto& [bag, part] : parts[file]) {
      const auto mean = [size = part.size](long double sum) { return static_cast<double>(sum / size); };
      const double share = std::stod(bag.substr(1)) / 16;
      text += file == 0 ? fmt::format("{},{},{},{},{},{}\n", bag, part.size, mean(part.x), mean(part.y),
                                      mean(part.delta), share)
                        : fmt::format("{},{},{},{},{},{}\n", mean(part.y), mean(part.x), share,
                                      mean(part.delta), part.size, bag);
    }
    write_text(dir.file(fmt::format("m{}.csv", file)), text);
    source.parts.push_back({dir.file(fmt::format("m{}.csv", file))});
  }
  write_text(dir.file("rows.csv"), rows);
  const auto truth = reduce_table(dir.file("rows.csv"), {}, {});
  const auto sums = read_bag_means(source);
  REQUIRE(truth);
  if (!sums) FAIL(sums.error().text());
  CHECK(sums->rows == 500);
  CHECK_FALSE(sums->has_moments);
  CHECK(sums->schema.feature_names == std::vector<std::string>{"x", "y"});
  REQUIRE(sums->names.size() == truth->names.size());
  for (std::size_t k = 0; k < truth->names.size(); ++k) {
    const auto at = std::find(sums->names.begin(), sums->names.end(), truth->names[k]);
    REQUIRE(at != sums->names.end());
    const auto i = static_cast<std::size_t>(at - sums->names.begin());
    CHECK(sums->sums.count(i) == truth->sums.count(k));
    CHECK(sums->shares[i] == truth->shares[k]);
    CHECK(sums->sums.bound_sum(i) == Approx(truth->sums.bound_sum(k)).epsilon(1e-14));
    for (std::size_t j = 0; j < 2; ++j) {
      CHECK(sums->sums.sum(i, j) == Approx(truth->sums.sum(k, j)).epsilon(1e-14));
    }
  }
}

TEST_CASE("bag_means: columns are chosen and renamed by options", "[bags][bag_means]") {
  const test::TempDir dir;
  write_text(dir.file("m.csv"), "shop,n,x,label,y,id,z\na,2,1,0.5,3,7,5\n");
  BagMeansOptions options{.bag_column = "shop", .size_column = "n"};
  auto sums = read_bag_means(dir.file("m.csv"), options);
  REQUIRE(sums);
  CHECK(sums->schema.feature_names == std::vector<std::string>{"x", "y", "z"});
  CHECK_FALSE(sums->schema.has_shares);
  options.features = {"z", "x"};
  sums = read_bag_means(dir.file("m.csv"), options);
  REQUIRE(sums);
  CHECK(sums->schema.feature_names == options.features);
  CHECK(sums->sums.sum(0, 0) == 10);
  options.exclude = {"z"};
  sums = read_bag_means(dir.file("m.csv"), options);
  REQUIRE(sums);
  CHECK(sums->schema.feature_names == std::vector<std::string>{"x"});
}

TEST_CASE("bag_means: faults name the line and the column", "[bags][bag_means][badargs]") {
  CHECK(fault_of("bag,x\na,1\n") ==
        "m.csv:1: has no column \"size\"; expected one with the number of its rows");
  CHECK(fault_of("size,x\n1,1\n") ==
        "m.csv:1: has no column \"bag\"; expected one with the name of each bag");
  CHECK(fault_of("bag,size\na,1\n") == "m.csv:1: has no column of means; expected one per feature");
  CHECK(fault_of("bag,size,x,x\na,1,1,1\n") ==
        "m.csv:1: column 4 (x): occurs twice; expected every column once");
  CHECK(fault_of("bag,size,x\n,1,1\n") == "m.csv:2: column 1 (bag): is empty; expected the name of a bag");
  CHECK(fault_of("bag,size,x\na,0,1\n") ==
        "m.csv:2: column 2 (size): \"0\" is no size; expected at least one row in a bag");
  CHECK(fault_of("bag,size,x\na,1.5,1\n").starts_with("m.csv:2: column 2 (size): "));
  CHECK(fault_of("bag,size,x\na,99999999999999999,1\n").starts_with("m.csv:2: column 2 (size): "));
  CHECK(fault_of("bag,size,x\na,1,1\nb,2,\n").starts_with("m.csv:3: column 3 (x): "));
  CHECK(fault_of("bag,size,x,delta\na,1,1,-1\n") ==
        "m.csv:2: column 4 (delta): \"-1\" is negative; expected a bound >= 0");
  CHECK(fault_of("bag,size,x,proportion\na,1,1,1.5\n") ==
        "m.csv:2: column 4 (proportion): \"1.5\" is outside [0, 1]; expected a proportion between 0 and 1");
  CHECK(fault_of("bag,size,x,proportion\na,1,1,0.5\na,1,1,0.25\n") ==
        "m.csv:3: column 4 (proportion): bag \"a\" has proportion 0.25 here but 0.5 before; expected one "
        "proportion per bag");
  CHECK(fault_of("bag,size,x\n") == "m.csv: has a header but no rows; expected one per bag");
  CHECK(fault_of("bag,size,x\na,1,1\n", {.features = {"q"}}) == "m.csv:1: has no column of means \"q\"");
  CHECK(fault_of("bag,size,x\na,1,1\n", {.exclude = {"q"}}) == "m.csv:1: has no column of means \"q\"");
}
