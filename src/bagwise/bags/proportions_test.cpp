#include "bagwise/bags/proportions.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>

#include "bagwise/core/random.h"
#include "bagwise/data/read_table.h"
#include "support/temp_dir.h"

using namespace bagwise;

namespace {

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// The error of reading `text` as proportions, without the folder's name.
std::string fault_of(const std::string& text) {
  const test::TempDir dir;
  write_text(dir.file("p.csv"), text);
  const auto read = read_proportions(dir.file("p.csv"));
  REQUIRE_FALSE(read);
  return read.error().text().substr(dir.path.string().size() + 1);
}

struct Joined {
  std::string dataset, sums;  // the error of either road, "" = none
  BaggedData rows;
  ReducedBags reduced;
};

// Joins instances and proportions by both roads.
Joined join(const std::string& instances, const std::string& proportions) {
  const test::TempDir dir;
  const std::string path = dir.file("t.csv");
  write_text(path, instances);
  write_text(dir.file("p.csv"), proportions);
  ProportionTable table;
  if (!proportions.empty()) {
    auto read = read_proportions(dir.file("p.csv"));
    REQUIRE(read);
    table = std::move(*read);
    table.file = "p.csv";
  }
  const ProportionTable* given = proportions.empty() ? nullptr : &table;
  Joined out;
  auto rows = read_table(path, {.want_groups = true});
  REQUIRE(rows);
  auto bagged = attach_proportions(std::move(*rows), "t.csv", given);
  if (bagged) out.rows = std::move(*bagged);
  if (!bagged) out.dataset = bagged.error().text();
  auto sums = reduce_table(path, {});
  REQUIRE(sums);
  auto reduced = attach_proportions(std::move(*sums), "t.csv", given);
  if (reduced) out.reduced = std::move(*reduced);
  if (!reduced) out.sums = reduced.error().text();
  CHECK(out.dataset == out.sums);
  return out;
}

}  // namespace

TEST_CASE("proportions: all three forms are read", "[bags][proportions]") {
  const test::TempDir dir;
  const std::string path = dir.file("p.csv");
  write_text(path, "bag,proportion\n\"a,1\",0.5\r\nb,1\n");
  auto read = read_proportions(path);
  REQUIRE(read);
  CHECK(read->bags.at("a,1").proportion == 0.5);
  CHECK_FALSE(read->bags.at("a,1").size);
  CHECK(read->bags.at("b").line == 3);
  write_text(path, "size,bag,proportion\n4,a,0.25\n");
  read = read_proportions(path);
  REQUIRE(read);
  CHECK(read->bags.at("a").size == 4U);
  write_text(path, "bag,positives,size\na,1,4\nb,0,3");
  read = read_proportions(path);
  REQUIRE(read);
  CHECK(read->bags.at("a").proportion == 0.25);
  CHECK(read->bags.at("b").proportion == 0);
}

TEST_CASE("proportions: what is written is read back", "[bags][proportions]") {
  const test::TempDir dir;
  ProportionTable table;
  table.bags["x \"y\", z"] = {1.0 / 3, 3, 0};
  table.bags["w"] = {0.1, 10, 0};
  REQUIRE(write_proportions(dir.file("p.csv"), table));
  const auto read = read_proportions(dir.file("p.csv"));
  REQUIRE(read);
  REQUIRE(read->bags.size() == 2);
  CHECK(read->bags.at("x \"y\", z").proportion == 1.0 / 3);
  CHECK(read->bags.at("w").size == 10U);
}

TEST_CASE("proportions: blanks around numbers are allowed, as in feature cells", "[bags][proportions]") {
  const test::TempDir dir;
  const std::string path = dir.file("p.csv");
  write_text(path, "bag,proportion,size\na,\" 0.4\",\t7 \nb, +0.25 , +8\n");
  const auto read = read_proportions(path);
  if (!read) FAIL(read.error().text());
  CHECK(read->bags.at("a").proportion == 0.4);
  CHECK(read->bags.at("a").size == 7U);
  CHECK(read->bags.at("b").proportion == 0.25);
  CHECK(read->bags.at("b").size == 8U);
}

