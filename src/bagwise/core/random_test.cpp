#include "bagwise/core/random.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

namespace {

using bagwise::Rng;

// The generator once more, straight from the papers: splitmix64 (Steele et al. 2014) fills the state of
// xoshiro256** (Blackman and Vigna 2021). Written with other names and other steps than the library's.
struct ReferenceXoshiro {
  std::uint64_t a, b, c, d;

  explicit ReferenceXoshiro(std::uint64_t seed) {
    std::uint64_t words[4];
    for (int i = 1; i <= 4; ++i) {
      std::uint64_t z = seed + static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15ULL;
      z ^= z >> 30;
      z *= 0xbf58476d1ce4e5b9ULL;
      z ^= z >> 27;
      z *= 0x94d049bb133111ebULL;
      words[i - 1] = z ^ (z >> 31);
    }
    a = words[0], b = words[1], c = words[2], d = words[3];
  }
  static std::uint64_t rotate(std::uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }
  std::uint64_t next() {
    const std::uint64_t out = rotate(b * 5, 7) * 9;
    const std::uint64_t new_c = c ^ a, new_d = d ^ b;
    const std::uint64_t shifted = b << 17;
    b ^= new_c;
    a ^= new_d;
    c = new_c ^ shifted;
    d = rotate(new_d, 45);
    return out;
  }
};

// z with P(N <= z) = p from libm's erf and erfc alone, by bisection in long double: erf near the middle, erfc
// in the lower tail, and by symmetry in the upper one, where 1 - p is exact.
double quantile_by_bisection(double p) {
  if (p > 0.75) return -quantile_by_bisection(1 - p);
  long double low = -40, high = 40;
  for (int i = 0; i < 200; ++i) {
    const long double z = (low + high) / 2, scaled = z / std::sqrt(2.0L);
    const bool below = p > 0.25 ? std::erf(scaled) < 2 * (static_cast<long double>(p) - 0.5L)
                                : std::erfc(-scaled) < 2 * static_cast<long double>(p);
    (below ? low : high) = z;
  }
  return static_cast<double>((low + high) / 2);
}

}  // namespace

TEST_CASE("random: Rng is xoshiro256** seeded by splitmix64", "[core][random][known]") {
  // splitmix64 from 0 begins with e220a8397b1dcdaf: a known answer that the reference here shares nothing
  // with.
  CHECK(ReferenceXoshiro(0).a == 0xe220a8397b1dcdafULL);
  for (const std::uint64_t seed : {0ULL, 1ULL, 42ULL, 0xffffffffffffffffULL}) {
    Rng rng(seed);
    ReferenceXoshiro reference(seed);
    for (int i = 0; i < 1000; ++i) REQUIRE(rng() == reference.next());
  }
}

TEST_CASE("random: streams of one seed differ, and those of other seeds too", "[core][random]") {
  std::set<std::uint64_t> first;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    first.insert(Rng(seed)());
    for (std::uint64_t index = 0; index < 100; ++index) first.insert(Rng(seed, index)());
  }
  CHECK(first.size() == 100 + 100 * 100);
  CHECK(Rng(7, 3)() == Rng(7, 3)());
}

TEST_CASE("random: uniform lies in [0, 1) and is even", "[core][random]") {
  Rng rng(1);
  constexpr int kDraws = 200000, kCells = 64;
  std::array<int, kCells> cells{};
  for (int i = 0; i < kDraws; ++i) {
    const double u = rng.uniform();
    REQUIRE((u >= 0 && u < 1));
    ++cells[static_cast<std::size_t>(u * kCells)];
  }
  double chi_square = 0;
  const double expected = static_cast<double>(kDraws) / kCells;
  for (const int n : cells) chi_square += (n - expected) * (n - expected) / expected;
  CHECK(chi_square < 63 + 5 * std::sqrt(2 * 63.0));
}

