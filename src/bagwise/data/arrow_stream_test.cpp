// Tables by the Arrow C stream interface: every form it allows, every fault, and nothing kept or given back
// twice.
#include "bagwise/data/arrow_stream.h"

#include <fmt/format.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "bagwise/core/random.h"
#include "support/arrow_producer.h"
#include "support/cases.h"

using namespace bagwise;
using test::ArrowBatch;
using test::ArrowBuffers;
using test::ArrowTable;
using test::Ledger;

namespace {

using Plain = std::vector<std::vector<double>>;  // by rows

const std::vector<std::string> kCodes = {"b", "c", "C", "s", "S", "i", "I", "l", "L", "e", "f", "g"};

double draw_value(const std::string& format, Rng& rng) {
  const auto whole = static_cast<double>(rng.below(101));
  if (format == "b") return static_cast<double>(rng.below(2));
  if (format == "C" || format == "S" || format == "I" || format == "L") return whole;
  return format == "f" || format == "g" ? whole / 4 - 10 : whole - 50;
}

// An array in which the values of `format` at [offset, ...) are `values`, with rubbish around them and, where
// there is a validity buffer, nulls outside them.
ArrowBuffers make_array(const std::string& format, const std::vector<double>& values, std::size_t before,
                        std::size_t offset, std::size_t after, Rng& rng) {
  std::vector<double> all;
  for (std::size_t i = 0; i < offset + before; ++i) all.push_back(draw_value(format, rng));
  all.insert(all.end(), values.begin(), values.end());
  for (std::size_t i = 0; i < after; ++i) all.push_back(draw_value(format, rng));
  ArrowBuffers out;
  out.length = static_cast<std::int64_t>(all.size() - offset);
  out.offset = static_cast<std::int64_t>(offset);
  out.values = test::arrow_values(format, all);
  out.null_count = rng.below(2) == 0 ? 0 : -1;
  if (rng.below(2) == 0) {
    std::vector<std::uint8_t> bits((all.size() + 7) / 8, 0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t at = offset + before + i;
      bits[at / 8] = static_cast<std::uint8_t>(bits[at / 8] | (1U << (at % 8)));
    }
    out.validity = bits;
    if (offset + before + after > 0) out.null_count = -1;
  }
  return out;
}

// Rows [first, first + count) of `rows` as a batch with offsets of its own.
ArrowBatch make_batch(const Plain& rows, std::size_t first, std::size_t count, const ArrowTable& table,
                      Rng& rng, std::size_t room) {
  ArrowBatch out;
  const std::size_t before = rng.below(room + 1), after = rng.below(room + 1);
  out.self.length = static_cast<std::int64_t>(count);
  out.self.offset = static_cast<std::int64_t>(before);
  out.self.buffers = 1;
  for (std::size_t c = 0; c < table.fields.size(); ++c) {
    std::vector<double> values;
    for (std::size_t i = first; i < first + count; ++i) values.push_back(rows[i][c]);
    out.columns.push_back(
        make_array(table.fields[c].format, values, before, rng.below(room + 1), after, rng));
  }
  return out;
}

Plain plain_of(const Dataset& data) {
  Plain out;
  const DenseView view = std::get<DenseView>(data.features.view());
  for (std::size_t i = 0; i < view.rows; ++i) out.emplace_back(view.row(i).begin(), view.row(i).end());
  return out;
}

// A column of numbers without offsets and nulls.
ArrowTable one_column(const std::string& format, const std::vector<double>& values) {
  ArrowTable table;
  table.fields = {{format, "a", {}}};
  ArrowBatch batch;
  batch.self = {static_cast<std::int64_t>(values.size()), 0, 0, {}, {}, 1};
  batch.columns.push_back(
      {static_cast<std::int64_t>(values.size()), 0, 0, {}, test::arrow_values(format, values), 2});
  table.batches.push_back(batch);
  return table;
}

Result<Dataset> read(const ArrowTable& table) {
  Ledger ledger;
  ArrowArrayStream stream = test::make_stream(table, ledger);
  auto out = read_arrow(stream, "X");
  CHECK(stream.release == nullptr);
  CHECK(ledger.settled());
  return out;
}

std::string fault_of(const ArrowTable& table) {
  const auto out = read(table);
  REQUIRE_FALSE(out);
  return out.error().text();
}

}  // namespace

