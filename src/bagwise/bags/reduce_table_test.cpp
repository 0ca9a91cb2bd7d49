#include "bagwise/bags/reduce_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <map>

#include "bagwise/core/random.h"
#include "bagwise/data/binary_table.h"
#include "bagwise/data/read_table.h"
#include "support/temp_dir.h"

using namespace bagwise;

namespace {

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string random_csv(std::uint64_t seed, int rows, std::uint64_t bags, bool bounds) {
  Rng rng(seed);
  std::string out = bounds ? "x,bag,delta,y,label\n" : "x,bag,y,label\n";
  for (int i = 0; i < rows; ++i) {
    out += fmt::format("{},bag {},", rng.normal(), rng.below(bags));
    if (bounds) out += fmt::format("{},", rng.uniform());
    out += fmt::format("{},not read\n", 1e6 * rng.normal());
  }
  return out;
}

std::string random_svm(std::uint64_t seed, int rows, std::uint64_t bags) {
  Rng rng(seed);
  std::string out;
  for (int i = 0; i < rows; ++i) {
    out += fmt::format("1 qid:{}", rng.below(bags));
    for (int j = 1; j <= 6; ++j) {
      if (rng.below(2) == 0) out += fmt::format(" {}:{}", j, rng.normal());
    }
    out += "\n";
  }
  return out + "1 qid:0 6:1\n";
}

GroupedSums reduce_or_fail(const std::string& path, const TableOptions& table, const ReduceOptions& options) {
  auto out = reduce_table(path, table, options);
  if (!out) FAIL(out.error().text());
  return std::move(*out);
}

std::vector<std::uint64_t> bits_of(const GroupedSums& sums) {
  std::vector<std::uint64_t> out;
  for (std::size_t k = 0; k < sums.names.size(); ++k) {
    out.push_back(sums.sums.count(k));
    out.push_back(std::bit_cast<std::uint64_t>(sums.sums.bound_sum(k)));
    for (std::size_t j = 0; j < sums.sums.features(); ++j) {
      out.push_back(std::bit_cast<std::uint64_t>(sums.sums.sum(k, j)));
    }
  }
  for (std::size_t j = 0; j < sums.moments.sum.size(); ++j) {
    out.push_back(std::bit_cast<std::uint64_t>(sums.moments.sum[j].value()));
    out.push_back(std::bit_cast<std::uint64_t>(sums.moments.sum_of_squares[j].value()));
    out.push_back(std::bit_cast<std::uint64_t>(sums.moments.largest[j]));
  }
  return out;
}

// The same sums by a loop over the table in memory, in long double.
void check_against_dataset(const GroupedSums& sums, const Dataset& table, double bound) {
  CHECK(sums.rows == table.rows());
  CHECK(sums.names == table.groups.values);
  CHECK(sums.schema.feature_names == table.feature_names);
  const std::size_t columns = table.features.columns();
  std::vector<std::vector<long double>> truth(sums.names.size(), std::vector<long double>(columns, 0));
  std::vector<long double> bounds(sums.names.size(), 0), squares(columns, 0), size(sums.names.size(), 0);
  std::vector<double> largest(columns, 0);
  const auto add = [&](std::size_t bag, std::size_t j, double x) {
    truth[bag][j] += x;
    size[bag] += std::abs(x);
    squares[j] += static_cast<long double>(x) * x;
    largest[j] = std::max(largest[j], std::abs(x));
  };
  for (std::size_t i = 0; i < table.rows(); ++i) {
    const std::size_t bag = table.groups.codes[i];
    bounds[bag] += table.bounds.empty() ? bound : table.bounds[i];
    if (table.features.sparse()) {
      const auto rows = std::get<CsrView>(table.features.view());
      for (auto k = static_cast<std::size_t>(rows.start[i]); k < static_cast<std::size_t>(rows.start[i + 1]);
           ++k) {
        add(bag, static_cast<std::size_t>(rows.index[k]), rows.values[k]);
      }
    } else {
      const auto row = std::get<DenseView>(table.features.view()).row(i);
      for (std::size_t j = 0; j < columns; ++j) add(bag, j, row[j]);
    }
  }
  for (std::size_t k = 0; k < sums.names.size(); ++k) {
    CHECK(std::abs(static_cast<double>(sums.sums.bound_sum(k) - bounds[k])) <=
          1e-14 * (1 + std::abs(static_cast<double>(bounds[k]))));
    for (std::size_t j = 0; j < columns; ++j) {
      CHECK(std::abs(static_cast<double>(sums.sums.sum(k, j) - truth[k][j])) <=
            1e-14 * static_cast<double>(size[k]));
    }
  }
  for (std::size_t j = 0; j < sums.moments.sum.size(); ++j) {
    CHECK(sums.moments.sum_of_squares[j].value() == Approx(static_cast<double>(squares[j])).epsilon(1e-13));
    CHECK(sums.moments.largest[j] == largest[j]);
  }
}

}  // namespace

