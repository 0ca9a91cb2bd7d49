// Several files and parts of files as one table: every row once, in order, whatever is cut where.
#include "bagwise/data/table_source.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "bagwise/core/atomic_file.h"
#include "bagwise/core/random.h"
#include "bagwise/data/compressed_file.h"
#include "bagwise/data/read_table.h"
#include "bagwise/data/table_scout.h"
#include "support/temp_dir.h"

using namespace bagwise;
using bagwise::test::TempDir;

namespace {

std::string put(const TempDir& dir, const std::string& name, const std::string& text) {
  const std::string path = dir.file(name);
  auto file = CompressedFile::create(path);
  REQUIRE(file.ok());
  REQUIRE(file->write(text).ok());
  REQUIRE(file->commit().ok());
  return path;
}

TableSource several(const std::vector<std::string>& paths) {
  auto source = find_tables(paths);
  REQUIRE(source.ok());
  return *source;
}

// A cell of text that tempts whoever cuts at the wrong place.
std::string odd_text(Rng& random) {
  const char* const pieces[] = {"a", "\n", "\"\"", ",", "\r\n", "b\n\nc", " "};
  std::string out = "\"";
  for (std::uint64_t i = random.below(5); i > 0; --i) out += pieces[random.below(7)];
  return out + "\"";
}

struct OddTable {
  std::string text;
  std::vector<std::string> bags;
};

OddTable odd_table(Rng& random, int rows) {
  OddTable out;
  out.text = random.below(2) == 0 ? "bag,x1,x2\n" : "bag,\"x1\",x2\r\n";
  for (int i = 0; i < rows; ++i) {
    if (random.below(4) == 0) out.text += random.below(2) == 0 ? "\n" : "\r\n";
    std::string bag = random.below(2) == 0 ? odd_text(random) : fmt::format("b{}", random.below(4));
    if (bag == "\"\"") bag = "z";
    out.text += fmt::format("{},{},{}", bag, i, 0.1 * i);
    const bool last = i + 1 == rows;
    if (!last || random.below(2) == 0) out.text += random.below(2) == 0 ? "\n" : "\r\n";
  }
  return out;
}

void check_same_rows(const Dataset& whole, const std::vector<Dataset>& parts) {
  std::size_t at = 0;
  const auto row = [](const Dataset& data, std::size_t i) {
    return std::get<DenseView>(data.features.view()).row(i);
  };
  for (const Dataset& part : parts) {
    for (std::size_t i = 0; i < part.rows(); ++i, ++at) {
      REQUIRE(at < whole.rows());
      const auto mine = row(part, i), expected = row(whole, at);
      REQUIRE(std::vector<double>(mine.begin(), mine.end()) ==
              std::vector<double>(expected.begin(), expected.end()));
      if (whole.groups.present()) {
        REQUIRE(part.groups.values[part.groups.codes[i]] == whole.groups.values[whole.groups.codes[at]]);
      }
    }
  }
  REQUIRE(at == whole.rows());
}

std::string fault_of(const TableSource& source, const TableOptions& options = {}) {
  auto read = read_table(source, options);
  REQUIRE(!read.ok());
  return read.error().text();
}

}  // namespace

TEST_CASE("table_source: the shares of a table are its rows, each once and in order",
          "[data][table_source]") {
  const TempDir dir;
  Rng random(7);
  for (int round = 0; round < 60; ++round) {
    const OddTable made = odd_table(random, 1 + static_cast<int>(random.below(30)));
    const std::string path = put(dir, "t.csv", made.text);
    TableOptions options;
    options.want_groups = true;
    options.block_bytes = 1 + random.below(80);
    auto whole = read_table(path, options);
    REQUIRE(whole.ok());
    const int size = 1 + static_cast<int>(random.below(9));
    std::vector<Dataset> parts;
    for (int rank = 0; rank < size; ++rank) {
      auto share = share_of(path, rank, size);
      REQUIRE(share.ok());
      auto rows = read_table(*share, options);
      INFO(made.text);
      REQUIRE(rows.ok());
      parts.push_back(std::move(*rows));
    }
    check_same_rows(*whole, parts);
  }
}

