#include "bagwise/data/write_table.h"

#include <zlib.h>
#include <zstd.h>

#include <catch2/catch.hpp>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "bagwise/core/atomic_file.h"
#include "bagwise/core/random.h"
#include "support/temp_dir.h"

namespace {

using bagwise::Csr;
using bagwise::Dataset;
using bagwise::DenseRows;
using bagwise::test::TempDir;

Dataset small_table() {
  Dataset table;
  DenseRows values(3, 2);
  values(0, 0) = 0.1;
  values(1, 0) = -2;
  values(1, 1) = 1e-300;
  values(2, 1) = 12345.5;
  table.features = values;
  table.feature_names = {"height", "a,b"};
  return table;
}

std::string contents(const std::string& path) {
  auto read = bagwise::read_file(path, 1 << 30);
  REQUIRE(read);
  return *read;
}

std::string fault_of(const std::string& path, const Dataset& table) {
  const auto written = bagwise::write_table(path, table);
  CHECK_FALSE(std::filesystem::is_regular_file(path));
  return written ? "" : written.error().text();
}

}  // namespace

TEST_CASE("write_table: CSV has the columns in their order, quoted where they must be",
          "[data][write_table]") {
  TempDir dir;
  Dataset table = small_table();
  REQUIRE(bagwise::write_table(dir.file("plain.csv"), table));
  CHECK(contents(dir.file("plain.csv")) == "height,\"a,b\"\n0.1,0\n-2,1e-300\n0,12345.5\n");
  table.ids = {"x", "say \"y\"", " z"};
  table.groups.values = {"north", "so\nuth"};
  table.groups.codes = {0, 1, 0};
  table.shares = {0.5, 1, 0.5};
  table.labels = {1, -1, 0};
  table.bounds = {0, 0.25, 1};
  REQUIRE(bagwise::write_table(dir.file("full.csv"), table));
  CHECK(contents(dir.file("full.csv")) ==
        "id,bag,proportion,label,delta,height,\"a,b\"\n"
        "x,north,0.5,1,0,0.1,0\n"
        "\"say \"\"y\"\"\",\"so\nuth\",1,0,0.25,-2,1e-300\n"
        "\" z\",north,0.5,,1,0,12345.5\n");
}

TEST_CASE("write_table: SVMlight leaves out zeros and writes bags as qid", "[data][write_table]") {
  TempDir dir;
  Dataset table = small_table();
  REQUIRE(bagwise::write_table(dir.file("t.svm"), table));
  CHECK(contents(dir.file("t.svm")) == "0 1:0.1\n0 1:-2 2:1e-300\n0 2:12345.5\n");
  table.labels = {1, -1, 0};
  table.groups.values = {"7", "12"};
  table.groups.codes = {1, 0, 1};
  table.feature_names = {"3", "10"};  // as a sparse reader would call them
  REQUIRE(bagwise::write_table(dir.file("t.libsvm"), table));
  CHECK(contents(dir.file("t.libsvm")) == "1 qid:12 3:0.1\n-1 qid:7 3:-2 10:1e-300\n0 qid:12 10:12345.5\n");
  table.feature_names = {"10", "3"};  // not ascending: no use as an index
  REQUIRE(bagwise::write_table(dir.file("t.svm"), table));
  CHECK(contents(dir.file("t.svm")) == "1 qid:12 1:0.1\n-1 qid:7 1:-2 2:1e-300\n0 qid:12 2:12345.5\n");
}

TEST_CASE("write_table: sparse and dense rows of the same numbers give the same files",
          "[data][write_table]") {
  TempDir dir;
  bagwise::Rng rng(1);
  const std::size_t rows = 40000, columns = 5;  // more than is turned into text at once
  DenseRows dense(rows, columns);
  Csr sparse;
  sparse.columns = columns;
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      if (rng.below(2) == 0) continue;
      dense(i, j) = rng.normal();
      sparse.index.push_back(static_cast<std::int32_t>(j));
      sparse.values.push_back(dense(i, j));
    }
    sparse.start.push_back(static_cast<std::int64_t>(sparse.values.size()));
  }
  Dataset a, b;
  a.feature_names = b.feature_names = {"p", "q", "r", "s", "t"};
  a.features = dense;
  b.features = sparse;
  for (const std::string ending : {".csv", ".svm"}) {
    REQUIRE(bagwise::write_table(dir.file("a" + ending), a));
    REQUIRE(bagwise::write_table(dir.file("b" + ending), b));
    CHECK(contents(dir.file("a" + ending)) == contents(dir.file("b" + ending)));
  }
  // And they are the numbers, in order, to the bit.
  std::istringstream text(contents(dir.file("a.csv")));
  std::string line, cell;
  REQUIRE(std::getline(text, line));
  bool same = true;
  for (std::size_t i = 0; i < rows; ++i) {
    REQUIRE(std::getline(text, line));
    std::istringstream cells(line);
    for (std::size_t j = 0; j < columns; ++j) {
      std::getline(cells, cell, ',');
      double value = 0;
      std::from_chars(cell.data(), cell.data() + cell.size(), value);
      same = same && value == dense(i, j);
    }
  }
  CHECK(same);
  CHECK_FALSE(std::getline(text, line));
}

