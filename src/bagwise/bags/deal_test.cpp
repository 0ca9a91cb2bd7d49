#include "bagwise/bags/deal.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

namespace {

using bagwise::Dataset;
using bagwise::DealtBags;
using bagwise::DenseRows;
using bagwise::ReducedBags;
using bagwise::Rng;

Dataset labelled_rows(std::size_t rows, Rng& rng) {
  Dataset data;
  DenseRows values(rows, 1);
  for (std::size_t i = 0; i < rows; ++i) {
    values(i, 0) = static_cast<double>(i);
    data.labels.push_back(rng.below(3) == 0 ? 1 : -1);
    data.ids.push_back(fmt::format("r{}", i));
  }
  data.features = values;
  data.feature_names = {"x"};
  return data;
}

// Bags with given proportions and, per feature, given means (each bag has four rows).
ReducedBags bags_with(const std::vector<double>& proportions, const std::vector<std::vector<double>>& means) {
  ReducedBags out;
  out.bags.proportions = proportions;
  out.bags.names.resize(proportions.size());
  out.sums = bagwise::BagSums(proportions.size(), means.size());
  for (std::size_t j = 0; j < means.size(); ++j) out.feature_names.push_back(fmt::format("f{}", j));
  for (std::size_t k = 0; k < proportions.size(); ++k) {
    std::vector<double> row;
    for (const auto& mean : means) row.push_back(mean[k]);
    for (int i = 0; i < 4; ++i) out.sums.add_row(k, row, 0);
  }
  return out;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("deal: every bag has its size, and its proportion is that of its labels", "[bags][deal]") {
  Rng rng(1);
  for (const std::size_t rows : {1U, 7U, 8U, 9U, 100U, 1001U}) {
    for (const std::uint64_t size :
         {std::uint64_t{1}, std::uint64_t{8}, std::uint64_t{2000}, ~std::uint64_t{0}}) {
      CAPTURE(rows, size);
      const Dataset data = labelled_rows(rows, rng);
      const auto dealt = bagwise::deal_bags(data, size, rng);
      REQUIRE(dealt);
      const Dataset& out = dealt->instances;
      CHECK(out.labels.empty());
      CHECK(out.ids == data.ids);
      REQUIRE(out.groups.codes.size() == rows);
      std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> seen;  // rows, positives
      for (std::size_t i = 0; i < rows; ++i) {
        auto& [count, positives] = seen[out.groups.values[out.groups.codes[i]]];
        ++count;
        positives += data.labels[i] > 0;
      }
      CHECK(seen.size() == (rows - 1) / size + 1);
      REQUIRE(seen.size() == dealt->proportions.bags.size());
      std::size_t smaller = 0;
      for (const auto& [name, tally] : seen) {
        const auto& known = dealt->proportions.bags.at(name);
        CHECK(known.size == tally.first);
        CHECK(known.proportion == static_cast<double>(tally.second) / static_cast<double>(tally.first));
        CHECK(tally.first <= size);
        smaller += tally.first < size;
      }
      CHECK(smaller <= 1);
    }
  }
}

TEST_CASE("deal: bags sort by number and come in order of first appearance", "[bags][deal]") {
  Rng rng(2);
  const auto dealt = bagwise::deal_bags(labelled_rows(1000, rng), 10, rng);
  REQUIRE(dealt);
  CHECK(dealt->proportions.bags.begin()->first == "001");
  CHECK(dealt->proportions.bags.rbegin()->first == "100");
  std::uint32_t next = 0;
  for (const std::uint32_t code : dealt->instances.groups.codes) {
    REQUIRE(code <= next);
    if (code == next) ++next;
  }
  CHECK(next == 100);
}

TEST_CASE("deal: bags are drawn at random, the same ones for the same seed", "[bags][deal]") {
  Rng maker(3);
  const Dataset data = labelled_rows(200, maker);
  const auto codes = [&](std::uint64_t seed) {
    Rng rng(seed);
    const auto dealt = bagwise::deal_bags(data, 10, rng);
    std::vector<std::string> out;
    for (const auto code : dealt->instances.groups.codes) out.push_back(dealt->instances.groups.values[code]);
    return out;
  };
  CHECK(codes(1) == codes(1));
  CHECK(codes(1) != codes(2));
  // Two given rows share a bag as often as chance has it: 9 of 199.
  int together = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const auto bags = codes(seed);
    together += bags[0] == bags[1];
  }
  CHECK(std::abs(together - 2000 * 9.0 / 199) < 4 * std::sqrt(2000 * 9.0 / 199));
}

TEST_CASE("deal: old bags and proportions are replaced", "[bags][deal]") {
  Rng rng(4);
  Dataset data = labelled_rows(4, rng);
  data.groups.values = {"old"};
  data.groups.codes = {0, 0, 0, 0};
  data.shares = {0.5, 0.5, 0.5, 0.5};
  data.bounds = {1, 2, 3, 4};
  const auto dealt = bagwise::deal_bags(data, 2, rng);
  REQUIRE(dealt);
  CHECK(dealt->instances.shares.empty());
  CHECK(dealt->instances.bounds == data.bounds);
  CHECK(std::set<std::string>(dealt->instances.groups.values.begin(), dealt->instances.groups.values.end()) ==
        std::set<std::string>{"1", "2"});
}

TEST_CASE("deal: what cannot be dealt is an error", "[bags][deal][badargs]") {
  Rng rng(5);
  const auto fault = [&](Dataset data, std::uint64_t size) {
    const auto dealt = bagwise::deal_bags(std::move(data), size, rng);
    return dealt ? std::string() : dealt.error().text();
  };
  CHECK(fault(labelled_rows(3, rng), 0) == "bag size = 0 breaks bag size >= 1");
  CHECK(fault(Dataset{}, 2) == "there are no rows to deal into bags; expected at least one");
  Dataset unlabelled = labelled_rows(3, rng);
  unlabelled.labels[1] = 0;
  CHECK(fault(unlabelled, 2) == "row 2 has no label; bags are made from labelled rows");
  unlabelled.labels.clear();
  CHECK(fault(unlabelled, 2) == "there is no label column; bags are made from labelled rows");
}

TEST_CASE("leak_guard: the label is found under every form, and nothing else is", "[bags][leak_guard]") {
  const std::vector<double> p = {0.25, 0.5, 1, 0};
  CHECK(bagwise::leaked_features(bags_with(p, {{0.25, 0.5, 1, 0},      // 0/1
                                               {-0.5, 0, 1, -1},       // -1/1
                                               {0.75, 0.5, 0, 1},      // the other class
                                               {0.5, 0, -1, 1},        // the other class, -1/1
                                               {0.25, 0.5, 1, 0.01},   // differs in one bag
                                               {0.25, 0.5, 1, 1e-10},  // within rounding
                                               {0.25, 0.5, 1, 1e-8},   // not within rounding
                                               {2.5, 5, 10, 0}})) ==   // only proportional
        Names{"f0", "f1", "f2", "f3", "f5"});
  CHECK(bagwise::leaked_features(bags_with(p, {})).empty());
}

TEST_CASE("leak_guard: the first leak is told with the ways out of it", "[bags][leak_guard][badargs]") {
  const auto ways = [](const std::string& feature) { return "drop " + feature; };
  const std::vector<double> p = {0.25, 0.5, 1, 0};
  CHECK(bagwise::check_leaks(bags_with(p, {{1, 2, 3, 4}}), "t.csv", ways));
  const auto told = bagwise::check_leaks(bags_with(p, {{1, 2, 3, 4}, p, p}), "t.csv", ways);
  REQUIRE_FALSE(told);
  CHECK(told.error().text() ==
        "t.csv: the feature \"f1\" has each bag's proportion as its mean in every bag: it is the label under "
        "another name; drop f1");
}

TEST_CASE("leak_guard: bags of one share accuse no constant", "[bags][leak_guard]") {
  CHECK(bagwise::leaked_features(bags_with({0.5, 0.5, 0.5}, {{0, 0, 0}, {0.5, 0.5, 0.5}})).empty());
  CHECK(bagwise::leaked_features(bags_with({0, 0}, {{0, 0}})).empty());
}

TEST_CASE("leak_guard: bags in several places tell together", "[bags][leak_guard]") {
  const std::vector<double> p = {0.25, 0.5, 1, 0, 0.75};
  // The label; the label here and its opposite there; p in all bags but the last; any.
  const std::vector<std::vector<double>> means = {
      p, {0.25, 0.5, 0, 1, 0.25}, {0.25, 0.5, 1, 0, 0.7}, {1, 2, 3, 4, 5}};
  for (std::size_t cut = 0; cut <= p.size(); ++cut) {
    const auto part = [&](std::size_t from, std::size_t to) {
      const auto some = [&](const std::vector<double>& all) {
        return std::vector<double>(all.begin() + static_cast<std::ptrdiff_t>(from),
                                   all.begin() + static_cast<std::ptrdiff_t>(to));
      };
      std::vector<std::vector<double>> columns;
      for (const auto& column : means) columns.push_back(some(column));
      return bagwise::scan_for_leaks(bags_with(some(p), columns));
    };
    auto scan = part(0, cut);
    scan.merge(part(cut, p.size()));
    CHECK(scan.leaked() == std::vector<std::size_t>{0});
  }
  // A share that is the only one here is not where bags elsewhere have another.
  auto alike = bagwise::scan_for_leaks(bags_with({0.5, 0.5}, {{0.5, 0.5}}));
  CHECK(alike.leaked().empty());
  alike.merge(bagwise::scan_for_leaks(bags_with({1}, {{1}})));
  CHECK(alike.leaked() == std::vector<std::size_t>{0});
}

TEST_CASE("leak_guard: bags without rows say nothing", "[bags][leak_guard]") {
  ReducedBags data = bags_with({0.25, 0.5}, {{0.25, 0.5}});
  data.bags.names.push_back("empty");
  data.bags.proportions.push_back(0.7);
  data.sums.grow(3);
  CHECK(bagwise::leaked_features(data) == Names{"f0"});
  ReducedBags nothing = bags_with({}, {});
  nothing.feature_names = {"f"};
  nothing.sums = bagwise::BagSums(0, 1);
  CHECK(bagwise::leaked_features(nothing).empty());
}
