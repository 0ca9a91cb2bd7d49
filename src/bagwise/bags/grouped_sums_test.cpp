#include "bagwise/bags/grouped_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>

#include "bagwise/bags/proportions.h"
#include "bagwise/bags/reduce_table.h"
#include "bagwise/bags/sums_file.h"
#include "bagwise/core/random.h"
#include "support/temp_dir.h"

using namespace bagwise;

namespace {

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

GroupedSums summed(const std::string& path, const std::string& text, TableOptions options = {}) {
  write_text(path, text);
  auto out = reduce_table(path, options, {.moments = true});
  if (!out) FAIL(out.error().text());
  return std::move(*out);
}

std::string merge_fault(GroupedSums a, GroupedSums b) {
  const auto merged = a.merge(std::move(b));
  return merged ? "" : merged.error().text();
}

// Sums by name of bag and feature: what does not depend on any order.
std::map<std::pair<std::string, std::string>, double> by_name(const GroupedSums& s) {
  std::map<std::pair<std::string, std::string>, double> out;
  for (std::size_t k = 0; k < s.names.size(); ++k) {
    out[{s.names[k], " rows"}] = static_cast<double>(s.sums.count(k));
    out[{s.names[k], " bound"}] = s.sums.bound_sum(k);
    for (std::size_t j = 0; j < s.sums.features(); ++j) {
      out[{s.names[k], s.schema.feature_names[j]}] = s.sums.sum(k, j);
    }
  }
  for (std::size_t j = 0; s.has_moments && j < s.sums.features(); ++j) {
    out[{" moments", s.schema.feature_names[j]}] = s.moments.variance(j);
  }
  return out;
}

void check_same(const GroupedSums& a, const GroupedSums& b, double tolerance) {
  const auto x = by_name(a), y = by_name(b);
  REQUIRE(x.size() == y.size());
  for (const auto& [key, value] : x) {
    INFO(key.first << " " << key.second);
    REQUIRE(y.contains(key));
    CHECK(std::abs(value - y.at(key)) <= tolerance * std::abs(value));
  }
  CHECK(a.rows == b.rows);
}

// A row of a table with bounds, shares, a text column and positive values of many sizes (so that sums have no
// cancellation and a relative error means something).
std::string random_row(Rng& rng) {
  const auto bag = rng.below(6);
  const double x = (0.5 + rng.uniform()) * std::pow(10.0, static_cast<double>(rng.below(10)));
  return fmt::format("b{},{},{},{},{}\n", bag, static_cast<double>(bag) / 8, rng.uniform(), x,
                     std::string(1, static_cast<char>('p' + rng.below(5))));
}
constexpr const char* kHeader = "bag,proportion,delta,x,t\n";

}  // namespace

TEST_CASE("grouped_sums: shards in any split and order give the sums of all rows", "[bags][grouped_sums]") {
  const test::TempDir dir;
  Rng rng(5);
  const TableOptions options{.one_hot = {"t"}, .block_bytes = 300};
  for (int round = 0; round < 8; ++round) {
    const std::size_t shards = 1 + rng.below(6);
    std::string all = kHeader;
    std::vector<std::string> texts(shards, kHeader);
    for (int i = 0; i < 200; ++i) {
      const std::string row = random_row(rng);
      all += row;
      texts[i < static_cast<int>(shards) ? static_cast<std::size_t>(i) : rng.below(shards)] += row;
    }
    const GroupedSums whole = summed(dir.file("all.csv"), all, options);
    std::vector<std::string> paths;
    for (std::size_t s = 0; s < shards; ++s) {
      paths.push_back(dir.file(fmt::format("{}.sums", s)));
      REQUIRE(write_sums(paths.back(), summed(dir.file("part.csv"), texts[s], options)));
    }
    std::string bytes;
    for (int order = 0; order < 3; ++order) {
      const auto merged = merge_sums_files(paths);
      REQUIRE(merged);
      CHECK(merged->remarks.empty());
      check_same(whole, merged->sums, 1e-14);
      CHECK(merged->sums.schema.feature_names == whole.schema.feature_names);
      if (bytes.empty()) bytes = merged->sums.to_bytes();
      CHECK(merged->sums.to_bytes() == bytes);
      shuffle(std::span(paths), rng);
    }
  }
}