TEST_CASE("reduce_table: sums are those of the table in memory, the same bits on any threads",
          "[bags][reduce_table]") {
  const test::TempDir dir;
  for (const std::uint64_t bags : {1U, 5U, 300U}) {
    for (const char* name : {"a.csv", "b.csv", "c.svm"}) {
      const std::string path = dir.file(name);
      const bool sparse = path.ends_with(".svm");
      write_text(path,
                 sparse ? random_svm(bags, 400, bags) : random_csv(bags, 400, bags, path.ends_with("a.csv")));
      TableOptions options{.want_groups = true, .block_bytes = 200};
      const ReduceOptions reduce{.moments = true, .bound = 0.25};
      const auto table = read_table(path, options);
      REQUIRE(table);
      std::vector<std::uint64_t> bits;
      for (const unsigned threads : {1U, 2U, 4U}) {
        options.threads = threads;
        const GroupedSums sums = reduce_or_fail(path, options, reduce);
        check_against_dataset(sums, *table, reduce.bound);
        if (bits.empty()) bits = bits_of(sums);
        CHECK(bits_of(sums) == bits);
      }
    }
  }
}

TEST_CASE("reduce_table: the order of rows and the size of blocks do not matter to 1e-14",
          "[bags][reduce_table]") {
  const test::TempDir dir;
  Rng rng(3);
  std::vector<std::string> lines;
  std::map<std::string, double> size;  // sum of absolute values per bag
  for (int i = 0; i < 2000; ++i) {
    const double x = rng.normal() * std::pow(10.0, static_cast<double>(rng.below(12)));
    const std::string bag = fmt::format("b{}", rng.below(7));
    size[bag] += std::abs(x);
    lines.push_back(fmt::format("{},{}\n", bag, x));
  }
  std::map<std::string, double> first;
  for (int round = 0; round < 5; ++round) {
    std::string text = "bag,x\n";
    for (const auto& line : lines) text += line;
    write_text(dir.file("t.csv"), text);
    const GroupedSums sums = reduce_or_fail(dir.file("t.csv"), {.block_bytes = 100U << (2 * round)}, {});
    for (std::size_t k = 0; k < sums.names.size(); ++k) {
      const double value = sums.sums.sum(k, 0);
      if (round == 0) first[sums.names[k]] = value;
      CHECK(std::abs(value - first[sums.names[k]]) <= 1e-14 * size[sums.names[k]]);
    }
    CHECK(first.size() == sums.names.size());
    shuffle(std::span(lines), rng);
  }
}

TEST_CASE("reduce_table: moments are made only if asked for", "[bags][reduce_table]") {
  const test::TempDir dir;
  write_text(dir.file("t.csv"), "bag,x\na,1\n");
  CHECK(reduce_or_fail(dir.file("t.csv"), {}, {}).moments.sum.empty());
  CHECK(reduce_or_fail(dir.file("t.csv"), {}, {.moments = true}).moments.rows == 1);
}

TEST_CASE("reduce_table: a proportion column must be constant within a bag",
          "[bags][reduce_table][badargs]") {
  const test::TempDir dir;
  const std::string path = dir.file("t.csv");
  write_text(path, "bag,proportion,x\na,0.5,1\nb,0.25,1\na,0.5,2\nb,0.25,3\n");
  const GroupedSums fine = reduce_or_fail(path, {}, {});
  CHECK(fine.shares == std::vector<double>{0.5, 0.25});
  write_text(path, "bag,proportion,x\na,0.5,1\nb,0.25,1\n\na,0.5,2\nb,0.75,3\na,0.5,3\na,0.1,3\n");
  for (const unsigned threads : {1U, 2U}) {
    for (const std::size_t block : {1U, 20U, 30U, 1000U}) {
      const auto out = reduce_table(path, {.threads = threads, .block_bytes = block});
      REQUIRE_FALSE(out);
      CHECK(out.error().text() ==
            path +
                ":6: column proportion: bag \"b\" has proportion 0.75 here but 0.25 before; "
                "expected one proportion per bag");
    }
  }
}

TEST_CASE("reduce_table: a binary table tells the row of another proportion, deep in a block",
          "[bags][reduce_table][badargs]") {
  const bagwise::test::TempDir dir;
  const std::string csv = dir.file("t.csv"), bw = dir.file("t.bw");
  std::string text = "bag,proportion,x,y\n";
  for (int i = 1; i <= 4000; ++i) text += fmt::format("bag {},{},{},1\n", i % 7, i == 3001 ? 0.75 : 0.5, i);
  write_text(csv, text);
  REQUIRE(convert_table(csv, bw, {}).ok());
  const auto found = reduce_table(bw, {});
  REQUIRE_FALSE(found.ok());
  CHECK(found.error().line == 3001);
  CHECK(reduce_table(csv, {}).error().line == 3002);  // behind a header
}

TEST_CASE("reduce_table: a long name of a bag is cut in messages", "[bags][reduce_table][badargs]") {
  const test::TempDir dir;
  const std::string path = dir.file("t.csv"), longer(100000, 'n');
  write_text(path, "bag,proportion,x\n" + longer + ",0.5,1\n" + longer + ",0.25,1\n");
  const auto out = reduce_table(path, {});
  REQUIRE_FALSE(out);
  CHECK(out.error().message == "bag \"" + longer.substr(0, 60) +
                                   "...\" has proportion 0.25 here but 0.5 before; expected one proportion "
                                   "per bag");
}

TEST_CASE("reduce_table: a table without bags is an error", "[bags][reduce_table][badargs]") {
  const test::TempDir dir;
  write_text(dir.file("t.csv"), "a,x\n1,1\n");
  const auto out = reduce_table(dir.file("t.csv"), {});
  REQUIRE_FALSE(out);
  CHECK(out.error().message.find("there is no column \"bag\"") == 0);
}
