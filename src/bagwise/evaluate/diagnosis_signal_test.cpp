#include "bagwise/evaluate/diagnosis_signal.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "bagwise/bags/deal.h"
#include "support/bag_problems.h"

namespace bagwise {
namespace {

TEST_CASE("diagnosis_signal: bags of one give the plain correlation", "[evaluate][diagnosis]") {
  Rng rng(1);
  constexpr std::size_t kRows = 200;
  std::vector<double> f, y;
  std::vector<std::uint32_t> bag(kRows);
  std::iota(bag.begin(), bag.end(), 0U);
  for (std::size_t i = 0; i < kRows; ++i) {
    y.push_back(rng.uniform() < 0.3 ? 1 : 0);
    f.push_back(y.back() + rng.normal());
  }
  double mf = 0, my = 0, ff = 0, yy = 0, fy = 0;
  for (std::size_t i = 0; i < kRows; ++i) {
    mf += f[i] / kRows;
    my += y[i] / kRows;
  }
  for (std::size_t i = 0; i < kRows; ++i) {
    ff += (f[i] - mf) * (f[i] - mf);
    yy += (y[i] - my) * (y[i] - my);
    fy += (f[i] - mf) * (y[i] - my);
  }
  const double r = fy / std::sqrt(ff * yy);
  const ClassSignal found = class_signal(f, bag, y);
  CHECK(found.correlation == Approx(r).epsilon(1e-9));
  CHECK(found.error == Approx(std::sqrt((1 - r * r) / kRows)).epsilon(0.1));
  CHECK(found.interval.holds(r));
}

TEST_CASE("diagnosis_signal: its interval holds the rows' correlation", "[evaluate][diagnosis]") {
  Rng rng(2);
  // A score 2 apart between classes, with deviation 1 within: a correlation of 1/sqrt(2).
  int held = 0;
  constexpr int kTrials = 100;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> f, p;
    std::vector<std::uint32_t> bag;
    for (std::uint32_t k = 0; k < 30; ++k) {
      double positives = 0;
      for (int i = 0; i < 10; ++i) {
        const bool positive = rng.below(2) == 1;
        positives += positive ? 1 : 0;
        f.push_back((positive ? 1 : -1) + rng.normal());
        bag.push_back(k);
      }
      p.push_back(positives / 10);
    }
    held += class_signal(f, bag, p).interval.holds(std::sqrt(0.5)) ? 1 : 0;
  }
  CHECK(held >= 90);  // 95 expected, or a little more
}

TEST_CASE("diagnosis_signal: what cannot be known is said so", "[evaluate][diagnosis]") {
  const std::vector<double> f = {1, 2, 3, 4}, alike = {0.5, 0.5, 0.5, 0.5}, two = {0, 1};
  const std::vector<std::uint32_t> bag = {0, 1, 2, 3}, of_two = {0, 0, 1, 1};
  for (const ClassSignal& s : {class_signal(f, bag, alike), class_signal(f, of_two, two)}) {
    CHECK(s.correlation == 0);
    CHECK(s.interval.low == -1);
    CHECK(s.interval.high == 1);
  }
}

TEST_CASE("diagnosis_signal: held-out bags tell classes from noise", "[evaluate][diagnosis]") {
  Rng rng(3);
  BaggedData data = test::random_bags(rng, 80, 4);
  const ReducedBags reduced = reduce(data);
  const std::vector<double> units(4, 1.0);
  Rng first(1), second(1);
  const ClassSignal found = held_out_signal(data, reduced, units, 10, first, 1);
  CHECK(found.interval.low > 0.2);
  CHECK(held_out_signal(data, reduced, units, 10, second, 3).correlation == found.correlation);
  // Proportions that have nothing to do with the rows.
  int spoken = 0;
  for (int trial = 0; trial < 40; ++trial) {
    BaggedData other = test::random_bags(rng, 60, 4);
    shuffle(std::span(other.bags.proportions), rng);
    spoken += held_out_signal(other, reduce(other), units, 10, rng).interval.low > 0 ? 1 : 0;
  }
  CHECK(spoken <= 6);  // 2 expected
}

}  // namespace
}  // namespace bagwise
