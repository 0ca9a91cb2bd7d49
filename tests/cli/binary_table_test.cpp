// bagwise convert, and what the commands make of binary tables and NumPy arrays.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "cli/split_target.h"

namespace bagwise::test {
namespace {

using Catch::Matchers::Contains;

// Rows of t.csv as SVMlight with qid:BAG.
std::string as_svmlight(const std::string& csv) {
  const auto lines = split(csv, '\n');
  std::string out;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto cells = split(lines[i], ',');
    out += "0 qid:" + cells[0];
    for (std::size_t j = 1; j < cells.size(); ++j) out += fmt::format(" {}:{}", j, cells[j]);
    out += "\n";
  }
  return out;
}

// A NumPy file of numbers, rows one after the other.
std::string as_npy(const std::vector<Numbers>& rows) {
  std::string head = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}",
                                 rows.size(), rows[0].size());
  while ((10 + head.size() + 1) % 64 != 0) head += ' ';
  head += '\n';
  std::string out = std::string("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(head.size() % 256);
  out += static_cast<char>(head.size() / 256);
  out += head;
  for (const Numbers& row : rows) {
    for (const double value : row) {
      char raw[sizeof(double)];
      std::memcpy(raw, &value, sizeof(raw));
      out.append(raw, sizeof(raw));
    }
  }
  return out;
}

}  // namespace

TEST_CASE("convert: a binary table trains and predicts as its text", "[cli][convert]") {
  const SplitTarget place;
  place.write("t.svm", as_svmlight(place.read("t.csv")));
  for (const char* text : {"t.csv", "t.svm"}) {
    const json done = told(place, fmt::format("convert {} -o t.bw", text));
    CHECK(done["rows"] == 96);
    CHECK(done["features"] == 6);
    CHECK(done["bags"] == true);
    CHECK(done["sparse"] == (std::string(text) == "t.svm"));
    for (const char* method : {"inv-cal", "mean-map", "tl-llp --uncertainty literal --rows stream"}) {
      const std::string train = fmt::format("train --method {} --target-proportions p.csv --quiet", method);
      said(place, fmt::format("{} --target {} -o text.json", train, text));
      said(place, train + " --target t.bw -o bw.json");
      CHECK(place.read("bw.json") == place.read("text.json"));
    }
    CHECK(said(place, "predict --model bw.json --input t.bw") ==
          said(place, fmt::format("predict --model bw.json --input {}", text)));
  }
}

TEST_CASE("convert: several files are one table", "[cli][convert]") {
  const SplitTarget place;
  said(place, "convert parts/0.csv parts/1.csv parts/2.csv -o several.bw --quiet");
  said(place, "convert parts/*.csv -o pattern.bw --quiet");
  CHECK(place.read("several.bw") == place.read("pattern.bw"));
  said(place, kInvCal + "--target parts/*.csv -o text.json");
  said(place, kInvCal + "--target several.bw -o bw.json");
  CHECK(place.read("bw.json") == place.read("text.json"));
  CHECK_THAT(refused(place, "convert t.csv -o t.bin"), Contains(".bw"));
  const std::string before = place.read("several.bw");
  CHECK_THAT(refused(place, "convert several.bw -o several.bw"), Contains("several.bw"));
  CHECK(place.read("several.bw") == before);
}

TEST_CASE("convert: a damaged block is found and named", "[cli][convert]") {
  const SplitTarget place;
  said(place, "convert t.csv -o t.bw --quiet");
  said(place, kInvCal + "--target t.bw -o m.json");
  const std::string whole = place.read("t.bw");
  std::string flipped = whole;
  // The first number of the table, as it lies in the first block.
  const double first = std::stod(split(split(place.read("t.csv"), '\n')[1], ',')[1]);
  char raw[sizeof(double)];
  std::memcpy(raw, &first, sizeof(raw));
  const std::size_t at = whole.find(std::string(raw, sizeof(raw)));
  REQUIRE(at != std::string::npos);
  flipped[at] = static_cast<char>(flipped[at] ^ 1);
  place.write("t.bw", flipped);
  for (const std::string& command :
       {kInvCal + "--target t.bw -o n.json", std::string("reduce t.bw -o x.sums"),
        std::string("predict --model m.json --input t.bw -o x.csv")})
    CHECK_THAT(refused(place, command), Contains("t.bw") && Contains("block 0"));
  place.write("t.bw", whole.substr(0, whole.size() - 100));
  CHECK_THAT(refused(place, kInvCal + "--target t.bw -o n.json"), Contains("t.bw"));
  for (const char* name : {"n.json", "x.sums", "x.csv"}) CHECK_FALSE(place.has(name));
}

TEST_CASE("npy: an array is a table whose columns are x1, x2 and so on", "[cli][convert][npy]") {
  // The bag is column x3.
  const std::vector<Numbers> rows = {{1, 0, 1}, {2, 1, 1}, {0, 1, 2}, {1, 3, 2}, {2, 2, 3}, {0, 1, 3}};
  const Workplace place({{"t.npy", as_npy(rows)}, {"p.csv", "bag,proportion\n1,0.5\n2,1\n3,0\n"}});
  std::string csv = "x1,x2,x3\n";
  for (const Numbers& row : rows) csv += fmt::format("{},{},{}\n", row[0], row[1], row[2]);
  place.write("t.csv", csv);
  const std::string train = kInvCal + "--bag-column x3 ";
  said(place, train + "--target t.csv -o csv.json");
  said(place, train + "--target t.npy -o npy.json");
  CHECK(place.read("npy.json") == place.read("csv.json"));
  CHECK(model_in(place, "npy.json")["features"] == json({"x1", "x2"}));
  CHECK(said(place, "predict --model csv.json --input t.npy") ==
        said(place, "predict --model csv.json --input t.csv"));
  place.write("t.npy", as_npy(rows).substr(0, 150));
  CHECK_THAT(refused(place, train + "--target t.npy -o n.json"), Contains("t.npy"));
}

}  // namespace bagwise::test
