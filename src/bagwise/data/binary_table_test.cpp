// The binary table: what goes in comes out, and no damage goes unseen.
#include "bagwise/data/binary_table.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "bagwise/core/atomic_file.h"
#include "bagwise/core/random.h"
#include "bagwise/data/internal/binary_format.h"
#include "bagwise/data/read_table.h"
#include "support/temp_dir.h"

using namespace bagwise;
using bagwise::test::TempDir;

namespace {

std::string put_text(const TempDir& dir, const std::string& name, const std::string& text) {
  const std::string path = dir.file(name);
  REQUIRE(write_file(path, text).ok());
  return path;
}

std::string bytes_of(const std::string& path) {
  auto bytes = read_file(path, std::uint64_t{1} << 30);
  REQUIRE(bytes.ok());
  return *bytes;
}

std::string full_csv(int rows) {
  Rng random(3);
  std::string text = "id,bag,proportion,delta,label,x1,\"x,2\"\n";
  for (int i = 0; i < rows; ++i) {
    const auto bag = random.below(5);
    text += fmt::format("row{},b{},0.{},{},{},{},{}\n", i, bag, bag, random.below(3), random.below(2),
                        random.uniform(), 1e3 * random.uniform());
  }
  return text;
}

std::string converted(const TempDir& dir, const std::string& from, const TableOptions& options = {}) {
  const std::string to = from + ".bw";
  static_cast<void>(dir);
  auto done = convert_table(from, to, options);
  REQUIRE(done.ok());
  return to;
}

void check_same(const Dataset& a, const Dataset& b) {
  CHECK(a.feature_names == b.feature_names);
  const auto va = stored_values(a.features.view()), vb = stored_values(b.features.view());
  CHECK(std::vector<double>(va.begin(), va.end()) == std::vector<double>(vb.begin(), vb.end()));
  CHECK(a.features.sparse() == b.features.sparse());
  if (a.features.sparse() && b.features.sparse()) {
    const auto ra = a.features.view(), rb = b.features.view();
    const auto &sa = std::get<CsrView>(ra), &sb = std::get<CsrView>(rb);
    CHECK(std::vector<std::int32_t>(sa.index.begin(), sa.index.end()) ==
          std::vector<std::int32_t>(sb.index.begin(), sb.index.end()));
    CHECK(std::vector<std::int64_t>(sa.start.begin(), sa.start.end()) ==
          std::vector<std::int64_t>(sb.start.begin(), sb.start.end()));
  }
  CHECK(a.groups.codes == b.groups.codes);
  CHECK(a.groups.values == b.groups.values);
  CHECK(a.shares == b.shares);
  CHECK(a.bounds == b.bounds);
  CHECK(a.labels == b.labels);
  CHECK(a.ids == b.ids);
}

constexpr double kMark = 12345.678;  // a value to be found again in a file

TableOptions everything() {
  TableOptions options;
  options.want_groups = options.want_labels = options.want_ids = true;
  return options;
}

}  // namespace

TEST_CASE("binary_table: it reads back as the table it was made from", "[data][binary_table]") {
  const TempDir dir;
  const std::string csv = put_text(dir, "t.csv", full_csv(2000));
  // Many blocks, and one that is used in several strips.
  for (const auto& [threads, block_bytes] : {std::pair{1U, 4096U}, {3U, 4096U}, {1U, 1U << 20}}) {
    TableOptions options = everything();
    options.block_bytes = block_bytes;
    const std::string bw = converted(dir, csv, options);
    options.threads = threads;
    auto a = read_table(csv, options), b = read_table(bw, options);
    REQUIRE(a.ok());
    REQUIRE(b.ok());
    check_same(*a, *b);
    options.features = {"x,2"};
    a = read_table(csv, options), b = read_table(bw, options);
    REQUIRE(a.ok());
    REQUIRE(b.ok());
    check_same(*a, *b);
    options.features = {};
    options.expected_features = {"x,2", "x1", "y"};
    options.absent_as_zero = true;
    a = read_table(csv, options), b = read_table(bw, options);
    REQUIRE(a.ok());
    REQUIRE(b.ok());
    check_same(*a, *b);
  }
}

TEST_CASE("binary_table: sparse tables stay sparse", "[data][binary_table]") {
  const TempDir dir;
  std::string text;
  for (int i = 1; i < 300; ++i)
    text += fmt::format("{} qid:{} {}:1.5 {}:2\n", i % 2 * 2 - 1, i % 7, i, i + 3);
  const std::string svm = put_text(dir, "t.svm", text);
  const std::string bw = converted(dir, svm);
  auto a = read_table(svm, everything()), b = read_table(bw, everything());
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  check_same(*a, *b);
  TableOptions some = everything();
  some.features = {"7", "5", "100"};
  a = read_table(svm, some), b = read_table(bw, some);
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  check_same(*a, *b);
}