TEST_CASE("proportions: long values are cut in messages", "[bags][proportions][badargs]") {
  const std::string longer(100000, 'n'), cut = "\"" + std::string(60, 'n') + "...\"";
  CHECK(join("bag,x\n" + longer + ",1\n", "bag,proportion\na,0.5\n").dataset ==
        "t.csv: bag " + cut + " has no proportion in p.csv; expected one for every bag");
  CHECK(join("bag,x\na,1\n", "bag,proportion\na,0.5\n" + longer + ",0.5\n").dataset ==
        "p.csv:3: column bag: bag " + cut + " has a proportion but no row in t.csv; expected at least one");
  CHECK(fault_of("bag,proportion\na," + longer + "\n") ==
        "p.csv:2: column 2 (proportion): " + cut + " is not a number; expected a proportion between 0 and 1");
  CHECK(fault_of("bag,proportion,size\na,1," + longer + "\n") ==
        "p.csv:2: column 3 (size): " + cut + " is not a whole number; expected a number of rows");
  CHECK(fault_of("bag," + longer + "\na,1\n").size() < 300);
}

TEST_CASE("proportions: faults of the file name their line", "[bags][proportions][badargs]") {
  CHECK(fault_of("") == "p.csv: is empty; expected a header line with the names of the columns");
  CHECK(fault_of("bag,proportion\n") == "p.csv: has a header but no rows; expected one per bag");
  CHECK(fault_of("bag,share\na,1\n") ==
        "p.csv:1: column 2 (share): is not known in a table of proportions; expected bag,proportion or "
        "bag,proportion,size or bag,positives,size, and stderr or epsilon_dp of noisy ones");
  CHECK(fault_of("bag,bag\na,1\n") == "p.csv:1: column 2 (bag): occurs twice; expected every column once");
  CHECK(fault_of("proportion\n1\n").starts_with("p.csv:1: there is no column bag; expected"));
  CHECK(fault_of("bag,size\na,1\n")
            .starts_with("p.csv:1: there is no column proportion or positives; expected"));
  CHECK(fault_of("bag,positives\na,1\n").starts_with("p.csv:1: has positives but no size; expected"));
  CHECK(fault_of("bag,positives,proportion\na,1,1\n")
            .starts_with("p.csv:1: has both proportion and positives"));
  CHECK(fault_of("bag,proportion\na,0.5\nb,1.3\n") ==
        "p.csv:3: column 2 (proportion): \"1.3\" is outside [0, 1]; expected a proportion between 0 and 1");
  CHECK(fault_of("bag,proportion\na,-0.1\n") ==
        "p.csv:2: column 2 (proportion): \"-0.1\" is outside [0, 1]; expected a proportion between 0 and 1");
  for (const std::string text : {"half", "0.5x", "+-1", "0 .5"}) {
    CHECK(fault_of("bag,proportion\na," + text + "\n") ==
          "p.csv:2: column 2 (proportion): \"" + text +
              "\" is not a number; expected a proportion between 0 and 1");
  }
  for (const std::string text : {"nan", "inf"}) {
    CHECK(fault_of("bag,proportion\na," + text + "\n") ==
          "p.csv:2: column 2 (proportion): \"" + text +
              "\" is not finite; expected a proportion between 0 and 1");
  }
  for (const std::string text : {"", " ", "\"\""}) {
    CHECK(fault_of("bag,proportion\na," + text + "\n") ==
          "p.csv:2: column 2 (proportion): is empty; expected a proportion between 0 and 1");
  }
  CHECK(fault_of("bag,proportion\na,0.5\nb,1\na,0.5\n") ==
        "p.csv:4: column 1 (bag): bag \"a\" has a proportion already, in line 2; expected one per bag");
  CHECK(fault_of("bag,positives,size\na,5,4\n") ==
        "p.csv:2: column 2 (positives): 5 positives are more than the size 4; expected at most the size");
  CHECK(fault_of("bag,positives,size\na,0,0\n") ==
        "p.csv:2: column 3 (size): \"0\" is no size; expected at least one row in a bag");
  CHECK(fault_of("bag,proportion,size\na,0,2.5\n") ==
        "p.csv:2: column 3 (size): \"2.5\" is not a whole number; expected a number of rows");
  CHECK(fault_of("bag,positives,size\na,-1,2\n") ==
        "p.csv:2: column 2 (positives): \"-1\" is not a whole number; expected a number of rows");
  CHECK(fault_of("bag,proportion\n,0.5\n") ==
        "p.csv:2: column 1 (bag): is empty; expected the name of a bag");
  CHECK(fault_of("bag,proportion\na,0.5,3\n") ==
        "p.csv:2: the row has 3 fields; expected 2 as in the header");
  CHECK(fault_of("bag,proportion\n\"a\nb\",1\nc,\"0.5\n") ==
        "p.csv:4: column 2: a quote opens here and is never closed; expected a closing quote");
}

