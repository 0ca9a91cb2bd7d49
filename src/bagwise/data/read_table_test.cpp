#include "bagwise/data/read_table.h"

#include <fmt/format.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>

#include "bagwise/core/random.h"
#include "support/packing.h"
#include "support/temp_dir.h"

using namespace bagwise;

namespace {

// A table as text, cell by cell: the truth that reading has to give back.
struct TextTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;

  [[nodiscard]] std::size_t column(const std::string& name) const {
    return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
  }
};

std::string awkward_number(Rng& rng) {
  static const std::vector<std::string> kOdd = {"0",
                                                "-0",
                                                "1e-300",
                                                "+3",
                                                " 4.5 ",
                                                ".25",
                                                "7.",
                                                "1E3",
                                                "123456789012345678",
                                                "0.30000000000000004",
                                                "-2.2250738585072014e-308",
                                                "000.5"};
  switch (rng.below(4)) {
    case 0:
      return kOdd[rng.below(kOdd.size())];
    case 1:
      return fmt::format("{}", rng.normal());
    case 2:
      return fmt::format("{:.3f}", rng.normal() * 1000);
    default:
      return fmt::format("{}", static_cast<int>(rng.below(20)) - 10);
  }
}

std::string awkward_text(Rng& rng) {
  static const std::vector<std::string> kOdd = {"a",  "b,c", "d\"e",        "line\nbreak", " blank ",
                                                "\"", "\r",  "caf\xC3\xA9", "x\r\ny"};
  return kOdd[rng.below(kOdd.size())];
}

TextTable random_table(Rng& rng) {
  TextTable table;
  std::vector<std::string> names = {"bag", "label", "delta",     "id", "proportion",
                                    "a,b", "f2",    "say \"x\"", "f4"};
  shuffle(std::span(names), rng);
  table.header = names;
  const std::uint64_t count = 1 + rng.below(60);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::vector<std::string> row;
    for (const auto& name : names) {
      if (name == "bag") {
        row.push_back(awkward_text(rng));
      } else if (name == "id") {
        row.push_back(rng.below(5) == 0 ? "" : awkward_text(rng));
      } else if (name == "label") {
        row.push_back(rng.below(2) == 0 ? "1" : "-1");
      } else if (name == "delta" || name == "proportion") {
        row.push_back(fmt::format("{}", rng.uniform()));
      } else {
        row.push_back(awkward_number(rng));
      }
    }
    table.rows.push_back(row);
  }
  return table;
}

std::string naive_cell(const std::string& text, Rng& rng) {
  const bool must = text.find_first_of("\",\n\r") != std::string::npos;
  if (!must && rng.below(4) != 0) return text;
  std::string out(1, '"');
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  out += '"';
  return out;
}

std::string naive_csv(const TextTable& table, Rng& rng) {
  const std::string end = rng.below(2) == 0 ? "\n" : "\r\n";
  std::string out = rng.below(3) == 0 ? "\xEF\xBB\xBF" : "";
  const auto write = [&](const std::vector<std::string>& cells) {
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (c > 0) out += ',';
      out += naive_cell(cells[c], rng);
    }
    out += end;
  };
  write(table.header);
  for (const auto& row : table.rows) write(row);
  const std::uint64_t tail = rng.below(3);
  if (tail == 0) out.resize(out.size() - end.size());
  if (tail == 1) out += end + end;
  return out;
}

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

void check_same(const Dataset& read, const TextTable& truth, bool labels, bool ids) {
  std::vector<std::string> names;
  for (const auto& name : truth.header) {
    if (!std::set<std::string>{"bag", "label", "delta", "id", "proportion"}.contains(name))
      names.push_back(name);
  }
  REQUIRE(read.feature_names == names);
  REQUIRE(read.rows() == truth.rows.size());
  REQUIRE(read.labels.empty() == !labels);
  REQUIRE(read.ids.empty() == !ids);
  const auto rows = std::get<DenseView>(read.features.view());
  bool same = rows.columns == names.size();
  std::vector<std::string> groups;  // by first appearance
  for (std::size_t i = 0; i < truth.rows.size(); ++i) {
    const auto cell = [&](const std::string& name) { return truth.rows[i][truth.column(name)]; };
    const auto number = [&](const std::string& name) { return std::strtod(cell(name).c_str(), nullptr); };
    for (std::size_t j = 0; j < names.size(); ++j) same = same && same_bits(rows.row(i)[j], number(names[j]));
    if (std::find(groups.begin(), groups.end(), cell("bag")) == groups.end()) groups.push_back(cell("bag"));
    same = same && read.groups.values[read.groups.codes[i]] == cell("bag");
    same =
        same && same_bits(read.bounds[i], number("delta")) && same_bits(read.shares[i], number("proportion"));
    if (labels) same = same && read.labels[i] == static_cast<int>(number("label"));
    if (ids) same = same && read.ids[i] == cell("id");
  }
  CHECK(same);
  CHECK(read.groups.values == groups);
}