TEST_CASE("binary_table: it goes with CSV in one table, and in shares", "[data][binary_table]") {
  const TempDir dir;
  const std::string a = put_text(dir, "a.csv", full_csv(700)), b = put_text(dir, "b.csv", full_csv(900));
  TableOptions small = everything();
  small.block_bytes = 4096;
  const std::string bw = converted(dir, b, small);
  auto text = find_tables(std::vector<std::string>{a, b}),
       mixed = find_tables(std::vector<std::string>{a, bw});
  REQUIRE(text.ok());
  REQUIRE(mixed.ok());
  auto all = read_table(*text, everything()), same = read_table(*mixed, everything());
  REQUIRE(all.ok());
  REQUIRE(same.ok());
  check_same(*all, *same);
  auto whole = read_table(b, everything());
  REQUIRE(whole.ok());
  for (int size = 1; size < 9; ++size) {
    std::vector<std::string> ids;
    for (int rank = 0; rank < size; ++rank) {
      auto part = read_table(*share_of(bw, rank, size), everything());
      REQUIRE(part.ok());
      ids.insert(ids.end(), part->ids.begin(), part->ids.end());
    }
    CHECK(ids == whole->ids);
  }
}

TEST_CASE("binary_table: labels are not even looked at unless wanted", "[data][binary_table]") {
  const TempDir dir;
  // One block, without ids: its labels are the 64 bytes before the index.
  const std::string bw = converted(dir, put_text(dir, "t.csv", "bag,label,x\na,1,2\nb,0,3\n"));
  std::string bytes = bytes_of(bw);
  const std::size_t labels = bytes.find("BWTINDEX") - 64;
  bytes[labels] = 7;
  REQUIRE(write_file(bw, bytes).ok());
  TableOptions options;
  CHECK(read_table(bw, options).ok());
  options.want_labels = true;
  CHECK(read_table(bw, options).error().text() ==
        bw +
            ": block 0 (rows 0 to 1) is damaged: its checksum is wrong; expected the file as it was written");
}

TEST_CASE("binary_table: a damaged block is found and named", "[data][binary_table]") {
  const TempDir dir;
  TableOptions small = everything();
  small.block_bytes = 2048;
  const std::string bw = converted(dir, put_text(dir, "t.csv", full_csv(300)), small);
  std::string bytes = bytes_of(bw);
  std::size_t at = 0;
  for (int i = 0; i < 4; ++i) at = bytes.find("BWTBLOCK", at + 1);  // the fourth: block 3
  bytes[at + 130] = static_cast<char>(bytes[at + 130] ^ 1);
  REQUIRE(write_file(bw, bytes).ok());
  const std::string text = read_table(bw, {}).error().text();
  CHECK(text.starts_with(bw + ": block 3 (rows "));
  CHECK(text.ends_with("is damaged: its checksum is wrong; expected the file as it was written"));
}

TEST_CASE("binary_table: damage is found wherever in a large block", "[data][binary_table]") {
  const TempDir dir;
  const std::string bw = converted(dir, put_text(dir, "t.csv", full_csv(4000)), everything());
  const std::string bytes = bytes_of(bw);
  const std::size_t block = bytes.find("BWTBLOCK"), values = 4000UL * 2 * sizeof(double);
  REQUIRE(bytes.find("BWTBLOCK", block + 1) == std::string::npos);
  Rng rng(1);
  for (int trial = 0; trial < 40; ++trial) {
    std::string changed = bytes;
    // In the values, whose strips were used when it shows, or in what is behind them: bags, proportions.
    const std::size_t at = block + 128 + (trial % 2 == 0 ? rng.below(values) : values + rng.below(4000 * 20));
    changed[at] = static_cast<char>(changed[at] ^ (1 << rng.below(8)));
    REQUIRE(write_file(bw, changed).ok());
    CHECK(read_table(bw, {}).error().text() == bw + ": block 0 (rows 0 to 3999) is damaged: its checksum is "
                                                    "wrong; expected the file as it was written");
  }
}

TEST_CASE("binary_table: no byte can change unseen", "[data][binary_table]") {
  const TempDir dir;
  const std::string bw = converted(dir, put_text(dir, "t.csv", full_csv(9)));
  const std::string bytes = bytes_of(bw);
  auto whole = read_table(bw, everything());
  REQUIRE(whole.ok());
  const std::string path = dir.file("bad.bw");
  std::size_t unseen = 0;
  TableOptions options = everything();
  options.threads = 1;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string bad = bytes;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    REQUIRE(write_file(path, bad).ok());
    auto read = read_table(path, options);
    if (read.ok()) {
      ++unseen;  // zeros between the parts, which mean nothing
      check_same(*whole, *read);
    }
  }
  CHECK(unseen < 128);
}

