#include "bagwise/bags/streamed_rows.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "bagwise/bags/memory_rows.h"
#include "bagwise/core/random.h"
#include "support/temp_dir.h"

namespace bagwise {
namespace {

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

// Everything a pass saw, in order.
struct Seen {
  std::vector<double> values, bounds;
  std::vector<std::uint32_t> bags;
};
Result<Seen> read_all(RowStream& stream, unsigned threads) {
  return sum_over_blocks(
      stream, Seen{},
      [](const RowBlock& block, Seen& part) {
        for (std::size_t i = 0; i < row_count(block.rows); ++i) {
          if (const auto* dense = std::get_if<DenseView>(&block.rows)) {
            part.values.insert(part.values.end(), dense->row(i).begin(), dense->row(i).end());
            continue;
          }
          const auto& csr = std::get<CsrView>(block.rows);
          for (auto k = csr.start[i]; k < csr.start[i + 1]; ++k) {
            part.values.push_back(csr.index[static_cast<std::size_t>(k)]);
            part.values.push_back(csr.values[static_cast<std::size_t>(k)]);
          }
        }
        part.bags.assign(block.bag_of_row.begin(), block.bag_of_row.end());
        part.bounds.assign(block.bounds.begin(), block.bounds.end());
      },
      [](Seen& sum, const Seen& part) {
        sum.values.insert(sum.values.end(), part.values.begin(), part.values.end());
        sum.bags.insert(sum.bags.end(), part.bags.begin(), part.bags.end());
        sum.bounds.insert(sum.bounds.end(), part.bounds.begin(), part.bounds.end());
      },
      threads);
}

TEST_CASE("streamed_rows: every pass has all rows in their bags, in their order", "[bags][streamed_rows]") {
  const test::TempDir dir;
  const std::string path = dir.file("rows.csv");
  Rng rng(1);
  std::string text = "x,bag,delta,y\n";
  Seen expected;
  for (int i = 0; i < 3000; ++i) {
    const double x = static_cast<double>(rng.below(1000)), y = static_cast<double>(rng.below(1000)) / 8;
    const auto bag = static_cast<std::uint32_t>(rng.below(7));
    const double bound = static_cast<double>(rng.below(4)) / 4;
    text += fmt::format("{},b{},{},{}\n", x, bag, bound, y);
    expected.values.insert(expected.values.end(), {x, y});
    expected.bags.push_back(6 - bag);
    expected.bounds.push_back(bound);
  }
  write(path, text);
  const std::vector<std::string> bags = {"b6", "b5", "b4", "b3", "b2", "b1", "b0"};
  TableOptions options;
  options.block_bytes = 5000;
  auto rows = StreamedRows::open(path, options, {"x", "y"}, bags);
  REQUIRE(rows.ok());
  CHECK((*rows)->features() == 2);
  for (const unsigned threads : {1U, 2U, 4U}) {
    const auto seen = read_all(**rows, threads);
    REQUIRE(seen.ok());
    CHECK(seen->values == expected.values);
    CHECK(seen->bags == expected.bags);
    CHECK(seen->bounds == expected.bounds);
  }

  BaggedData data;
  DenseRows dense(2);
  std::copy(expected.values.begin(), expected.values.end(), dense.append(3000));
  data.features = Features(std::move(dense));
  data.bag_of_row = expected.bags;
  MemoryRows memory(data);
  const auto seen = read_all(memory, 2);
  REQUIRE(seen.ok());
  CHECK(seen->values == expected.values);
  CHECK(seen->bags == expected.bags);
  CHECK(seen->bounds.empty());
}

TEST_CASE("streamed_rows: files that change or vanish between passes are errors", "[bags][streamed_rows]") {
  const test::TempDir dir;
  const std::string path = dir.file("rows.csv");
  write(path, "bag,x\na,1\nb,2\n");
  const auto told = [](const Result<Seen>& seen) { return seen.ok() ? "" : seen.error().text(); };
  const std::vector<std::string> names = {"a", "b"};
  auto rows = StreamedRows::open(path, {}, {"x"}, names);
  REQUIRE(rows.ok());
  REQUIRE(read_all(**rows, 1).ok());
  write(path, "bag,x\na,1\nb,2\nb,3\n");
  CHECK_THAT(told(read_all(**rows, 1)),
             Catch::StartsWith(path) && Catch::Contains("has 18 bytes and had 14"));
  std::filesystem::remove(path);
  CHECK_THAT(told(read_all(**rows, 1)), Catch::StartsWith(path) && Catch::Contains("cannot be read again"));

  write(path, "bag,x\na,1\nc,2\n");
  auto unknown = StreamedRows::open(path, {}, {"x"}, names);
  REQUIRE(unknown.ok());
  CHECK_THAT(told(read_all(**unknown, 1)), Catch::StartsWith(path + ":3:") && Catch::Contains("\"c\""));
  auto other = StreamedRows::open(path, {}, {"y"}, names);
  REQUIRE(other.ok());
  CHECK_THAT(told(read_all(**other, 1)), Catch::Contains("features"));
  CHECK_FALSE(StreamedRows::open("/dev/null", {}, {"x"}, names).ok());
}

}  // namespace
}  // namespace bagwise
