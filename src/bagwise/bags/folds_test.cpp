#include "bagwise/bags/folds.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

namespace bagwise {
namespace {

using Folds = std::vector<std::vector<std::uint32_t>>;

struct SomeBags {
  std::vector<std::uint64_t> sizes;
  std::vector<double> proportions;
};

SomeBags random_sizes(Rng& rng, std::size_t bags, std::uint64_t largest, std::uint64_t steps) {
  SomeBags out;
  for (std::size_t k = 0; k < bags; ++k) {
    out.sizes.push_back(1 + rng.below(largest));
    out.proportions.push_back(static_cast<double>(rng.below(steps + 1)) / static_cast<double>(steps));
  }
  return out;
}

Folds dealt(const SomeBags& bags, std::size_t folds, std::uint64_t seed) {
  Rng rng(seed);
  return bag_folds(bags.sizes, bags.proportions, folds, rng);
}

double spread(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return *most - *least;
}

TEST_CASE("folds: every bag is in one fold, and folds have as many bags up to one", "[bags][folds]") {
  Rng rng(1);
  for (int round = 0; round < 200; ++round) {
    const std::size_t count = 1 + rng.below(60), folds = 1 + rng.below(count);
    const SomeBags bags = random_sizes(rng, count, 20, 1 + rng.below(10));
    const Folds out = dealt(bags, folds, rng());
    REQUIRE(out.size() == folds);
    std::vector<int> seen(count, 0);
    for (const auto& fold : out) {
      CHECK(std::is_sorted(fold.begin(), fold.end()));
      CHECK(fold.size() >= count / folds);
      CHECK(fold.size() <= (count + folds - 1) / folds);
      for (const std::uint32_t k : fold) ++seen[k];
    }
    CHECK(seen == std::vector<int>(count, 1));
  }
}

// Of every layer each fold gets one bag, so that sums of proportions telescope: two folds of as many bags
// differ by no more than the range of the proportions, 1, however many bags there are.
TEST_CASE("folds: they are alike in proportions and in rows", "[bags][folds]") {
  Rng rng(2);
  for (int round = 0; round < 100; ++round) {
    const std::size_t folds = 2 + rng.below(9), count = folds * (1 + rng.below(20));
    const std::uint64_t largest = 1 + rng.below(50);
    const SomeBags bags = random_sizes(rng, count, largest, 1000);
    std::vector<double> shares, rows;
    for (const auto& fold : dealt(bags, folds, rng())) {
      shares.push_back(0);
      rows.push_back(0);
      for (const std::uint32_t k : fold) {
        shares.back() += bags.proportions[k];
        rows.back() += static_cast<double>(bags.sizes[k]);
      }
    }
    CAPTURE(folds, count, largest);
    CHECK(spread(shares) <= 1 + 1e-12);
    // The largest bag of a layer goes to the emptiest fold: a difference never grows beyond one bag's.
    CHECK(spread(rows) <= static_cast<double>(largest));
  }
}

TEST_CASE("folds: the seed decides, and it decides something", "[bags][folds]") {
  Rng rng(3);
  const SomeBags bags = random_sizes(rng, 40, 3, 4);
  CHECK(dealt(bags, 5, 7) == dealt(bags, 5, 7));
  CHECK(dealt(bags, 5, 7) != dealt(bags, 5, 8));
}

TEST_CASE("folds: as many folds as bags leave out one bag at a time", "[bags][folds]") {
  Rng rng(4);
  Folds out = dealt(random_sizes(rng, 17, 5, 3), 17, 1);
  std::sort(out.begin(), out.end());
  for (std::uint32_t k = 0; k < 17; ++k) CHECK(out[k] == std::vector<std::uint32_t>{k});
}

}  // namespace
}  // namespace bagwise