TEST_CASE("write_table: compressed files hold the plain one", "[data][write_table]") {
  TempDir dir;
  Dataset table = small_table();
  DenseRows values(20000, 2);
  bagwise::Rng rng(2);
  for (std::size_t i = 0; i < values.rows(); ++i) values(i, 0) = rng.normal();
  table.features = values;
  for (const std::string name : {"t.csv", "t.svm"}) {
    for (const std::string ending : {"", ".gz", ".zst"}) {
      REQUIRE(bagwise::write_table(dir.file(name + ending), table));
    }
    const std::string plain = contents(dir.file(name));
    const std::string gz = contents(dir.file(name + ".gz")), zst = contents(dir.file(name + ".zst"));
    CHECK(gz.size() < plain.size());
    CHECK(zst.size() < plain.size());
    std::string out(plain.size() + 100, '\0');
    gzFile file = gzopen(dir.file(name + ".gz").c_str(), "rb");
    REQUIRE(file != nullptr);
    const int got = gzread(file, out.data(), static_cast<unsigned>(out.size()));
    CHECK(gzclose(file) == Z_OK);
    REQUIRE(got >= 0);
    CHECK(std::string_view(out).substr(0, static_cast<std::size_t>(got)) == plain);
    const std::size_t size = ZSTD_decompress(out.data(), out.size(), zst.data(), zst.size());
    REQUIRE_FALSE(ZSTD_isError(size));
    CHECK(std::string_view(out).substr(0, size) == plain);
    // Nothing of the clock is in them.
    REQUIRE(bagwise::write_table(dir.file("again" + name + ".gz"), table));
    CHECK(contents(dir.file("again" + name + ".gz")) == gz);
  }
}

TEST_CASE("write_table: what a file cannot hold is an error and leaves no file",
          "[data][write_table][badargs]") {
  TempDir dir;
  const std::string csv = dir.file("t.csv"), svm = dir.file("t.svm.gz");
  Dataset table = small_table();
  table.ids = {"a", "b", "c"};
  CHECK(fault_of(svm, table) ==
        svm + ": SVMlight has no place for the id column; expected a name ending in .csv");
  table.ids.clear();
  table.bounds = {0, 0, 0};
  CHECK(fault_of(svm, table) ==
        svm + ": SVMlight has no place for the delta column; expected a name ending in .csv");
  table.bounds.clear();
  table.shares = {0, 0, 0};
  CHECK(fault_of(svm, table) ==
        svm + ": SVMlight has no place for the proportion column; expected a name ending in .csv");
  table.shares.clear();
  table.groups.values = {"north"};
  table.groups.codes = {0, 0, 0};
  CHECK(fault_of(svm, table) ==
        svm +
            ": bag \"north\" cannot be a qid of SVMlight; expected a whole number, or a name ending in .csv");
  table.feature_names[0] = "bag";
  CHECK(fault_of(csv, table) == csv + ": two columns would be called \"bag\"; expected names that differ");
  table.feature_names[0] = "height";
  DenseRows values(3, 2);
  values(2, 1) = std::numeric_limits<double>::quiet_NaN();
  table.features = values;
  CHECK(fault_of(csv, table) == csv + ": row 3 has nan in column a,b; expected a finite number");
  table.groups = {};
  CHECK(fault_of(svm, table) == svm + ": row 3 has nan in column a,b; expected a finite number");
  CHECK(fault_of(csv, Dataset{}) == csv + ": there are no columns to write; expected at least one");
  CHECK(std::filesystem::is_empty(dir.path));
}

TEST_CASE("write_table: unwritable and full places are errors", "[data][write_table][badargs]") {
  TempDir dir;
  CHECK(fault_of(dir.file("no/t.csv"), small_table()) ==
        dir.file("no/t.csv") + ": cannot create this file: No such file or directory");
  CHECK(fault_of("/dev/full", small_table()) == "/dev/full: cannot write this file: No space left on device");
  REQUIRE(bagwise::write_file(dir.file("kept.csv"), "old"));
  Dataset bad = small_table();
  bad.feature_names = {"x", "x"};
  CHECK_FALSE(bagwise::write_table(dir.file("kept.csv"), bad));
  CHECK(contents(dir.file("kept.csv")) == "old");
}

TEST_CASE("write_table: a cell is quoted only if it must be", "[data][write_table]") {
  CHECK(bagwise::csv_cell("") == "");
  CHECK(bagwise::csv_cell("plain text") == "plain text");
  CHECK(bagwise::csv_cell("a,b") == "\"a,b\"");
  CHECK(bagwise::csv_cell("a\"b") == "\"a\"\"b\"");
  CHECK(bagwise::csv_cell("a\nb") == "\"a\nb\"");
  CHECK(bagwise::csv_cell("a\rb") == "\"a\rb\"");
  CHECK(bagwise::csv_cell(" a") == "\" a\"");
  CHECK(bagwise::csv_cell("a\t") == "\"a\t\"");
  CHECK(bagwise::csv_cell("\xEF\xBB\xBFx") == "\"\xEF\xBB\xBFx\"");
}
