#include "bagwise/evaluate/bag_resampling.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <set>

#include "support/bag_problems.h"

namespace bagwise {
namespace {

TEST_CASE("bag_resampling: folds are alike in number and proportion", "[evaluate][bag_resampling]") {
  Rng rng(1);
  std::vector<double> p(53);
  for (double& one : p) one = rng.uniform();
  const auto folds = stratified_folds(p, 5, rng);
  const double all = std::accumulate(p.begin(), p.end(), 0.0) / 53;
  for (std::uint32_t fold = 0; fold < 5; ++fold) {
    const auto in = bags_in(folds, fold), out = bags_outside(folds, fold);
    CHECK(in.size() + out.size() == 53);
    CHECK((in.size() == 10 || in.size() == 11));
    double mean = 0;
    for (const std::uint32_t k : in) mean += p[k] / static_cast<double>(in.size());
    CHECK(mean == Approx(all).margin(0.07));
  }
  // As many folds as bags: each bag is left out once.
  const auto single = stratified_folds(p, 53, rng);
  CHECK(std::set<std::uint32_t>(single.begin(), single.end()).size() == 53);
}

TEST_CASE("bag_resampling: rows and sums of drawn bags are the same bags", "[evaluate][bag_resampling]") {
  Rng rng(2);
  BaggedData data = test::random_bags(rng, 12, 3);
  data.bags.noise.assign(12, 0.0);
  data.bags.noise[4] = 0.25;
  for (std::size_t i = 0; i < data.bag_of_row.size(); ++i) data.bounds.push_back(rng.uniform());
  auto which = bootstrap_bags(12, rng);
  which.insert(std::lower_bound(which.begin(), which.end(), 4U), 2, 4U);
  CHECK(std::is_sorted(which.begin(), which.end()));
  const ReducedBags by_sums = pick_bags(reduce(data), which), by_rows = reduce(pick_bags(data, which));
  REQUIRE(by_sums.bags.size() == 14);
  CHECK(by_sums.bags.names == by_rows.bags.names);
  CHECK(std::is_sorted(by_sums.bags.names.begin(), by_sums.bags.names.end()));
  CHECK(by_sums.bags.proportions == by_rows.bags.proportions);
  CHECK(by_sums.bags.noise == by_rows.bags.noise);
  for (std::size_t k = 0; k < 14; ++k) {
    CHECK(by_sums.bags.noise[k] == data.bags.noise[which[k]]);
    CHECK(by_sums.sums.count(k) == by_rows.sums.count(k));
    CHECK(by_sums.sums.bound_sum(k) == Approx(by_rows.sums.bound_sum(k)));
    CHECK(by_sums.bags.proportions[k] == data.bags.proportions[which[k]]);
    for (std::size_t j = 0; j < 3; ++j) CHECK(by_sums.sums.sum(k, j) == Approx(by_rows.sums.sum(k, j)));
  }
}

}  // namespace
}  // namespace bagwise
