#include "bagwise/evaluate/poisson_binomial.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "bagwise/core/random.h"

namespace bagwise {
namespace {

// P(X = count) by adding up all outcomes of the rows.
std::vector<double> by_all_outcomes(const std::vector<double>& q) {
  std::vector<double> out(q.size() + 1, 0.0);
  for (std::size_t outcome = 0; outcome < (std::size_t{1} << q.size()); ++outcome) {
    double chance = 1;
    std::size_t count = 0;
    for (std::size_t i = 0; i < q.size(); ++i) {
      const bool positive = ((outcome >> i) & 1) != 0;
      chance *= positive ? q[i] : 1 - q[i];
      count += positive ? 1 : 0;
    }
    out[count] += chance;
  }
  return out;
}

TEST_CASE("poisson_binomial: its tails agree with trying all outcomes", "[evaluate][poisson_binomial]") {
  Rng rng(3);
  for (int trial = 0; trial < 30; ++trial) {
    std::vector<double> q(rng.below(9));
    for (double& one : q) one = trial % 3 == 0 ? std::round(rng.uniform()) : rng.uniform();
    const auto mass = by_all_outcomes(q);
    const PoissonBinomial count(q);
    for (std::size_t c = 0; c <= q.size(); ++c) {
      double below = 0, above = 0;
      for (std::size_t i = 0; i <= q.size(); ++i) (i <= c ? below : above) += mass[i];
      CHECK(count.at_most(static_cast<double>(c)) == Approx(below).margin(1e-12));
      CHECK(count.at_least(static_cast<double>(c)) == Approx(above + mass[c]).margin(1e-12));
    }
    CHECK(count.at_most(-1) == 0);
    CHECK(count.at_least(static_cast<double>(q.size()) + 1) == 0);
    const auto [low, high] = count.interval(0.9);
    CHECK(low <= high);
    CHECK(count.at_most(static_cast<double>(low)) >= 0.05);
    CHECK(count.at_least(static_cast<double>(high)) >= 0.05);
    if (low > 0) CHECK(count.at_most(static_cast<double>(low) - 1) < 0.05);
    if (high < q.size()) CHECK(count.at_least(static_cast<double>(high) + 1) < 0.05);
  }
}

TEST_CASE("poisson_binomial: many rows are nearly normal", "[evaluate][poisson_binomial]") {
  Rng rng(4);
  std::vector<double> q(PoissonBinomial::kMostExactRows);
  for (double& one : q) one = rng.uniform();
  const PoissonBinomial exact(q);
  q.push_back(0);  // one row more, which changes nothing but the way
  const PoissonBinomial normal(q);
  for (const double z : {-2.0, -0.5, 0.0, 1.0, 2.5}) {
    const double count = std::round(exact.mean() + z * std::sqrt(exact.variance()));
    CHECK(normal.at_most(count) == Approx(exact.at_most(count)).margin(1e-3));
    CHECK(normal.at_least(count) == Approx(exact.at_least(count)).margin(1e-3));
  }
  const auto a = exact.interval(0.95), b = normal.interval(0.95);
  CHECK(std::llabs(static_cast<long long>(a.low) - static_cast<long long>(b.low)) <= 1);
  CHECK(std::llabs(static_cast<long long>(a.high) - static_cast<long long>(b.high)) <= 1);
}

TEST_CASE("poisson_binomial: a count off by rounding alone is that count", "[evaluate][poisson_binomial]") {
  const std::vector<double> q(10, 0.3);
  const PoissonBinomial count(q);
  CHECK(count.two_sided(0.7 * 10) == count.two_sided(7));
  CHECK(count.two_sided(3) == 1);
  CHECK(count.two_sided(6.5) >= count.two_sided(7));
}

}  // namespace
}  // namespace bagwise
