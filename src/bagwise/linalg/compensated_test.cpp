#include "bagwise/linalg/compensated.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "bagwise/core/random.h"

namespace {

using bagwise::CompensatedSum;

double total(const std::vector<double>& values) {
  CompensatedSum sum;
  for (const double x : values) sum.add(x);
  return sum.value();
}

}  // namespace

TEST_CASE("compensated: what a plain sum loses is kept", "[linalg][compensated][known]") {
  CHECK(total({}) == 0);
  CHECK(total({1e16, 1, -1e16}) == 1);
  CHECK(total({1, 1e100, 1, -1e100}) == 2);  // Neumaier's example; Kahan's sum gives 0
  std::vector<double> tenths(1000000, 0.1);
  CHECK(total(tenths) == static_cast<double>(1000000 * static_cast<long double>(0.1)));
}

TEST_CASE("compensated: any order, and any way of merging, agree to 1e-14", "[linalg][compensated]") {
  bagwise::Rng rng(1);
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::vector<double> values;
    long double exact = 0;
    for (int i = 0; i < 1000; ++i) {
      values.push_back(std::ldexp(rng.normal(), static_cast<int>(rng.below(30))));
      exact += static_cast<long double>(values.back());
    }
    const double expected = total(values);
    REQUIRE(std::abs(expected - static_cast<double>(exact)) <= 1e-14 * std::abs(expected));
    bagwise::shuffle(std::span<double>(values), rng);
    CHECK(std::abs(total(values) - expected) <= 1e-14 * std::abs(expected));
    std::vector<CompensatedSum> parts(1 + rng.below(7));
    for (const double x : values) parts[rng.below(parts.size())].add(x);
    CompensatedSum merged;
    for (const auto& part : parts) merged.add(part);
    CHECK(std::abs(merged.value() - expected) <= 1e-14 * std::abs(expected));
  }
}