TEST_CASE("proportions: bags are joined by exact name and sorted by it", "[bags][proportions]") {
  const Joined out = join("bag,x,delta\nb,1,0.5\na,2,0.25\nb,3,0.5\n10,4,0\n9,5,0\n",
                          "bag,proportion,size\n9,0.9,1\na,0.1,1\nb,0.2,2\n10,0.3,1\n");
  REQUIRE(out.dataset.empty());
  for (const Bags& bags : {out.rows.bags, out.reduced.bags}) {
    CHECK(bags.names == std::vector<std::string>{"10", "9", "a", "b"});
    CHECK(bags.proportions == std::vector<double>{0.3, 0.9, 0.1, 0.2});
  }
  CHECK(out.rows.bag_of_row == std::vector<std::uint32_t>{3, 2, 3, 0, 1});
  CHECK(out.rows.bounds == std::vector<double>{0.5, 0.25, 0.5, 0, 0});
  CHECK(out.reduced.sums.count(3) == 2);
  CHECK(out.reduced.sums.sum(3, 0) == 4);
  CHECK(out.reduced.sums.sum(0, 0) == 4);
  CHECK(out.reduced.sums.bound_sum(3) == 1);
  CHECK(out.reduced.feature_names == std::vector<std::string>{"x"});
}

TEST_CASE("proportions: a column of the instances serves as well", "[bags][proportions]") {
  const Joined out = join("bag,proportion,x\nb,0.5,1\na,0.25,2\nb,0.5,3\n", "");
  REQUIRE(out.dataset.empty());
  CHECK(out.rows.bags.proportions == std::vector<double>{0.25, 0.5});
  CHECK(out.reduced.bags.proportions == std::vector<double>{0.25, 0.5});
}

TEST_CASE("proportions: what does not fit together is an error", "[bags][proportions][badargs]") {
  CHECK(join("bag,x\na,1\nb,2\n", "bag,proportion\na,0.5\n").dataset ==
        "t.csv: bag \"b\" has no proportion in p.csv; expected one for every bag");
  CHECK(join("bag,x\na,1\n", "bag,proportion\nz,0.5\na,1\nc,1\n").dataset ==
        "p.csv:2: column bag: bag \"z\" has a proportion but no row in t.csv; expected at least one");
  CHECK(
      join("bag,x\na,1\na,2\n", "bag,proportion,size\na,0.5,3\n").dataset ==
      "p.csv:2: column size: bag \"a\" has size 3 here but 2 rows in t.csv; expected the number of its rows");
  CHECK(join("bag,x,proportion\na,1,0.5\n", "bag,proportion\na,0.5\n").dataset ==
        "t.csv: has a proportion column, and p.csv gives proportions too; expected one of the two");
  CHECK(join("bag,x\na,1\n", "").dataset ==
        "t.csv: has no proportion column and no file of proportions was given; expected one of the two");
}

TEST_CASE("proportions: a column that changes within a bag is an error", "[bags][proportions][badargs]") {
  Dataset table;
  table.features = DenseRows(3, 1);
  table.groups = {{0, 1, 0}, {"a", "b"}};
  table.shares = {0.5, 0.1, 0.6};
  const auto out = attach_proportions(std::move(table), "t.csv", nullptr);
  REQUIRE_FALSE(out);
  CHECK(out.error().text() ==
        "t.csv: column proportion: bag \"a\" has proportion 0.6 in row 3 but 0.5 before; expected one "
        "proportion per "
        "bag");
}

TEST_CASE("proportions: a standard error becomes the noise of its bag", "[bags][proportions]") {
  const Joined found = join("bag,x\nb,1\na,2\na,3\n", "bag,proportion,stderr\na,0.5,0.125\nb,1,0\n");
  REQUIRE(found.dataset.empty());
  CHECK(found.rows.bags.noise == std::vector<double>{0.125, 0});
  CHECK(found.reduced.bags.noise == found.rows.bags.noise);
  CHECK(found.rows.bags.noise_of(0) == 0.125);
}

