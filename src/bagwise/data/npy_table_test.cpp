// NumPy files as tables: plain arrays in any order, and records with named fields.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "bagwise/core/atomic_file.h"
#include "bagwise/data/read_table.h"
#include "support/temp_dir.h"

using namespace bagwise;
using bagwise::test::TempDir;

namespace {

// A file as numpy.save writes it.
std::string npy(const std::string& descr, bool fortran, const std::string& shape, const std::string& data) {
  std::string text = fmt::format("{{'descr': {}, 'fortran_order': {}, 'shape': {}, }}", descr,
                                 fortran ? "True" : "False", shape);
  text.resize((10 + text.size() + 64) / 64 * 64 - 11, ' ');
  text += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(text.size() & 0xFF);
  out += static_cast<char>(text.size() >> 8);
  return out + text + data;
}

template <class T>
std::string bytes(std::initializer_list<T> values) {
  std::string out;
  for (const T value : values) out.append(reinterpret_cast<const char*>(&value), sizeof value);
  return out;
}

std::string put(const TempDir& dir, const std::string& content) {
  const std::string path = dir.file("t.npy");
  REQUIRE(write_file(path, content).ok());
  return path;
}

std::vector<double> values_of(const Dataset& data) {
  const auto values = stored_values(data.features.view());
  return {values.begin(), values.end()};
}

std::string fault_of(const TempDir& dir, const std::string& content) {
  auto read = read_table(put(dir, content), {});
  REQUIRE(!read.ok());
  return read.error().message;
}

}  // namespace

TEST_CASE("npy: arrays of any number type and order are the same table", "[data][npy]") {
  const TempDir dir;
  const std::vector<double> expected = {1, 2, 3, 4, 5, 6};
  const std::vector<std::string> files = {
      npy("'<f8'", false, "(3, 2)", bytes<double>({1, 2, 3, 4, 5, 6})),
      npy("'<f8'", true, "(3, 2)", bytes<double>({1, 3, 5, 2, 4, 6})),
      npy("'<f4'", false, "(3, 2)", bytes<float>({1, 2, 3, 4, 5, 6})),
      npy("'<i8'", true, "(3, 2)", bytes<std::int64_t>({1, 3, 5, 2, 4, 6})),
      npy("'<u4'", false, "(3, 2)", bytes<std::uint32_t>({1, 2, 3, 4, 5, 6})),
      npy("'<i4'", true, "(3, 2)", bytes<std::int32_t>({1, 3, 5, 2, 4, 6})),
      npy("'|u1'", false, "(3, 2)", bytes<std::uint8_t>({1, 2, 3, 4, 5, 6})),
      npy("'>i2'", false, "(3, 2)", std::string("\0\1\0\2\0\3\0\4\0\5\0\6", 12)),
  };
  for (const std::string& content : files) {
    const std::string path = put(dir, content);
    auto read = read_table(path, {});
    REQUIRE(read.ok());
    CHECK(read->feature_names == std::vector<std::string>{"x1", "x2"});
    CHECK(values_of(*read) == expected);
    std::vector<double> shared;
    for (int rank = 0; rank < 4; ++rank) {
      auto part = read_table(*share_of(path, rank, 4), {});
      REQUIRE(part.ok());
      const auto some = values_of(*part);
      shared.insert(shared.end(), some.begin(), some.end());
    }
    CHECK(shared == expected);
  }
  TableOptions options;
  options.group_column = "x1";
  auto read = read_table(put(dir, files[0]), options);
  REQUIRE(read.ok());
  CHECK(read->groups.values == std::vector<std::string>{"1", "3", "5"});
  CHECK(values_of(*read) == std::vector<double>{2, 4, 6});
}

TEST_CASE("npy: records have columns by name, and text for bags and ids", "[data][npy]") {
  const TempDir dir;
  std::string data;
  for (int i = 0; i < 3; ++i) {
    data += bytes<double>({0.5 * i}) + std::string(i == 1 ? "bb\0" : "a\0\0", 3) +
            bytes<std::int32_t>({'u', 0xE9}) + bytes<std::int8_t>({static_cast<std::int8_t>(i % 2)});
  }
  TableOptions options;
  options.want_groups = options.want_ids = options.want_labels = true;
  auto read = read_table(
      put(dir, npy("[('v', '<f8'), ('bag', '|S3'), ('id', '<U2'), ('label', '|i1')]", false, "(3,)", data)),
      options);
  REQUIRE(read.ok());
  CHECK(read->feature_names == std::vector<std::string>{"v"});
  CHECK(values_of(*read) == std::vector<double>{0, 0.5, 1});
  CHECK(read->groups.values == std::vector<std::string>{"a", "bb"});
  CHECK(read->groups.codes == std::vector<std::uint32_t>{0, 1, 0});
  CHECK(read->ids == std::vector<std::string>{"u\xC3\xA9", "u\xC3\xA9", "u\xC3\xA9"});
  CHECK(read->labels == std::vector<std::int8_t>{-1, 1, -1});
}