TEST_CASE("grouped_sums: bytes give back the same sums", "[bags][grouped_sums]") {
  const test::TempDir dir;
  Rng rng(6);
  std::string text = kHeader;
  for (int i = 0; i < 50; ++i) text += random_row(rng);
  const GroupedSums sums = summed(dir.file("a.csv"), text, {.one_hot = {"t"}, .missing = Missing::kZero});
  const auto back = GroupedSums::from_bytes(sums.to_bytes(), "here");
  REQUIRE(back);
  CHECK(back->to_bytes() == sums.to_bytes());
  CHECK(by_name(*back) == by_name(sums));
  CHECK(back->shares == sums.shares);
  CHECK(back->names == sums.names);
  CHECK(back->one_hot == sums.one_hot);
  CHECK(back->missing == Missing::kZero);
  CHECK(back->schema.has_bounds);
  CHECK(back->schema.has_shares);
  CHECK(back->origin() == "here");
}

TEST_CASE("grouped_sums: every cut and every changed byte is found", "[bags][grouped_sums][badargs]") {
  const test::TempDir dir;
  const std::string bytes =
      summed(dir.file("a.csv"), "bag,proportion,x,t\na,0.5,1,u\nb,0.25,2,v\n", {.one_hot = {"t"}}).to_bytes();
  REQUIRE(GroupedSums::from_bytes(bytes, "f"));
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    const auto read = GroupedSums::from_bytes(std::string_view(bytes).substr(0, cut), "f");
    REQUIRE_FALSE(read);
    CHECK(read.error().file == "f");
  }
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const int mask : {1, 0x80, 0xff}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ mask);
      INFO(at);
      CHECK_FALSE(GroupedSums::from_bytes(changed, "f"));
    }
  }
  CHECK_FALSE(GroupedSums::from_bytes(bytes + "x", "f"));
  CHECK(GroupedSums::from_bytes("bag,x\na,1\n", "f").error().text() ==
        "f: is no file of bag sums: it does not begin as one that `bagwise reduce` writes");
}

TEST_CASE("grouped_sums: what no table gives is refused though its checksum is right",
          "[bags][grouped_sums][badargs]") {
  const test::TempDir dir;
  const auto good = summed(dir.file("a.csv"), "bag,x,y,delta,proportion\n1,1,2,0.5,0.5\n2,3,4,0,1\n");
  const auto fault_of = [&](const auto& change) {
    GroupedSums sums = good;
    change(sums);
    const auto read = GroupedSums::from_bytes(sums.to_bytes(), "a.sums");
    return read ? "" : read.error().text();
  };
  const auto set_bag = [](GroupedSums& sums, auto change) {
    BagSums::Bag bag = sums.sums.bag(1);
    std::vector<double> high(bag.high.begin(), bag.high.end()), low(bag.low.begin(), bag.low.end());
    change(bag, high, low);
    bag.high = high, bag.low = low;
    sums.sums.set(1, bag);
  };
  using Numbers = std::vector<double>;
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  CHECK(fault_of([](GroupedSums&) {}).empty());
  const std::string senseless =
      "a.sums: has a good checksum but no sense: it was not written by this program";
  CHECK(fault_of([](GroupedSums& s) { s.names = {"1", "1"}; }) == senseless);
  CHECK(fault_of([](GroupedSums& s) { s.names[1] = ""; }) == senseless);
  CHECK(fault_of([](GroupedSums& s) { s.schema.feature_names = {"x", "x"}; }) == senseless);
  for (const double share : {nan, infinity, -0.25, 1.5})
    CHECK(fault_of([&](GroupedSums& s) { s.shares[0] = share; }) == senseless);
  for (const double bound : {nan, -infinity, -1.0}) {
    CHECK(fault_of([&](GroupedSums& s) {
            set_bag(s, [&](BagSums::Bag& bag, Numbers&, Numbers&) { bag.bound = {bound, 0}; });
          }) == senseless);
  }
  // Counts that are none, that add up to too much, or that add up to the rows by going round.
  for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1} << 53, ~std::uint64_t{0}}) {
    CHECK(fault_of([&](GroupedSums& s) {
            set_bag(s, [&](BagSums::Bag& bag, Numbers&, Numbers&) { bag.count = count; });
            s.rows = 1 + count;
          }) == senseless);
  }
  CHECK(fault_of([&](GroupedSums& s) { s.schema.fill = {0, nan}; }) == senseless);
  const std::string overflow = "a.sums: has a sum that is no finite number; expected sums of smaller values";
  for (const double value : {nan, infinity}) {
    CHECK(fault_of([&](GroupedSums& s) {
            set_bag(s, [&](BagSums::Bag&, Numbers& high, Numbers&) { high[1] = value; });
          }) == overflow);
    CHECK(fault_of([&](GroupedSums& s) {
            set_bag(s, [&](BagSums::Bag&, Numbers&, Numbers& low) { low[0] = value; });
          }) == overflow);
    CHECK(fault_of([&](GroupedSums& s) {
            s.sums = BagSums(2, 2, BagSums::Layout::kSparse);
            s.sums.set(0, BagSums::SparseBag{1, {}, {{0, 1, 0}}});
            s.sums.set(1, BagSums::SparseBag{1, {}, {{1, value, 0}}});
          }) == overflow);
  }
}