TEST_CASE("arrow_stream: what is read are the rows that were given", "[data][arrow_stream]") {
  for (int repeat = 0; repeat < test::cases(300); ++repeat) {
    CAPTURE(repeat);
    Rng rng(7, static_cast<std::uint64_t>(repeat));
    ArrowTable table;
    const std::size_t columns = 1 + rng.below(2 * kCodes.size());
    std::vector<std::string> names;
    for (std::size_t c = 0; c < columns; ++c) {
      names.push_back(fmt::format("name {}", c));
      table.fields.push_back({kCodes[rng.below(kCodes.size())], names.back(), {}});
    }
    Plain rows(rng.below(repeat % 10 == 0 ? 3000 : 40));
    for (auto& row : rows) {
      for (const auto& field : table.fields) row.push_back(draw_value(field.format, rng));
    }
    for (std::size_t first = 0; first < rows.size();) {
      const std::size_t count = rng.below(rows.size() - first + 1);
      table.batches.push_back(make_batch(rows, first, count, table, rng, repeat % 3 == 0 ? 0 : 20));
      first += count;
    }
    const auto data = read(table);
    REQUIRE(data);
    CHECK(data->feature_names == names);
    CHECK(data->features.columns() == columns);
    CHECK(plain_of(*data) == rows);
  }
}

TEST_CASE("arrow_stream: a stream without batches or rows keeps its columns", "[data][arrow_stream]") {
  ArrowTable table = one_column("g", {});
  auto data = read(table);
  REQUIRE(data);
  CHECK(data->rows() == 0);
  CHECK(data->features.columns() == 1);
  table.batches[0].columns[0].values.reset();  // allowed where there are none
  CHECK(read(table));
  table.batches.clear();
  data = read(table);
  REQUIRE(data);
  CHECK(data->rows() == 0);
  CHECK(data->feature_names == std::vector<std::string>{"a"});
}

TEST_CASE("arrow_stream: the ends of every format come through", "[data][arrow_stream]") {
  const auto first_of = [](const std::string& format, auto value) {
    ArrowTable table = one_column("g", {0});
    table.fields[0].format = format;
    std::vector<std::byte> bytes;
    test::append_bytes(bytes, value);
    table.batches[0].columns[0].values = bytes;
    const auto data = read(table);
    REQUIRE(data);
    return plain_of(*data)[0][0];
  };
  CHECK(first_of("c", std::int8_t{-128}) == -128);
  CHECK(first_of("C", std::uint8_t{255}) == 255);
  CHECK(first_of("s", std::int16_t{-32768}) == -32768);
  CHECK(first_of("S", std::uint16_t{65535}) == 65535);
  CHECK(first_of("i", std::numeric_limits<std::int32_t>::min()) == -2147483648.0);
  CHECK(first_of("I", std::numeric_limits<std::uint32_t>::max()) == 4294967295.0);
  CHECK(first_of("l", std::numeric_limits<std::int64_t>::min()) == -9223372036854775808.0);
  CHECK(first_of("L", std::numeric_limits<std::uint64_t>::max()) == 18446744073709551616.0);
  CHECK(first_of("l", (std::int64_t{1} << 53) + 1) == 9007199254740992.0);  // to the nearest double
  CHECK(first_of("f", 0.1F) == static_cast<double>(0.1F));
  CHECK(std::isnan(first_of("g", std::numeric_limits<double>::quiet_NaN())));
  CHECK(first_of("g", -std::numeric_limits<double>::infinity()) == -std::numeric_limits<double>::infinity());
}

TEST_CASE("arrow_stream: half precision is read as IEEE 754 has it", "[data][arrow_stream]") {
  ArrowTable table = one_column("g", std::vector<double>(65536));
  table.fields[0].format = "e";
  std::vector<std::byte> bytes;
  for (unsigned half = 0; half < 65536; ++half) test::append_bytes(bytes, static_cast<std::uint16_t>(half));
  table.batches[0].columns[0].values = bytes;
  const auto data = read(table);
  REQUIRE(data);
  const DenseView view = std::get<DenseView>(data->features.view());
  const auto at = [&](unsigned half) { return view.values[half]; };
  CHECK(at(0x3C00) == 1);
  CHECK(at(0xC000) == -2);
  CHECK(at(0x3555) == 0.333251953125);
  CHECK(at(0x7BFF) == 65504);
  CHECK(at(0x0001) == std::exp2(-24));
  CHECK(at(0x0400) == std::exp2(-14));
  CHECK(at(0x8000) == 0);
  CHECK(std::signbit(at(0x8000)));
  CHECK(at(0x7C00) == std::numeric_limits<double>::infinity());
  int wrong = 0;
  for (unsigned half = 0; half < 0x7C00; ++half) {
    if (half > 0 && at(half) <= at(half - 1)) ++wrong;
    if (at(half | 0x8000) != -at(half)) ++wrong;
    // Steps are 2^-24, and double every 1024 values from the second 1024 on.
    if (at(half + 1) - at(half) != std::exp2(std::max(0, static_cast<int>(half >> 10) - 1) - 24) &&
        half < 0x7BFF) {
      ++wrong;
    }
  }
  for (unsigned half = 0x7C01; half < 0x8000; ++half) wrong += std::isnan(at(half)) ? 0 : 1;
  CHECK(wrong == 0);
}