TEST_CASE("npy: records have proportions, bounds and any letter", "[data][npy]") {
  const TempDir dir;
  TableOptions options;
  options.want_groups = options.want_ids = options.want_labels = true;
  const auto table = [&](double share, double bound, std::int8_t label) {
    const std::string row = bytes<double>({0.5, share, bound}) + bytes<std::int8_t>({label}) +
                            bytes<std::int64_t>({7}) + bytes<std::uint32_t>({0x20AC, 0x1F600});
    return read_table(
        put(dir, npy("[('v', '<f8'), ('proportion', '<f8'), ('delta', '<f8'), ('label', '|i1'), "
                     "('bag', '<i8'), ('id', '<U2')]",
                     false, "(1,)", row)),
        options);
  };
  const auto read = table(0.25, 0.125, 1);
  REQUIRE(read.ok());
  CHECK(read->shares == std::vector<double>{0.25});
  CHECK(read->bounds == std::vector<double>{0.125});
  CHECK(read->groups.values == std::vector<std::string>{"7"});
  CHECK(read->ids == std::vector<std::string>{"\xE2\x82\xAC\xF0\x9F\x98\x80"});
  CHECK(table(1.5, 0, 1).error().message == "1.5 is not between 0 and 1; expected a share of positives");
  CHECK(table(0.5, -1, 1).error().message == "-1 is negative; expected a bound >= 0");
  CHECK(table(0.5, 0, 3).error().message == "3 is not a label; expected 0 or 1, or -1 or 1");
}

TEST_CASE("npy: nan is an empty cell, and infinity is refused", "[data][npy]") {
  const TempDir dir;
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const std::string path = put(dir, npy("'<f8'", false, "(3, 1)", bytes<double>({1, nan, 5})));
  CHECK(read_table(path, {}).error().text() ==
        path + ":2: column 1 (x1): is nan; expected a finite number (--missing mean|zero fills empty cells)");
  CHECK(values_of(*read_table(path, {.missing = Missing::kZero})) == std::vector<double>{1, 0, 5});
  CHECK(values_of(*read_table(path, {.missing = Missing::kMean})) == std::vector<double>{1, 3, 5});
  CHECK(fault_of(dir, npy("'<f8'", false, "(1, 1)", bytes<double>({inf}))) ==
        "inf is not finite; expected a finite number");
}

TEST_CASE("npy: nan names no bag and no value of a text column", "[data][npy]") {
  const TempDir dir;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const char* const type : {"<f8", ">f8"}) {
    std::string data = bytes<double>({1, 5, nan, 6});
    if (type[0] == '>') {
      for (std::size_t at = 0; at < data.size(); at += 8)
        std::reverse(data.begin() + static_cast<std::ptrdiff_t>(at),
                     data.begin() + static_cast<std::ptrdiff_t>(at + 8));
    }
    const auto file = [&](const std::string& name) {
      return put(dir, npy(fmt::format("[('{0}', '{1}'), ('x', '{1}')]", name, type), false, "(2,)", data));
    };
    const auto bags = read_table(file("bag"), {});
    REQUIRE_FALSE(bags.ok());
    CHECK(bags.error().message == "is empty; expected the name of the row's bag");
    CHECK(bags.error().line == 2);
    const auto spread = read_table(file("c"), {.one_hot = {"c"}, .missing = Missing::kZero});
    REQUIRE(spread.ok());
    CHECK(spread->feature_names == std::vector<std::string>{"c=1", "x"});
  }
}

TEST_CASE("npy: what is no table is told", "[data][npy]") {
  const TempDir dir;
  const std::string data = bytes<double>({1, 2, 3, 4});
  CHECK(fault_of(dir, npy("'<f8'", false, "(4,)", data)) ==
        "has 1 dimension; expected two: rows and columns");
  CHECK(fault_of(dir, npy("'<c16'", false, "(2, 1)", data)) ==
        "has elements of type \"<c16\"; expected numbers");
  CHECK(fault_of(dir, npy("'|O'", false, "(2, 1)", data)) == "has elements of type \"|O\"; expected numbers");
  CHECK(fault_of(dir, npy("[('a', '<f8', (2,))]", false, "(2,)", data)) ==
        "has a field \"a\" of type an array; expected numbers, or text of fixed width");
  CHECK(fault_of(dir, npy("'<f8'", false, "(4, 2)", data)).starts_with("is cut short"));
  CHECK(fault_of(dir, npy("'<f8'", false, "(0, 3)", "")) == "has no rows; expected at least one");
  CHECK(fault_of(dir, npy("[('v', '<f8')]", false, "(0,)", "")) == "has no rows; expected at least one");
  CHECK(fault_of(dir, npy("'<f8'", false, "(3, 0)", "")) == "has no columns; expected at least one");
  CHECK(
      fault_of(dir, npy("'<f8'", false, "(1099511627776, 1099511627776)", data)).starts_with("is cut short"));
  CHECK(fault_of(dir, npy("'<f8'", false, "(3, 1)", data)) ==
        "has 8 bytes behind its data; expected its end");
  CHECK(fault_of(dir, "x,y\n1,2\n") == "is not a NumPy file, though its name ends in .npy");
}

TEST_CASE("npy: any damage is survived, and no file that ends early is read", "[data][npy]") {
  const TempDir dir;
  const std::string whole = npy("[('v', '<f8'), ('bag', '|S3')]", false, "(2,)",
                                bytes<double>({1}) + "abc" + bytes<double>({2}) + "def");
  TableOptions options;
  options.threads = 1;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK(!read_table(put(dir, whole.substr(0, size)), options).ok());
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const char flip : {'\x01', '\x10', '\x7f'}) {
      std::string bad = whole;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      static_cast<void>(read_table(put(dir, bad), options));
    }
  }
}