TEST_CASE("sums_file: sums that could not be read again are not written", "[bags][sums_file][badargs]") {
  const test::TempDir dir;
  for (const auto& [name, text] : {std::pair{"a.csv", "bag,x\n1,1e308\n1,1e308\n"},
                                   {"a.svm", "1 qid:1 2000:1e308\n1 qid:1 2000:1e308\n"}}) {
    const auto sums = summed(dir.file(name), text);
    const auto written = write_sums(dir.file("a.sums"), sums);
    REQUIRE_FALSE(written.ok());
    CHECK(written.error().text() ==
          dir.file(name) +
              ": bag \"1\" has values that add up to more than a number holds; expected smaller ones");
    CHECK_FALSE(read_sums(dir.file("a.sums")).ok());
  }
}

TEST_CASE("grouped_sums: two proportions of one bag are an error that names both",
          "[bags][grouped_sums][badargs]") {
  const test::TempDir dir;
  GroupedSums all = summed(dir.file("a.csv"), "bag,proportion,x\na,0.5,1\n");
  REQUIRE(all.merge(summed(dir.file("b.csv"), "bag,proportion,x\nb,0.25,1\na,0.5,3\n")));
  CHECK(all.sums.count(0) == 2);
  CHECK(merge_fault(all, summed(dir.file("c.csv"), "bag,proportion,x\nb,0.75,1\n")) ==
        fmt::format("{}: bag \"b\" has proportion 0.75 here but 0.25 in {}; expected one proportion per bag",
                    dir.file("c.csv"), dir.file("b.csv")));
}