TEST_CASE("table_source: a byte range holds the rows that begin in it", "[data][table_source]") {
  const TempDir dir;
  const std::string text = "bag,x\n\"a\nb\",1\n\nc,2\nd,3";
  const std::string path = put(dir, "t.csv", text);
  auto whole = read_table(path, {});
  REQUIRE(whole.ok());
  for (std::uint64_t cut = 0; cut <= text.size() + 2; ++cut) {
    TableSource first, second;
    first.share = second.share = true;
    first.parts = {{path, 0, cut}};
    second.parts = {{path, cut, kToEnd}};
    auto a = read_table(first, {}), b = read_table(second, {});
    REQUIRE(a.ok());
    REQUIRE(b.ok());
    std::vector<Dataset> both;
    // A row belongs to the side where its first byte is.
    const std::size_t expected = cut <= 6 ? 0 : cut <= 15 ? 1 : cut <= 19 ? 2 : 3;
    CHECK(a->rows() == expected);
    both.push_back(std::move(*a));
    both.push_back(std::move(*b));
    check_same_rows(*whole, both);
  }
}

TEST_CASE("table_source: faults in a range are told by the lines of the file", "[data][table_source]") {
  const TempDir dir;
  const std::string path = put(dir, "t.csv", "bag,x\n\"a\nb\",1\n\nc,2\nd,oops\n");
  TableSource end;
  end.parts = {{path, 16, kToEnd}};
  CHECK(fault_of(end).starts_with(path + ":6: column 2 (x): \"oops\" is not a number"));
}

TEST_CASE("table_source: sparse tables are cut at lines, and quotes mean nothing there",
          "[data][table_source]") {
  const TempDir dir;
  std::string text = "# a \"comment\n";
  for (int i = 1; i < 40; ++i) text += fmt::format("1 qid:{} {}:2.5 # \"\n", i % 3, i);
  const std::string path = put(dir, "t.svm", text);
  for (int size = 1; size < 12; ++size) {
    std::vector<std::int32_t> seen;
    for (int rank = 0; rank < size; ++rank) {
      auto share = share_of(path, rank, size);
      REQUIRE(share.ok());
      auto rows = read_table(*share, {});
      REQUIRE(rows.ok());
      const auto view = rows->features.view();
      const auto& sparse = std::get<CsrView>(view);
      seen.insert(seen.end(), sparse.index.begin(), sparse.index.end());
    }
    REQUIRE(seen.size() == 39);
    for (std::int32_t i = 0; i < 39; ++i) CHECK(seen[static_cast<std::size_t>(i)] == i);
  }
}

TEST_CASE("table_source: files are one table, columns go by name and rows are numbered through",
          "[data][table_source]") {
  const TempDir dir;
  const std::string a = put(dir, "a.csv", "bag,x,y\np,1,2\nq,3,4\n");
  const std::string b = put(dir, "b.csv.gz", "y,bag,x\n6,p,5\n");
  const std::string c = put(dir, "c.csv.zst", "x,y,bag\n7,8,r\n");
  auto all = read_table(several({dir.file("*.csv*")}), {.want_groups = true});
  REQUIRE(all.ok());
  CHECK(all->feature_names == std::vector<std::string>{"x", "y"});
  CHECK(all->groups.values == std::vector<std::string>{"p", "q", "r"});
  CHECK(all->groups.codes == std::vector<std::uint32_t>{0, 1, 0, 2});
  const auto values = stored_values(all->features.view());
  CHECK(std::vector<double>(values.begin(), values.end()) == std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8});

  std::vector<std::pair<std::string, std::uint64_t>> places;
  auto streamed = stream_table(several({a, b, c}), {}, [&](TableBlock&& block) -> Result<void> {
    places.emplace_back(block.file, block.first_row);
    return {};
  });
  REQUIRE(streamed.ok());
  CHECK(places == std::vector<std::pair<std::string, std::uint64_t>>{{a, 0}, {b, 2}, {c, 3}});
}