TEST_CASE("binary_table: what no table has is refused though its checksums are right",
          "[data][binary_table]") {
  const TempDir dir;
  // Of a table of one block, in which `forged` takes the place of the value kMark.
  const auto forge = [](std::string& bytes, std::uint32_t flags, double forged) {
    const std::size_t at = bytes.find("BWTBLOCK"), begin = at + sizeof(internal::BlockHeader);
    internal::BlockHeader header{};
    std::memcpy(&header, bytes.data() + at, sizeof header);
    const internal::MainLayout main(flags, header.rows, header.entries, header.groups, header.groups_bytes);
    for (std::size_t k = 0; k < header.entries; ++k) {
      char* const place = bytes.data() + begin + k * sizeof kMark;
      if (std::memcmp(place, &kMark, sizeof kMark) == 0) std::memcpy(place, &forged, sizeof forged);
    }
    header.main_check = internal::checksum(bytes.data() + begin, main.size);
    header.check = internal::checksum(&header, offsetof(internal::BlockHeader, check));
    std::memcpy(bytes.data() + at, &header, sizeof header);
  };
  const auto fault_of = [&](const TableSchema& schema, const Dataset& rows, double forged = kMark) {
    auto writer = BinaryTableWriter::create(dir.file("t.bw"), schema);
    REQUIRE(writer.ok());
    REQUIRE(writer->add(rows).ok());
    REQUIRE(writer->commit().ok());
    std::string bytes = bytes_of(dir.file("t.bw"));
    forge(bytes,
          (schema.sparse ? internal::kSparseFlag : 0U) | (schema.has_groups ? internal::kGroupsFlag : 0U),
          forged);
    const auto read = read_table(put_text(dir, "t.bw", bytes), {});
    return read ? "" : read.error().message;
  };
  const std::string not_finite =
      "block 0 (rows 0 to 1) has a value that is no finite number; expected the file as it was written";
  TableSchema schema;
  schema.feature_names = {"1", "2"};
  for (const double value : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    Dataset dense, sparse;
    DenseRows values(2, 2);
    values(1, 0) = kMark;
    dense.features = std::move(values);
    sparse.features = Csr{{0, 1, 2}, {1, 0}, {1, kMark}, 2};
    CHECK(fault_of(schema, dense).empty());
    CHECK(fault_of(schema, dense, value) == not_finite);
    TableSchema sparse_schema = schema;
    sparse_schema.sparse = true;
    CHECK(fault_of(sparse_schema, sparse).empty());
    CHECK(fault_of(sparse_schema, sparse, value) == not_finite);
  }
  Dataset bags;
  bags.features = DenseRows(2, 2);
  bags.groups = {{0, 1}, {"a", ""}};
  TableSchema with_bags = schema;
  with_bags.has_groups = true;
  CHECK(fault_of(with_bags, bags) ==
        "block 0 (rows 0 to 1) has wrong bags; expected the file as it was written");
  Dataset twice;
  twice.features = Csr{{0, 1}, {1}, {1}, 2};
  TableSchema same_names;
  same_names.feature_names = {"1", "1"};
  same_names.sparse = true;
  CHECK(fault_of(same_names, twice) ==
        "is damaged: it has two features \"1\"; expected the file as it was written");
}

TEST_CASE("binary_table: a file that ends early is refused wherever it ends", "[data][binary_table]") {
  const TempDir dir;
  const std::string bytes = bytes_of(converted(dir, put_text(dir, "t.csv", full_csv(9))));
  const std::string path = dir.file("bad.bw");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    REQUIRE(write_file(path, bytes.substr(0, size)).ok());
    CHECK(!read_table(path, {}).ok());
  }
  REQUIRE(write_file(path, bytes + "x").ok());
  CHECK(!read_table(path, {}).ok());
}

TEST_CASE("binary_table: what it cannot be asked for is told", "[data][binary_table]") {
  const TempDir dir;
  const std::string bw = converted(dir, put_text(dir, "t.csv", "x,y\n1,2\n"));
  TableOptions options;
  options.one_hot = {"x"};
  CHECK(read_table(bw, options).error().text() ==
        bw + ": has no column of text \"x\" for --one-hot; a binary table holds numbers");
  options = {};
  options.want_groups = true;
  CHECK(read_table(bw, options).error().text().starts_with(bw + ": there is no column \"bag\""));
  const std::string text = put_text(dir, "text.bw", "x,y\n1,2\n");
  CHECK(read_table(text, {}).error().text() == text + ": is not a binary table, though its name ends in .bw");
  const std::string packed = put_text(dir, "t.bw.gz", "\x1f\x8b");
  CHECK(read_table(packed, {}).error().text() ==
        packed + ": is packed; binary tables and NumPy files are read as they are, expected it unpacked");
  const std::string sums = put_text(dir, "t.sums", "bagsums\n");
  CHECK(read_table(sums, {}).error().text() ==
        sums + ": is a file of bag sums; expected rows (--target-sums takes such files)");
}