TEST_CASE("proportions: the noise of a private count shrinks with the bag", "[bags][proportions]") {
  for (const char* table : {"bag,proportion,epsilon_dp\na,0.5,2\nb,1,0.5\n",
                            "bag,positives,size,epsilon_dp\na,1,2,2\nb,1,1,0.5\n"}) {
    const Joined found = join("bag,x\nb,1\na,2\na,3\n", table);
    REQUIRE(found.dataset.empty());
    CHECK(found.rows.bags.noise == std::vector<double>{std::sqrt(2.0) / 2 / 2, std::sqrt(2.0) / 0.5});
    CHECK(found.reduced.bags.noise == found.rows.bags.noise);
  }
}

TEST_CASE("proportions: without noise, or with none but zeros, bags are exact", "[bags][proportions]") {
  for (const char* table : {"bag,proportion\na,0.5\n", "bag,proportion,stderr\na,0.5,0\n"}) {
    const Joined found = join("bag,x\na,1\na,2\n", table);
    CHECK(found.rows.bags.noise.empty());
    CHECK(found.reduced.bags.noise.empty());
    CHECK(found.rows.bags.noise_of(0) == 0);
  }
}

TEST_CASE("proportions: noise may carry a share out of its range, where it is clipped",
          "[bags][proportions]") {
  const test::TempDir dir;
  const std::string path = dir.file("p.csv");
  write_text(path, "bag,proportion,stderr\na,1.25,0.5\nb,-0.5,0.5\nc,0.75,0.5\n");
  auto read = read_proportions(path);
  if (!read) FAIL(read.error().text());
  CHECK(read->bags.at("a").proportion == 1);
  CHECK(read->bags.at("b").proportion == 0);
  CHECK(read->bags.at("c").proportion == 0.75);
  CHECK(read->remarks == std::vector<std::string>{
                             path + ": 2 of 3 noisy proportions lay outside [0, 1] and were clipped to it"});
  write_text(path, "bag,positives,size,epsilon_dp\na,4.5,4,1\nb,-1,4,1\nc,1.5,4,1\n");
  read = read_proportions(path);
  if (!read) FAIL(read.error().text());
  CHECK(read->bags.at("a").proportion == 1);
  CHECK(read->bags.at("b").proportion == 0);
  CHECK(read->bags.at("c").proportion == 0.375);
  CHECK(read->remarks.size() == 1);
  write_text(path, "bag,proportion,stderr\na,1,0.5\nb,0,0.5\n");
  read = read_proportions(path);
  REQUIRE(read);
  CHECK(read->remarks.empty());
}

TEST_CASE("proportions: noise is written and read back", "[bags][proportions]") {
  const test::TempDir dir;
  for (const bool private_counts : {false, true}) {
    ProportionTable table;
    table.bags["a"] = {0.25, 4, 0, private_counts ? 0 : 0.1, private_counts ? 0.3 : 0};
    table.bags["b"] = {0.5, 8, 0, private_counts ? 0 : 0.2, private_counts ? 0.3 : 0};
    REQUIRE(write_proportions(dir.file("p.csv"), table));
    const auto read = read_proportions(dir.file("p.csv"));
    if (!read) FAIL(read.error().text());
    for (const auto& [name, known] : table.bags) {
      CHECK(read->bags.at(name).stderror == known.stderror);
      CHECK(read->bags.at(name).epsilon_dp == known.epsilon_dp);
      CHECK(read->bags.at(name).size == known.size);
      CHECK(read->bags.at(name).noise(*known.size) == known.noise(*known.size));
    }
  }
}

TEST_CASE("proportions: faults of noise name line, column and value", "[bags][proportions][badargs]") {
  CHECK(fault_of("bag,proportion,stderr,epsilon_dp\na,0.5,0.1,1\n") ==
        "p.csv:1: has both stderr and epsilon_dp; expected one of the two, as both say how noisy a share is");
  CHECK(fault_of("bag,proportion,stderr\na,0.5,0.1\nb,0.5,-0.1\n") ==
        "p.csv:3: column 3 (stderr): \"-0.1\" is negative; expected a standard error >= 0");
  CHECK(fault_of("bag,proportion,stderr\na,0.5,\n") ==
        "p.csv:2: column 3 (stderr): is empty; expected a standard error >= 0");
  CHECK(fault_of("bag,proportion,stderr\na,0.5,nan\n") ==
        "p.csv:2: column 3 (stderr): \"nan\" is not finite; expected a standard error >= 0");
  CHECK(fault_of("bag,proportion,stderr\na,inf,0.1\n") ==
        "p.csv:2: column 2 (proportion): \"inf\" is not finite; expected a proportion");
  CHECK(fault_of("bag,epsilon_dp,proportion\na,0,0.5\n") ==
        "p.csv:2: column 2 (epsilon_dp): \"0\" is not positive; expected an epsilon > 0");
  CHECK(fault_of("bag,epsilon_dp,proportion\na,1e-320,0.5\n") ==
        "p.csv:2: column 2 (epsilon_dp): \"1e-320\" is too small; expected an epsilon > 0");
  CHECK(fault_of("bag,epsilon_dp,positives,size\na,1,some,2\n") ==
        "p.csv:2: column 3 (positives): \"some\" is not a number; expected a number of rows");
}