Dataset read(const std::string& path, const TableOptions& options) {
  auto table = read_table(path, options);
  if (!table) FAIL(table.error().text());
  return std::move(*table);
}

DenseView dense(const Dataset& table) { return std::get<DenseView>(table.features.view()); }

std::vector<double> values_of(const Dataset& table) {
  const DenseView view = dense(table);
  return {view.values, view.values + view.rows * view.columns};
}

}  // namespace

TEST_CASE("read_table: random tables come back cell by cell, packed, on any threads, in any blocks",
          "[data][read_table]") {
  const test::TempDir dir;
  Rng rng(11);
  for (int round = 0; round < 40; ++round) {
    const TextTable truth = random_table(rng);
    const std::string text = naive_csv(truth, rng);
    for (const char* name : {"t.csv", "t.csv.gz", "t.csv.zst"}) {
      const std::string path = dir.file(name);
      test::write_bytes(path, test::pack_for(path, text));
      for (const unsigned threads : {1U, 2U, 4U}) {
        TableOptions options{.want_groups = true, .threads = threads};
        options.want_labels = rng.below(2) == 0;
        options.want_ids = rng.below(2) == 0;
        options.block_bytes = rng.below(2) == 0 ? 64 : 1 + rng.below(2000);
        INFO(text);
        check_same(read(path, options), truth, options.want_labels, options.want_ids);
      }
    }
  }
}

TEST_CASE("read_table: blocks of a stream add up to the table", "[data][read_table]") {
  const test::TempDir dir;
  Rng rng(12);
  for (int round = 0; round < 20; ++round) {
    const TextTable truth = random_table(rng);
    const std::string path = dir.file("t.csv");
    test::write_bytes(path, naive_csv(truth, rng));
    for (const unsigned threads : {1U, 4U}) {
      TableOptions options{.want_labels = true, .want_ids = true, .threads = threads, .block_bytes = 64};
      const Dataset whole = read(path, options);
      std::vector<double> values;
      std::vector<std::string> groups, ids;
      std::uint64_t line = 2;
      const auto schema = stream_table(path, options, [&](TableBlock&& block) -> Result<void> {
        CHECK(block.first_row == ids.size());
        CHECK(block.first_line >= line);
        line = block.first_line + block.rows.rows();
        CHECK(block.rows.feature_names == whole.feature_names);
        const auto part = values_of(block.rows);
        values.insert(values.end(), part.begin(), part.end());
        for (const auto code : block.rows.groups.codes) groups.push_back(block.rows.groups.values[code]);
        ids.insert(ids.end(), block.rows.ids.begin(), block.rows.ids.end());
        return {};
      });
      REQUIRE(schema);
      CHECK(schema->has_shares);
      CHECK(values == values_of(whole));
      CHECK(ids == whole.ids);
      for (std::size_t i = 0; i < groups.size(); ++i)
        CHECK(groups[i] == whole.groups.values[whole.groups.codes[i]]);
    }
  }
}

TEST_CASE("read_table: the consumer's error ends a stream", "[data][read_table][badargs]") {
  const test::TempDir dir;
  std::string text = "x\n";
  for (int i = 0; i < 1000; ++i) text += "1\n";
  test::write_bytes(dir.file("t.csv"), text);
  for (const unsigned threads : {1U, 4U}) {
    int calls = 0;
    const auto out = stream_table(dir.file("t.csv"), {.threads = threads, .block_bytes = 64},
                                  [&](TableBlock&&) -> Result<void> {
                                    if (++calls == 3) return Error{"enough"};
                                    return {};
                                  });
    REQUIRE_FALSE(out);
    CHECK(out.error().message == "enough");
    CHECK(calls == 3);
  }
}