TEST_CASE("arrow_stream: columns without a name are called by their numbers", "[data][arrow_stream]") {
  ArrowTable table;
  table.fields = {{"g", std::nullopt, {}}, {"g", "age", {}}, {"g", "", {}}};
  const auto data = read(table);
  REQUIRE(data);
  CHECK(data->feature_names == std::vector<std::string>{"x1", "age", "x3"});
  table.fields[1].name = "x3";
  CHECK(fault_of(table) == "X: column 3 (x3): is the name of column 2 too; expected every name once");
  table.fields = {};
  CHECK(fault_of(table) == "X: there is no feature column here; expected at least one");
}

TEST_CASE("arrow_stream: columns that are no numbers are errors", "[data][arrow_stream][badargs]") {
  const auto fault = [](const std::string& format, const std::optional<std::string>& dictionary = {}) {
    ArrowTable table;
    table.fields = {{"g", "a", {}}, {format, "city", dictionary}};
    return fault_of(table);
  };
  CHECK(fault("u") ==
        "X: column 2 (city): holds text (Arrow format \"u\"); expected numbers or booleans: encode it as "
        "numbers (one column per value) or leave it out");
  CHECK(fault("i", "u") ==
        "X: column 2 (city): holds categories (a dictionary of Arrow format \"u\" under codes of format "
        "\"i\"); expected numbers or booleans: encode it as numbers (one column per value) or leave it out");
  CHECK(fault("tsu:UTC") ==
        "X: column 2 (city): holds timestamps (Arrow format \"tsu:UTC\"); expected numbers or booleans: turn "
        "it into a number (say, days since a date) or leave it out");
  CHECK(fault("d:19,10") ==
        "X: column 2 (city): holds decimal numbers (Arrow format \"d:19,10\"); expected numbers or booleans: "
        "cast it to float64");
  CHECK(fault("+l") ==
        "X: column 2 (city): holds lists or other nested values (Arrow format \"+l\"); expected numbers or "
        "booleans: spread it over columns of numbers or leave it out");
  for (const std::string format :
       {"U", "vu", "z", "w:42", "tdD", "ttm", "tDs", "tiM", "+s", "+r", "", "gg"}) {
    CHECK_THAT(fault(format), Catch::StartsWith("X: column 2 (city): holds "));
  }
  ArrowTable table;
  table.format = "l";
  CHECK(fault_of(table) ==
        "X: the Arrow stream gives arrays of format \"l\"; expected a table, that is structs (format \"+s\") "
        "with a field per column");
}

TEST_CASE("arrow_stream: the first null is an error with its row and column",
          "[data][arrow_stream][badargs]") {
  for (int repeat = 0; repeat < test::cases(200); ++repeat) {
    CAPTURE(repeat);
    Rng rng(11, static_cast<std::uint64_t>(repeat));
    ArrowTable table;
    table.fields = {{"g", "a", {}}, {"b", "b", {}}, {"s", "c", {}}};
    Plain rows(1 + rng.below(60));
    for (auto& row : rows) {
      for (const auto& field : table.fields) row.push_back(draw_value(field.format, rng));
    }
    const std::size_t half = rng.below(rows.size());
    table.batches.push_back(make_batch(rows, 0, half, table, rng, 9));
    table.batches.push_back(make_batch(rows, half, rows.size() - half, table, rng, 9));
    // One to three nulls; the one that counts is the first by rows, then by columns.
    std::size_t row = rows.size(), column = 3;
    for (std::size_t k = 0; k < 1 + rng.below(3); ++k) {
      const std::size_t i = rng.below(rows.size()), c = rng.below(3);
      ArrowBatch& batch = table.batches[i < half ? 0 : 1];
      ArrowBuffers& array = batch.columns[c];
      const auto values = static_cast<std::size_t>(array.length + array.offset);
      if (!array.validity) array.validity = std::vector<std::uint8_t>((values + 7) / 8, 0xFF);
      array.null_count = rng.below(2) == 0 ? -1 : 1;
      const std::size_t at =
          static_cast<std::size_t>(array.offset + batch.self.offset) + (i < half ? i : i - half);
      (*array.validity)[at / 8] = static_cast<std::uint8_t>((*array.validity)[at / 8] & ~(1U << (at % 8)));
      if (i < row || (i == row && c < column)) row = i, column = c;
    }
    CHECK(fault_of(table) ==
          fmt::format(
              "X: row {}: column {} ({}): is empty (null); expected a finite number (fill nulls or leave "
              "such rows out first)",
              row + 1, column + 1, "abc"[column]));
  }
}