TEST_CASE("proportions: records in memory are read as those of a file", "[bags][proportions]") {
  const std::vector<std::string> headers[] = {
      {"bag", "proportion"}, {"size", "bag", "positives"}, {"bag", "proportion", "stderr"}, {"bag", "share"}};
  const std::vector<std::vector<std::vector<std::string>>> tables = {
      {{"a", "0.25"}, {"b", "0.30000000000000004"}},
      {{"4", "a", "1"}, {"10", "b", "3"}},
      {{"a", "-0.2", "0.5"}, {"b", "0.5", "0"}},
      {{"a", "1"}}};
  for (std::size_t t = 0; t < tables.size(); ++t) {
    std::string text;
    const auto add = [&](const std::vector<std::string>& cells) {
      for (std::size_t c = 0; c < cells.size(); ++c) text += (c > 0 ? "," : "") + cells[c];
      text += "\n";
    };
    add(headers[t]);
    for (const auto& record : tables[t]) add(record);
    const test::TempDir dir;
    write_text(dir.file("p.csv"), text);
    const auto read = read_proportions(dir.file("p.csv"));
    const auto made = make_proportions("p", headers[t], tables[t]);
    REQUIRE(made.ok() == read.ok());
    if (!made) {
      CHECK(made.error().message == read.error().message);
      continue;
    }
    REQUIRE(made->bags.size() == read->bags.size());
    CHECK(made->remarks.size() == read->remarks.size());
    for (const auto& [name, known] : read->bags) {
      CHECK(made->bags.at(name).proportion == known.proportion);
      CHECK(made->bags.at(name).size == known.size);
      CHECK(made->bags.at(name).stderror == known.stderror);
    }
  }
}

TEST_CASE("proportions: faults of records in memory name the record", "[bags][proportions][badargs]") {
  const auto fault = [](const std::vector<std::vector<std::string>>& records) {
    return make_proportions("p", {"bag", "proportion"}, records).error().text();
  };
  CHECK(fault({{"a", "0.5"}, {"b", "1.5"}}) ==
        "p:2: column 2 (proportion): \"1.5\" is outside [0, 1]; expected a proportion between 0 and 1");
  CHECK(fault({{"a", "0.5"}, {"b"}}) == "p:2: has 1 cells; expected 2");
  CHECK_THAT(fault({{"a", "nan"}}), Catch::Contains("nan"));
  CHECK_THAT(fault({}), Catch::Contains("no rows"));
}

TEST_CASE("proportions: shares as numbers are those of their texts, faults too", "[bags][proportions]") {
  Rng rng(8);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<std::string> bags;
    std::vector<double> shares;
    std::vector<std::vector<std::string>> records;
    for (std::uint64_t k = rng.below(6); k > 0; --k) {
      bags.push_back(rng.below(30) == 0 ? "" : fmt::format("{}", rng.below(40)));
      shares.push_back(rng.below(30) == 0 ? 1.25 : rng.below(30) == 0 ? std::nan("") : rng.uniform());
      records.push_back({bags.back(), fmt::format("{}", shares.back())});
    }
    const auto made = make_proportions("p", bags, shares);
    const auto read = make_proportions("p", {"bag", "proportion"}, records);
    REQUIRE(made.ok() == read.ok());
    if (!made) {
      CHECK(made.error().text() == read.error().text());
      continue;
    }
    REQUIRE(made->bags.size() == read->bags.size());
    CHECK(made->file == "p");
    for (const auto& [name, known] : read->bags) {
      CHECK(made->bags.at(name).proportion == known.proportion);
      CHECK(made->bags.at(name).line == known.line);
      CHECK_FALSE(made->bags.at(name).size);
    }
  }
}