TEST_CASE("read_table: an observer sees all bytes go by and may stop", "[data][read_table]") {
  const test::TempDir dir;
  std::string text = "x\n";
  for (int i = 0; i < 1000; ++i) text += "1\n";
  test::write_bytes(dir.file("t.csv"), text);
  double done = 0, total = 0;
  REQUIRE(read_table(dir.file("t.csv"), {.threads = 2, .block_bytes = 64}, [&](const Progress& progress) {
    CHECK(progress.done >= done);
    done = progress.done;
    total = progress.total;
    return Next::kContinue;
  }));
  CHECK(done == static_cast<double>(text.size()));
  CHECK(total == done);
  CHECK_FALSE(read_table(dir.file("t.csv"), {}, [](const Progress&) { return Next::kStop; }));
}

TEST_CASE("read_table: columns are chosen, left out and renamed", "[data][read_table]") {
  const test::TempDir dir;
  const std::string path = dir.file("t.csv");
  test::write_bytes(path, "y,ward,a,b,c\n1,w1,1,2,3\n0,w2,4,5,6\n");
  TableOptions options{.group_column = "ward", .label_column = "y"};
  CHECK(read(path, options).feature_names == std::vector<std::string>{"a", "b", "c"});
  options.features = {"c", "a"};
  const Dataset chosen = read(path, options);
  CHECK(chosen.feature_names == options.features);
  CHECK(values_of(chosen) == std::vector<double>{3, 1, 6, 4});
  options.features = {};
  options.exclude = {"b"};
  options.want_labels = true;
  const Dataset rest = read(path, options);
  CHECK(values_of(rest) == std::vector<double>{1, 3, 4, 6});
  CHECK(rest.labels == std::vector<std::int8_t>{1, -1});
}

TEST_CASE("read_table: labels that are not wanted are not even parsed", "[data][read_table]") {
  const test::TempDir dir;
  test::write_bytes(dir.file("t.csv"), "label,a\nwhatever,1\n,2\n");
  const Dataset table = read(dir.file("t.csv"), {});
  CHECK(table.labels.empty());
  CHECK(values_of(table) == std::vector<double>{1, 2});
}

TEST_CASE("read_table: one-hot spreads a text column, values sorted", "[data][read_table]") {
  const test::TempDir dir;
  const std::string path = dir.file("t.csv");
  test::write_bytes(path, "a,colour,b\n1,red,2\n3,blue,4\n5,\"gr\"\"een\",6\n7,red,8\n");
  for (const unsigned threads : {1U, 3U}) {
    const Dataset table = read(path, {.one_hot = {"colour"}, .threads = threads, .block_bytes = 8});
    CHECK(table.feature_names ==
          std::vector<std::string>{"a", "colour=blue", "colour=gr\"een", "colour=red", "b"});
    CHECK(values_of(table) ==
          std::vector<double>{1, 0, 0, 1, 2, 3, 1, 0, 0, 4, 5, 0, 1, 0, 6, 7, 0, 0, 1, 8});
  }
}

TEST_CASE("read_table: empty cells become zero or the mean of the others", "[data][read_table]") {
  const test::TempDir dir;
  const std::string path = dir.file("t.csv");
  test::write_bytes(path, "a,t,b\n1,x,\n,,4\n3,x,6\n,y,5\n");
  TableOptions options{.one_hot = {"t"}, .missing = Missing::kZero};
  CHECK(values_of(read(path, options)) ==
        std::vector<double>{1, 1, 0, 0, 0, 0, 0, 4, 3, 1, 0, 6, 0, 0, 1, 5});
  options.missing = Missing::kMean;
  for (const unsigned threads : {1U, 2U}) {
    options.threads = threads;
    options.block_bytes = 6;
    const double third = 1.0 / 3;
    CHECK(values_of(read(path, options)) ==
          std::vector<double>{1, 1, 0, 5, 2, 2 * third, third, 4, 3, 1, 0, 6, 2, 0, 1, 5});
  }
  const auto schema = stream_table(path, options, [](TableBlock&&) { return Result<void>{}; });
  REQUIRE(schema);
  CHECK(schema->fill == std::vector<double>{2, 2.0 / 3, 1.0 / 3, 5});
}

