#include "bagwise/solver/bag_count.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "bagwise/core/random.h"

namespace bagwise {
namespace {

struct Counted {
  double nll = 0, variance = 0;
  std::vector<double> slope;
};

Counted count(const std::vector<double>& f, const CountSeen& seen, std::size_t exact_up_to) {
  Counted out;
  out.slope.resize(f.size());
  BagCount bag(exact_up_to);
  out.nll = bag(f, seen, out.slope, out.variance);
  return out;
}
constexpr std::size_t kExact = 1000;

std::vector<double> random_values(std::size_t rows, double spread, Rng& rng) {
  std::vector<double> f(rows);
  for (double& z : f) z = spread * (2 * rng.uniform() - 1);
  return f;
}

// Minus the logarithm of the sum over all labelings, in long double: each has the probability of its rows and
// the weight of its count.
double by_labelings(const std::vector<double>& f, const CountSeen& seen) {
  long double sum = 0;
  for (std::uint32_t labels = 0; labels < (1U << f.size()); ++labels) {
    long double probability = 1;
    int positives = 0;
    for (std::size_t j = 0; j < f.size(); ++j) {
      const bool positive = (labels >> j) & 1U;
      probability /= 1 + std::exp(static_cast<long double>(positive ? -f[j] : f[j]));
      positives += positive ? 1 : 0;
    }
    const long double off = positives - static_cast<long double>(seen.positives);
    const long double s = seen.deviation;
    if (s == 0 ? off == 0 : true) sum += probability * (s == 0 ? 1 : std::exp(-off * off / (2 * s * s)));
  }
  return static_cast<double>(-std::log(sum));
}

// The largest difference between the slopes and central differences of nll.
double slope_error(std::vector<double> f, const CountSeen& seen, std::size_t exact_up_to) {
  const Counted at = count(f, seen, exact_up_to);
  double worst = 0;
  for (std::size_t j = 0; j < f.size(); ++j) {
    constexpr double kStep = 1e-4;
    const double middle = f[j];
    f[j] = middle + kStep;
    const double up = count(f, seen, exact_up_to).nll;
    f[j] = middle - kStep;
    const double down = count(f, seen, exact_up_to).nll;
    f[j] = middle;
    worst = std::max(worst, std::abs(at.slope[j] - (up - down) / (2 * kStep)));
  }
  return worst;
}

TEST_CASE("bag_count: the exact form is the sum over all labelings", "[solver][bag_count]") {
  Rng rng(1);
  for (std::size_t rows = 1; rows <= 12; ++rows) {
    for (std::size_t positives = 0; positives <= rows; ++positives) {
      for (const double spread : {0.5, 4.0, 40.0}) {
        const auto f = random_values(rows, spread, rng);
        for (const double noise : {0.0, 0.3, 2.0}) {
          const CountSeen seen{static_cast<double>(positives) + (noise > 0 ? 0.2 : 0.0), noise};
          const double expected = by_labelings(f, seen);
          CHECK(count(f, seen, kExact).nll == Approx(expected).epsilon(1e-12).margin(1e-12));
        }
      }
    }
  }
}

TEST_CASE("bag_count: slopes are the derivatives of both forms", "[solver][bag_count]") {
  Rng rng(2);
  for (std::size_t rows = 1; rows <= 20; ++rows) {
    const auto positives = static_cast<double>(rng.below(rows + 1));
    for (const double noise : {0.0, 0.7}) {
      for (const std::size_t exact_up_to : {kExact, std::size_t{0}}) {
        const auto f = random_values(rows, 3, rng);
        CHECK(slope_error(f, {positives, noise}, exact_up_to) < 1e-6);
      }
    }
  }
}

TEST_CASE("bag_count: numbers that are all but impossible keep their digits", "[solver][bag_count]") {
  // Every row is positive with probability exp(-f) up to far below the last digit: n of them are so with
  // binomial(rows, n) exp(-n f).
  for (const double f : {100.0, 500.0, 700.0}) {
    const std::vector<double> low(6, -f);
    CHECK(count(low, {2, 0}, kExact).nll == Approx(2 * f - std::log(15)).epsilon(1e-13));
    for (const double s : count(low, {2, 0}, kExact).slope) CHECK(s == Approx(-2.0 / 6).epsilon(1e-12));
    const std::vector<double> high(6, f);
    CHECK(count(high, {5, 0}, kExact).nll == Approx(f - std::log(6)).epsilon(1e-13));
  }
  // With noise, a count nearby is likelier than that seen: c has weight exp(-60 c - (2 - c)^2 / (2 s^2)).
  const Counted noisy = count(std::vector<double>(6, -60.0), {2, 0.1}, kExact);
  CHECK(noisy.nll == Approx(110 - std::log(6 + 15 * std::exp(-10))).epsilon(1e-12));
  CHECK(slope_error(std::vector<double>(6, -300.0), {2, 0.1}, kExact) < 1e-6);
  CHECK(slope_error({-800, 5, 900, -3, 700, 2}, {1, 0}, kExact) < 1e-6);
}

TEST_CASE("bag_count: a bag of many rows has finite values whatever its scores", "[solver][bag_count]") {
  Rng rng(3);
  for (const std::size_t rows : {64UL, 1000UL}) {
    for (const double spread : {1e-3, 1.0, 30.0, 1e3, 1e6}) {
      for (const double share : {0.0, 0.01, 0.5, 1.0}) {
        for (const std::size_t exact_up_to : {kExact, std::size_t{0}}) {
          const auto f = random_values(rows, spread, rng);
          const Counted at = count(f, {std::round(share * static_cast<double>(rows)), 0}, exact_up_to);
          CHECK(std::isfinite(at.nll));
          for (const double s : at.slope) REQUIRE(std::isfinite(s));
        }
      }
    }
  }
}

TEST_CASE("bag_count: slopes of the exact form add up to the surprise of the number", "[solver][bag_count]") {
  // sum_j q_j less the number, as the odds given the count add up to the count.
  Rng rng(4);
  for (int trial = 0; trial < 50; ++trial) {
    const std::size_t rows = 1 + rng.below(40);
    const auto positives = static_cast<double>(rng.below(rows + 1));
    const auto f = random_values(rows, trial % 2 == 0 ? 3 : 300, rng);
    const Counted at = count(f, {positives, 0}, kExact);
    double mean = 0, sum = 0;
    for (std::size_t j = 0; j < rows; ++j) {
      mean += 1 / (1 + std::exp(-f[j]));
      sum += at.slope[j];
    }
    CHECK(sum == Approx(mean - positives).margin(1e-9));
  }
}

TEST_CASE("bag_count: labels turned round change the signs alone", "[solver][bag_count]") {
  Rng rng(5);
  for (int trial = 0; trial < 50; ++trial) {
    const std::size_t rows = 1 + rng.below(30);
    const auto positives = static_cast<double>(rng.below(rows + 1));
    const std::size_t exact_up_to = trial % 2 == 0 ? kExact : 0;
    auto f = random_values(rows, 5, rng);
    const Counted at = count(f, {positives, 0}, exact_up_to);
    for (double& z : f) z = -z;
    const Counted other = count(f, {static_cast<double>(rows) - positives, 0}, exact_up_to);
    CHECK(other.nll == Approx(at.nll).epsilon(1e-10));
    for (std::size_t j = 0; j < rows; ++j) CHECK(other.slope[j] == Approx(-at.slope[j]).margin(1e-10));
  }
}

TEST_CASE("bag_count: the normal form comes near the exact one as bags grow", "[solver][bag_count]") {
  Rng rng(6);
  double before = std::numeric_limits<double>::infinity();
  for (const std::size_t rows : {8UL, 64UL, 512UL}) {
    double worst = 0;
    for (int trial = 0; trial < 20; ++trial) {
      const auto f = random_values(rows, 2, rng);
      double mean = 0;
      for (const double z : f) mean += 1 / (1 + std::exp(-z));
      const CountSeen seen{std::round(mean), 0};
      const Counted exact = count(f, seen, kExact), normal = count(f, seen, 0);
      const double constant = 0.5 * std::log(2 * 3.14159265358979);
      worst = std::max(worst, std::abs(exact.nll - normal.nll - constant));
    }
    CHECK(worst < before);
    before = worst;
  }
  CHECK(before < 0.02);
}

TEST_CASE("bag_count: a share tells a whole number unless it is noisy", "[solver][bag_count]") {
  CHECK(count_seen(0.333, 0, 3).positives == 1);
  CHECK(count_seen(1, 0, 7).positives == 7);
  CHECK(count_seen(0.333, 0.1, 3).positives == Approx(0.999));
  CHECK(count_seen(0.333, 0.1, 3).deviation == Approx(0.3));
}

}  // namespace
}  // namespace bagwise