TEST_CASE("table_source: files that do not fit together are named", "[data][table_source]") {
  const TempDir dir;
  const std::string a = put(dir, "a.csv", "bag,x,y\np,1,2\n");
  const std::string less = put(dir, "less.csv", "bag,x\np,1\n");
  const std::string more = put(dir, "more.csv", "bag,x,y,z\np,1,2,3\n");
  const std::string bagless = put(dir, "bagless.csv", "x,y\n1,2\n");
  const std::string sparse = put(dir, "s.svm", "1 1:2\n");
  const std::string bad = put(dir, "bad.csv", "bag,x,y\np,1,2\np,oops,2\n");
  CHECK(fault_of(several({a, less})) ==
        less + ":1: there is no column \"y\", which " + a + " has; expected the same features in every file");
  CHECK(fault_of(several({a, more})) ==
        a + ":1: there is no column \"z\", which " + more + " has; expected the same features in every file");
  CHECK(fault_of(several({a, bagless}))
            .starts_with(bagless + ": has no column of bags, but " + a + " has one"));
  CHECK(fault_of(several({a, sparse})).starts_with(sparse + ": is a sparse table, but " + a));
  CHECK(fault_of(several({a, bad})).starts_with(bad + ":3: column 2 (x): \"oops\" is not a number"));
  CHECK(find_tables(std::vector<std::string>{a, dir.file("a*")}).error().text() ==
        a + ": is named twice; expected every file of a table once");
  CHECK(find_tables(std::vector<std::string>{dir.file("*.tsv")}).error().text() ==
        dir.file("*.tsv") + ": no file matches this pattern; expected at least one");
  CHECK(find_tables(std::vector<std::string>{dir.file("none.csv")}).error().text() ==
        dir.file("none.csv") + ": there is no such file");
}

TEST_CASE("table_source: values, means and widths are found over all files", "[data][table_source]") {
  const TempDir dir;
  const std::string a = put(dir, "a.csv", "colour,x\nred,1\nblue,\n");
  const std::string b = put(dir, "b.csv", "x,colour\n5,green\n,red\n");
  TableOptions options;
  options.one_hot = {"colour"};
  options.missing = Missing::kMean;
  auto all = read_table(several({a, b}), options);
  REQUIRE(all.ok());
  CHECK(all->feature_names == std::vector<std::string>{"colour=blue", "colour=green", "colour=red", "x"});
  const auto values = stored_values(all->features.view());
  CHECK(std::vector<double>(values.begin(), values.end()) ==
        std::vector<double>{0, 0, 1, 1, 1, 0, 0, 3, 0, 1, 0, 5, 0, 0, 1, 3});
  const std::string s = put(dir, "s.svm", "1 2:1\n"), t = put(dir, "t.svm", "1 5:1\n");
  auto wide = stream_table(several({s, t}), {}, [](TableBlock&&) -> Result<void> { return {}; });
  REQUIRE(wide.ok());
  CHECK(wide->feature_names.size() == 5);
}

TEST_CASE("table_scout: shares that are scouted apart settle on what one would", "[data][table_source]") {
  const TempDir dir;
  std::string text = "bag,colour,x\n";
  for (int i = 0; i < 50; ++i)
    text += fmt::format("b,c{},{}\n", i % 7, i % 3 == 0 ? "" : fmt::format("{}", 0.1 * i));
  const std::string path = put(dir, "t.csv", text);
  TableOptions options;
  options.one_hot = {"colour"};
  options.missing = Missing::kMean;
  auto whole = read_table(path, options);
  REQUIRE(whole.ok());
  TableScout together;
  for (int rank = 0; rank < 20; ++rank) {
    auto share = share_of(path, rank, 20);
    auto found = scout_table(*share, options);
    REQUIRE(found.ok());
    auto copy = TableScout::from_bytes(found->to_bytes(), "a rank");
    REQUIRE(copy.ok());
    CHECK(copy->to_bytes() == found->to_bytes());
    REQUIRE(together.merge(*copy).ok());
  }
  CHECK(together.rows == 50);
  auto agreed = settled(options, together);
  REQUIRE(agreed.ok());
  std::vector<Dataset> parts;
  for (int rank = 0; rank < 20; ++rank) {
    auto rows = read_table(*share_of(path, rank, 20), *agreed);
    REQUIRE(rows.ok());
    CHECK(rows->feature_names == whole->feature_names);
    parts.push_back(std::move(*rows));
  }
  check_same_rows(*whole, parts);
}

TEST_CASE("table_scout: damaged bytes are found and never crash", "[data][table_source]") {
  const TempDir dir;
  TableOptions options;
  options.one_hot = {"c"};
  auto found = scout_table(put(dir, "t.csv", "c,x\nred,1\nblue,2\n"), options);
  REQUIRE(found.ok());
  const std::string bytes = found->to_bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CHECK(!TableScout::from_bytes(std::string_view(bytes).substr(0, size), "a rank").ok());
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string bad = bytes;
    bad[i] = static_cast<char>(bad[i] ^ 0x80);
    static_cast<void>(TableScout::from_bytes(bad, "a rank"));
  }
}