TEST_CASE("read_table: a model's features are found by name", "[data][read_table]") {
  const test::TempDir dir;
  const std::string path = dir.file("t.csv");
  test::write_bytes(path, "extra,b,a,t\nignored,2,1,x\ntext,,3,new\n");
  TableOptions options{.missing = Missing::kMean, .expected_features = {"a", "t=x", "b", "t=y"}};
  options.fill = {9, 0.5, 7, 0.5};
  CHECK(values_of(read(path, options)) == std::vector<double>{1, 1, 2, 0, 3, 0, 7, 0});
  options.fill = {};
  CHECK(values_of(read(path, options)) == std::vector<double>{1, 1, 2, 0, 3, 0, 2, 0});
  options.expected_features = {"a", "bb"};
  const auto missing = read_table(path, options);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().text() ==
        path + ":1: there is no column \"bb\", which the model needs; did you mean \"b\"?");
}

TEST_CASE("read_table: sparse tables stay sparse", "[data][read_table][svmlight]") {
  const test::TempDir dir;
  const std::string text = "# head\n+1 qid:b1 1:0.5 3:-2e1 # note\r\n\n-1 qid:a\t2:7\n0 qid:b1\n";
  for (const char* name : {"t.svm", "t.libsvm.gz", "T.SVM.zst"}) {
    const std::string path = dir.file(name);
    test::write_bytes(path,
                      std::string(name).ends_with("zst") ? test::zstd(text) : test::pack_for(path, text));
    for (const unsigned threads : {1U, 2U, 4U}) {
      TableOptions options{.want_groups = true, .want_labels = true, .threads = threads, .block_bytes = 10};
      const Dataset table = read(path, options);
      CHECK(table.feature_names == std::vector<std::string>{"1", "2", "3"});
      const auto rows = std::get<CsrView>(table.features.view());
      CHECK(rows.columns == 3);
      CHECK(std::vector(rows.start.begin(), rows.start.end()) == std::vector<std::int64_t>{0, 2, 3, 3});
      CHECK(std::vector(rows.index.begin(), rows.index.end()) == std::vector<std::int32_t>{0, 2, 1});
      CHECK(std::vector(rows.values.begin(), rows.values.end()) == std::vector<double>{0.5, -20, 7});
      CHECK(table.labels == std::vector<std::int8_t>{1, -1, 0});
      CHECK(table.groups.values == std::vector<std::string>{"b1", "a"});
      CHECK(table.groups.codes == std::vector<std::uint32_t>{0, 1, 0});

      options.expected_features = {"3", "9", "1"};
      const Dataset model = read(path, options);
      const auto part = std::get<CsrView>(model.features.view());
      CHECK(part.columns == 3);
      CHECK(std::vector(part.index.begin(), part.index.end()) == std::vector<std::int32_t>{0, 2});
      CHECK(std::vector(part.values.begin(), part.values.end()) == std::vector<double>{-20, 0.5});

      options.expected_features = {};
      options.exclude = {"2"};
      std::size_t count = 0;
      const auto schema = stream_table(path, options, [&](TableBlock&& block) -> Result<void> {
        count += block.rows.rows();
        CHECK(block.rows.features.columns() == 2);
        return {};
      });
      REQUIRE(schema);
      CHECK(schema->feature_names == std::vector<std::string>{"1", "3"});
      CHECK(count == 3);
    }
  }
}

TEST_CASE("read_table: comments before the first row do not hide its bag", "[data][read_table][svmlight]") {
  const test::TempDir dir;
  std::string text;
  for (int i = 0; i < 40; ++i) text += fmt::format("# line {}\n", i);
  text += "1 qid:a 1:2\n-1 qid:b 2:";
  const std::string path = dir.file("t.svm");
  for (const std::size_t block : {std::size_t{16}, std::size_t{100}, std::size_t{1} << 20}) {
    CAPTURE(block);
    test::write_bytes(path, text + "3\n");
    const auto right = read_table(path, {.block_bytes = block});
    REQUIRE(right.ok());
    CHECK(right->groups.values == std::vector<std::string>{"a", "b"});
    test::write_bytes(path, text + "x\n");
    const auto wrong = read_table(path, {.block_bytes = block});
    REQUIRE_FALSE(wrong.ok());
    CHECK(wrong.error().line == 42);
  }
}
