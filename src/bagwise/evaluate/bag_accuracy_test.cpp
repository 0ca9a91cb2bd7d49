#include "bagwise/evaluate/bag_accuracy.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "bagwise/core/random.h"

namespace bagwise {
namespace {

// Bags of `size` rows whose positives are called positive with chance a and negatives with chance b.
std::vector<CountedBag> made_bags(Rng& rng, std::size_t bags, std::uint64_t size, double a, double b) {
  std::vector<CountedBag> out;
  for (std::size_t k = 0; k < bags; ++k) {
    CountedBag bag{size, 0, 0};
    for (std::uint64_t i = 0; i < size; ++i) {
      const bool positive = rng.uniform() < 0.4;
      bag.positives += positive ? 1 : 0;
      bag.predicted += rng.uniform() < (positive ? a : b) ? 1 : 0;
    }
    out.push_back(bag);
  }
  return out;
}

double choose(std::uint64_t n, std::uint64_t k) {
  double out = 1;
  for (std::uint64_t i = 0; i < k; ++i) out *= static_cast<double>(n - i) / static_cast<double>(i + 1);
  return out;
}

// The likelihood, spelt out.
double dumb_likelihood(const std::vector<CountedBag>& bags, double a, double b) {
  double out = 0;
  for (const CountedBag& bag : bags) {
    const auto n = static_cast<std::uint64_t>(bag.positives), m = bag.rows - n;
    double sum = 0;
    for (std::uint64_t i = 0; i <= n; ++i) {
      if (i > bag.predicted || bag.predicted - i > m) continue;
      const std::uint64_t j = bag.predicted - i;
      sum += choose(n, i) * std::pow(a, i) * std::pow(1 - a, n - i) * choose(m, j) * std::pow(b, j) *
             std::pow(1 - b, m - j);
    }
    out += std::log(sum);
  }
  return out;
}

TEST_CASE("bag_accuracy: the likelihood is that of two binomial counts", "[evaluate][bag_accuracy]") {
  Rng rng(7);
  for (int trial = 0; trial < 10; ++trial) {
    const auto bags = made_bags(rng, 8, 1 + rng.below(12), 0.8, 0.3);
    const double a = 0.05 + 0.9 * rng.uniform(), b = 0.05 + 0.9 * rng.uniform();
    CHECK(log_likelihood(bags, a, b) == Approx(dumb_likelihood(bags, a, b)).epsilon(1e-9));
  }
  // Bags too large to be added up go by the normal distribution; the two meet where one takes over.
  const auto large = made_bags(rng, 5, 64, 0.8, 0.3), larger = made_bags(rng, 5, 65, 0.8, 0.3);
  CHECK(log_likelihood(large, 0.8, 0.3) == Approx(dumb_likelihood(large, 0.8, 0.3)).epsilon(1e-9));
  CHECK(log_likelihood(larger, 0.8, 0.3) == Approx(dumb_likelihood(larger, 0.8, 0.3)).margin(0.3));
}

TEST_CASE("bag_accuracy: no grid point is more likely than the estimate", "[evaluate][bag_accuracy]") {
  Rng rng(8);
  for (int trial = 0; trial < 6; ++trial) {
    const auto bags = made_bags(rng, 30, 3 + rng.below(6), 0.9, 0.25);
    const auto found = estimate_bag_accuracy(bags);
    REQUIRE(found);
    const double best = log_likelihood(bags, found->sensitivity, found->false_positives);
    for (int i = 0; i <= 40; ++i) {
      for (int j = 0; j <= 40; ++j) CHECK(log_likelihood(bags, i / 40.0, j / 40.0) <= best + 1e-4);
    }
    CHECK(found->interval.holds(found->accuracy));
  }
}

TEST_CASE("bag_accuracy: bags of one give the accuracy that labels give", "[evaluate][bag_accuracy][known]") {
  std::vector<CountedBag> bags;
  const auto add = [&](int times, double positives, std::uint64_t predicted) {
    for (int i = 0; i < times; ++i) bags.push_back({1, positives, predicted});
  };
  add(36, 1, 1);
  add(4, 1, 0);
  add(12, 0, 1);
  add(48, 0, 0);
  const auto found = estimate_bag_accuracy(bags);
  REQUIRE(found);
  CHECK(found->accuracy == Approx(0.84).margin(1e-3));
  CHECK(found->sensitivity == Approx(0.9).margin(1e-3));
  CHECK(found->false_positives == Approx(0.2).margin(1e-3));
  // Wilson's interval of 84 in 100 is 0.756 to 0.899.
  CHECK(found->interval.low == Approx(0.756).margin(0.02));
  CHECK(found->interval.high == Approx(0.899).margin(0.02));
}

TEST_CASE("bag_accuracy: the interval holds the truth as often as it says", "[evaluate][bag_accuracy]") {
  Rng rng(9);
  const double a = 0.85, b = 0.2, truth = 0.4 * a + 0.6 * (1 - b);
  for (const std::uint64_t size : {4, 24}) {
    int held = 0;
    double sum = 0;
    constexpr int kTrials = 60;
    for (int trial = 0; trial < kTrials; ++trial) {
      const auto found = estimate_bag_accuracy(made_bags(rng, 400 / size, size, a, b));
      REQUIRE(found);
      held += found->interval.holds(truth) ? 1 : 0;
      sum += found->accuracy;
    }
    INFO("bags of " << size);
    CHECK(held >= 53);  // 57 expected
    CHECK(sum / kTrials == Approx(truth).margin(0.025));
  }
}

TEST_CASE("bag_accuracy: bags that do not tell give nothing", "[evaluate][bag_accuracy]") {
  CHECK_FALSE(estimate_bag_accuracy({}));
  const std::vector<CountedBag> alike(5, CountedBag{4, 2, 2});
  CHECK_FALSE(estimate_bag_accuracy(alike));
  const std::vector<CountedBag> two = {{4, 1, 1}, {4, 3, 3}};
  CHECK_FALSE(estimate_bag_accuracy(two));
}

}  // namespace
}  // namespace bagwise