TEST_CASE("random: below is unbiased at bounds that do not divide 2^64", "[core][random]") {
  Rng rng(2);
  CHECK(rng.below(1) == 0);
  for (int i = 0; i < 1000; ++i) REQUIRE(rng.below(3) < 3);
  // With this bound a plain remainder would give the lower half of the values too many draws, and a product
  // without rejection would give the multiples of 3 half of them.
  const std::uint64_t bound = 0xC000000000000000ULL;
  constexpr int kDraws = 100000;
  int low = 0, multiples = 0;
  for (int i = 0; i < kDraws; ++i) {
    const std::uint64_t x = rng.below(bound);
    REQUIRE(x < bound);
    if (x < bound / 2) ++low;
    if (x % 3 == 0) ++multiples;
  }
  CHECK(std::abs(multiples - kDraws / 3) < 5 * std::sqrt(kDraws * 2.0 / 9));
  CHECK(std::abs(low - kDraws / 2) < 5 * std::sqrt(kDraws / 4.0));
  std::array<int, 7> counts{};
  for (int i = 0; i < 70000; ++i) ++counts[rng.below(7)];
  for (const int n : counts) CHECK(std::abs(n - 10000) < 5 * std::sqrt(10000.0));
}

TEST_CASE("random: normal draws have the moments of a standard normal", "[core][random]") {
  Rng rng(3);
  constexpr int kDraws = 200000;
  double sum = 0, squares = 0, fourths = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double z = rng.normal();
    REQUIRE(std::isfinite(z));
    sum += z;
    squares += z * z;
    fourths += z * z * z * z;
  }
  CHECK(std::abs(sum / kDraws) < 5 / std::sqrt(kDraws));
  CHECK(std::abs(squares / kDraws - 1) < 5 * std::sqrt(2.0 / kDraws));
  CHECK(std::abs(fourths / kDraws - 3) < 5 * std::sqrt(96.0 / kDraws));
}

TEST_CASE("random: normal_quantile agrees with inverting erfc", "[core][random]") {
  std::vector<double> points = {1e-300, 1e-200, 1e-100, 1e-50, 1e-20, 1e-16,       1e-11, 1.3e-11, 1e-5,
                                0.01,   0.07,   0.0751, 0.25,  0.49,  0.499999999, 0.925, 0.9251,  0.99};
  Rng rng(4);
  for (int i = 0; i < 300; ++i) points.push_back(rng.uniform() + 0x1.0p-54);
  for (int i = 0; i < 300; ++i) points.push_back(std::pow(10.0, -300 * rng.uniform()));
  for (int i = 0; i < 100; ++i) points.push_back(1 - std::pow(10.0, -15.9 * rng.uniform()) / 2);
  points.push_back(1 - 0x1.0p-53);
  for (const double p : points) {
    CAPTURE(p);
    const double expected = quantile_by_bisection(p);
    CHECK(std::abs(bagwise::normal_quantile(p) - expected) <= 1e-14 * std::abs(expected));
  }
  CHECK(bagwise::normal_quantile(0.5) == 0);
  CHECK(bagwise::normal_quantile(0.25) == -bagwise::normal_quantile(0.75));
  CHECK(std::isfinite(bagwise::normal_quantile(5e-324)));
}

TEST_CASE("random: shuffle gives every order its share", "[core][random]") {
  Rng rng(5);
  std::array<int, 27> orders{};
  for (int i = 0; i < 60000; ++i) {
    std::array<int, 3> items = {0, 1, 2};
    bagwise::shuffle(std::span<int>(items), rng);
    ++orders[static_cast<std::size_t>(items[0] * 9 + items[1] * 3 + items[2])];
  }
  CHECK(std::accumulate(orders.begin(), orders.end(), 0) == 60000);
  for (const std::size_t code : {5U, 7U, 11U, 15U, 19U, 21U}) {
    CHECK(std::abs(orders[code] - 10000) < 5 * std::sqrt(60000 * (1.0 / 6) * (5.0 / 6)));
  }
  std::vector<int> none, one = {9};
  bagwise::shuffle(std::span<int>(none), rng);
  bagwise::shuffle(std::span<int>(one), rng);
  CHECK(one[0] == 9);
}