TEST_CASE("grouped_sums: a feature of one side only is an error unless it can be 0",
          "[bags][grouped_sums][badargs]") {
  const test::TempDir dir;
  const std::string a = dir.file("a.csv"), b = dir.file("b.csv");
  CHECK(merge_fault(summed(a, "bag,x,y\na,1,2\n"), summed(b, "bag,x\na,1\n")) ==
        b + ": has no feature \"y\", which " + a + " has; expected the same features in all of them");
  CHECK(merge_fault(summed(a, "bag,x\na,1\n"), summed(b, "bag,x,y\na,1,2\n")) ==
        b + ": has a feature \"y\", which " + a + " lacks; expected the same features in all of them");
  CHECK(merge_fault(summed(a, "bag,x\na,1\n"), summed(b, "bag,x,delta\na,1,2\n")) ==
        b + ": has a delta column, but " + a + " has not; expected all or none to have it");
  CHECK(merge_fault(summed(a, "bag,x,proportion\na,1,1\n"), summed(b, "bag,x\na,1\n")) ==
        b + ": has no proportion column, but " + a + " has; expected all or none to have it");
  CHECK(merge_fault(summed(a, "bag,x\na,1\n"), summed(b, "bag,x\na,1\n", {.one_hot = {"x"}})) ==
        b + ": has column \"x\" spread by one-hot, but " + a + " has not; expected the same everywhere");
  CHECK(merge_fault(summed(a, "bag,x\na,1\n"), summed(dir.file("b.svm"), "1 qid:1 1:1\n")) ==
        dir.file("b.svm") + ": is of a sparse table, but " + a +
            " is of a dense one; expected parts of one table");
  CHECK(merge_fault(summed(a, "bag,x,y\na,1,2\n"), summed(b, "bag,y,x\na,20,10\n")).empty());

  GroupedSums sparse = summed(dir.file("a.svm"), "1 qid:1 1:1 3:5\n");
  REQUIRE(sparse.merge(summed(dir.file("b.svm"), "1 qid:1 11:2\n1 qid:2 2:7\n")));
  REQUIRE(sparse.sums.features() == 11);
  CHECK(sparse.schema.feature_names.back() == "11");
  CHECK(sparse.sums.sum(0, 0) == 1);
  CHECK(sparse.sums.sum(0, 2) == 5);
  CHECK(sparse.sums.sum(0, 10) == 2);
  CHECK(sparse.sums.sum(1, 1) == 7);
  CHECK(sparse.moments.sum[10].value() == 2);
  CHECK(sparse.moments.rows == 3);
}

TEST_CASE("grouped_sums: parts by bag merge to the whole", "[bags][grouped_sums]") {
  const test::TempDir dir;
  Rng rng(7);
  std::string text = "bag,x\n";
  for (int i = 0; i < 300; ++i) text += fmt::format("bag {},{}\n", rng.below(40), 1 + rng.uniform());
  const GroupedSums sums = summed(dir.file("a.csv"), text);
  for (const std::size_t n : {1U, 3U, 100U}) {
    auto parts = sums.split_by_bag(n);
    REQUIRE(parts.size() == n);
    GroupedSums merged;
    std::size_t bags = 0;
    for (auto& part : parts) {
      bags += part.names.size();
      auto sent = GroupedSums::from_bytes(part.to_bytes(), "rank");
      REQUIRE(sent);
      REQUIRE(merged.merge(std::move(*sent)));
    }
    CHECK(bags == sums.names.size());
    check_same(sums, merged, 0);
    CHECK(merged.moments.rows == 300);
  }
  // Fixed for good: programs of different versions must agree on who has a bag.
  CHECK(sums.split_by_bag(3)[0].names.size() + sums.split_by_bag(3)[1].names.size() < sums.names.size());
  CHECK(sums.without_bags().names.empty());
  CHECK(sums.without_bags().moments.rows == 300);
}

TEST_CASE("grouped_sums: features can be put in another order", "[bags][grouped_sums]") {
  const test::TempDir dir;
  const std::string path = dir.file("a.csv");
  const std::vector<std::string> wanted = {"z", "y", "x"}, fewer = {"y"};
  auto out = summed(path, "bag,x,y\na,1,2\n").aligned(wanted);
  REQUIRE(out);
  CHECK(out->schema.feature_names == wanted);
  CHECK(out->sums.sum(0, 0) == 0);
  CHECK(out->sums.sum(0, 1) == 2);
  CHECK(out->sums.sum(0, 2) == 1);
  CHECK(out->moments.sum[2].value() == 1);
  out = summed(path, "bag,x,y\na,1,2\n").aligned(fewer);
  REQUIRE_FALSE(out);
  CHECK(out.error().text() == path + ": has a feature \"x\", which is none of the 1 expected");
}

