#include "bagwise/evaluate/matched_labels.h"

#include <catch2/catch.hpp>

#include "bagwise/core/random.h"

namespace bagwise {
namespace {

// The same by the definition: a row is positive if fewer than round(p n) rows of its bag come before it.
std::vector<bool> counted_labels(const std::vector<double>& f, const std::vector<std::uint32_t>& bag,
                                 const std::vector<double>& shares) {
  std::vector<bool> out;
  for (std::size_t i = 0; i < f.size(); ++i) {
    int rows = 0, before = 0;
    for (std::size_t j = 0; j < f.size(); ++j) {
      if (bag[j] != bag[i]) continue;
      ++rows;
      if (f[j] > f[i] || (f[j] == f[i] && j < i)) ++before;
    }
    out.push_back(before < static_cast<int>(shares[bag[i]] * rows + 0.5));
  }
  return out;
}

TEST_CASE("matched_labels: they are those of counting, ties and empty bags included",
          "[evaluate][matched_labels]") {
  Rng rng(1);
  for (int round = 0; round < 200; ++round) {
    const std::size_t bags = 1 + rng.below(5), rows = rng.below(40);
    std::vector<double> f, shares;
    std::vector<std::uint32_t> bag;
    for (std::size_t k = 0; k < bags; ++k)
      shares.push_back(round % 3 == 0 ? static_cast<double>(rng.below(3)) / 2 : rng.uniform());
    for (std::size_t i = 0; i < rows; ++i) {
      f.push_back(round % 2 == 0 ? rng.normal() : static_cast<double>(rng.below(3)));
      bag.push_back(static_cast<std::uint32_t>(rng.below(bags)));
    }
    CHECK(matched_labels(f, bag, shares) == counted_labels(f, bag, shares));
  }
}

TEST_CASE("matched_labels: scores in the order of the truth get every label right",
          "[evaluate][matched_labels]") {
  Rng rng(2);
  std::vector<double> f, shares(4, 0), rows(4, 0);
  std::vector<std::uint32_t> bag;
  std::vector<std::int8_t> truth;
  for (int i = 0; i < 100; ++i) {
    bag.push_back(static_cast<std::uint32_t>(rng.below(4)));
    truth.push_back(rng.below(3) == 0 ? 1 : -1);
    // Each bag has a threshold of its own, which no single one could serve.
    f.push_back(10.0 * bag.back() + truth.back() + 0.5 * rng.uniform());
    shares[bag.back()] += truth.back() > 0 ? 1 : 0;
    rows[bag.back()] += 1;
  }
  for (std::size_t k = 0; k < 4; ++k) shares[k] /= rows[k];
  CHECK(accuracy_of(matched_labels(f, bag, shares), truth) == 1);
}

TEST_CASE("matched_labels: rows without a label do not count", "[evaluate][matched_labels]") {
  const std::vector<std::int8_t> truth = {1, 0, -1, -1};
  CHECK(accuracy_of({true, true, true, false}, truth) == Approx(2.0 / 3));
  CHECK(accuracy_of({true}, std::vector<std::int8_t>{0}) == 0);
}

}  // namespace
}  // namespace bagwise