TEST_CASE("arrow_stream: of two nulls in a row the first is named", "[data][arrow_stream][badargs]") {
  ArrowTable table = one_column("g", {1, 2, 3});
  table.batches[0].columns[0].validity = std::vector<std::uint8_t>{0b001};
  table.batches[0].columns[0].null_count = 2;
  table.fields.push_back({"g", "b", {}});
  table.batches[0].columns.push_back(table.batches[0].columns[0]);
  CHECK_THAT(fault_of(table), Catch::StartsWith("X: row 2: column 1 (a): is empty (null); "));
}

TEST_CASE("arrow_stream: a column of nulls and a null row are errors", "[data][arrow_stream][badargs]") {
  ArrowTable table = one_column("g", {1, 2, 3});
  table.fields[0].format = "n";
  table.batches[0].columns[0] = {3, 0, 3, {}, {}, 0};
  CHECK_THAT(fault_of(table), Catch::StartsWith("X: row 1: column 1 (a): is empty (null); "));
  table.batches[0].self.length = 0;
  CHECK(read(table));

  table = one_column("g", {1, 2, 3});
  table.batches[0].self.validity = std::vector<std::uint8_t>{0b101};
  CHECK(read(table));  // no nulls, it says: then the buffer is not looked at
  table.batches[0].self.null_count = 1;
  CHECK(fault_of(table) == "X: row 2: is null as a whole; expected a number in every column");
}

TEST_CASE("arrow_stream: a stream that fails gives its own words", "[data][arrow_stream][badargs]") {
  ArrowTable table = one_column("g", {1, 2, 3});
  table.batches.push_back(table.batches[0]);
  for (table.fail_at = -1; table.fail_at <= 2; ++table.fail_at) {
    CAPTURE(table.fail_at);
    table.fault = "the disk is gone";
    CHECK(fault_of(table) == "X: the Arrow stream failed: the disk is gone");
    table.fault.reset();
    CHECK(fault_of(table) == "X: the Arrow stream failed: Input/output error");
  }
  Ledger ledger;
  ArrowArrayStream stream = test::make_stream(one_column("g", {1}), ledger);
  stream.get_last_error = nullptr;
  CHECK(read_arrow(stream, "X"));
  const auto again = read_arrow(stream, "X");
  REQUIRE_FALSE(again);
  CHECK(again.error().text() == "X: the Arrow stream was read or released before; expected one that is new");
  CHECK(ledger.settled());
}

TEST_CASE("arrow_stream: arrays that do not hold what they say are errors", "[data][arrow_stream][badargs]") {
  const ArrowTable good = one_column("g", {1, 2, 3});
  ArrowTable table = good;
  table.batches[0].self.length = 4;
  CHECK(fault_of(table) ==
        "X: column 1 (a): has 3 values from 0 on; expected those of rows 0 to 4 of its batch");
  table = good;
  table.batches[0].self.offset = 1;
  CHECK(fault_of(table) ==
        "X: column 1 (a): has 3 values from 0 on; expected those of rows 1 to 4 of its batch");
  table = good;
  table.batches[0].columns[0].null_count = 2;
  CHECK(fault_of(table) == "X: column 1 (a): says it has 2 nulls but not where; expected a validity buffer");
  table = good;
  table.batches[0].columns[0].values.reset();
  CHECK(fault_of(table) == "X: column 1 (a): has 2 buffers; expected two, of validity and of values");
  table = good;
  table.batches[0].columns[0].buffers = 1;
  CHECK(fault_of(table) == "X: column 1 (a): has 1 buffers; expected two, of validity and of values");
  table = good;
  table.batches[0].columns.push_back(table.batches[0].columns[0]);
  CHECK(fault_of(table) ==
        "X: a batch of the Arrow stream has 2 columns and 3 rows from 0 on; expected 1 columns as its schema "
        "says");
  for (const std::int64_t bad : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
    table = good;
    table.batches[0].self.length = bad;
    CHECK_FALSE(read(table));
    table = good;
    table.batches[0].columns[0].offset = bad;
    CHECK_FALSE(read(table));
    table = good;
    table.batches[0].self.offset = bad;
    CHECK_FALSE(read(table));
  }
}