TEST_CASE("grouped_sums: moments stay only if both sides have them", "[bags][grouped_sums]") {
  const test::TempDir dir;
  GroupedSums sums = summed(dir.file("a.csv"), "bag,x\na,1\n");
  auto bare = reduce_table(dir.file("a.csv"), {}, {});
  REQUIRE(bare);
  REQUIRE(sums.merge(std::move(*bare)));
  CHECK_FALSE(sums.has_moments);
  CHECK(sums.moments.sum.empty());
  CHECK(GroupedSums::from_bytes(sums.to_bytes(), "f"));
}

TEST_CASE("sums_file: a file given twice is an error, a copy a remark", "[bags][sums_file][badargs]") {
  const test::TempDir dir;
  const std::string a = dir.file("a.sums"), b = dir.file("b.sums");
  const GroupedSums sums = summed(dir.file("a.csv"), "bag,x\na,1\n");
  REQUIRE(write_sums(a, sums));
  REQUIRE(write_sums(b, sums));
  CHECK(is_sums_file(a));
  CHECK_FALSE(is_sums_file(dir.file("a.csv")));
  const auto twice = merge_sums_files(std::vector{a, a});
  REQUIRE_FALSE(twice);
  CHECK(twice.error().text() == a + ": is given twice; its rows would count twice");
  const auto copied = merge_sums_files(std::vector{b, a});
  REQUIRE(copied);
  CHECK(copied->remarks ==
        std::vector{a + " and " + b + " have the same contents: is one of them given twice?"});
  CHECK(copied->sums.sums.count(0) == 2);
  CHECK_FALSE(merge_sums_files(std::vector{a, dir.file("none.sums")}));
  CHECK_FALSE(merge_sums_files(std::vector{a, dir.file("a.csv")}));
}

TEST_CASE("grouped_sums: proportions of bags that are elsewhere are no fault where that is said",
          "[bags][grouped_sums]") {
  const test::TempDir dir;
  const GroupedSums sums = summed(dir.file("a.csv"), "bag,x\na,1\n");
  const auto table = make_proportions("p", {"bag", "proportion"}, {{"a", "0.5"}, {"b", "1"}});
  REQUIRE(table);
  CHECK_FALSE(attach_proportions(sums, "a.csv", &*table));
  const auto some = attach_proportions(sums, "a.csv", &*table, BagsHere::kSome);
  REQUIRE(some);
  CHECK(some->bags.proportions == std::vector{0.5});
}

TEST_CASE("grouped_sums: sums of many sparse features hold what occurs, and travel", "[bags][grouped_sums]") {
  const test::TempDir dir;
  const GroupedSums sums =
      summed(dir.file("a.svm"), "1 qid:1 1:1 50000:5\n1 qid:2 7:2\n1 qid:1 7:3 50000:1\n");
  REQUIRE(sums.sums.layout() == BagSums::Layout::kSparse);
  const std::string bytes = sums.to_bytes();
  auto back = GroupedSums::from_bytes(bytes, "f");
  REQUIRE(back);
  CHECK(back->to_bytes() == bytes);
  CHECK(back->sums.sum(0, 49999) == 6);
  CHECK(back->sums.sum(0, 6) == 3);
  GroupedSums narrow = summed(dir.file("b.svm"), "1 qid:2 7:10\n1 qid:3 2:1\n");
  REQUIRE(narrow.sums.layout() == BagSums::Layout::kDense);
  REQUIRE(narrow.merge(std::move(*back)));
  CHECK(narrow.sums.layout() == BagSums::Layout::kSparse);
  CHECK(narrow.sums.sum(0, 6) == 12);
  CHECK(narrow.sums.sum(2, 49999) == 6);
  GroupedSums merged;
  for (auto& part : sums.split_by_bag(4)) REQUIRE(merged.merge(std::move(part)));
  CHECK(merged.sums.layout() == BagSums::Layout::kSparse);
  CHECK(merged.sums.sum(merged.names[0] == "1" ? 0 : 1, 49999) == 6);
}
