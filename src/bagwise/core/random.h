// A seeded generator and its distributions; the same seed gives the same bits on every machine.
//
// <random>'s distributions and std::shuffle differ between libraries and libm differs in the last bits, so
// everything here is made of exactly rounded operations only (+ - * / sqrt and integers).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "bagwise/core/portable_math.h"

namespace bagwise {

// xoshiro256** of Blackman and Vigna (2021), its state filled by splitmix64.
class Rng {
 public:
  using result_type = std::uint64_t;

  explicit Rng(std::uint64_t seed);
  // An independent stream for piece `index` of the work seeded by `seed`.
  Rng(std::uint64_t seed, std::uint64_t index);

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
  result_type operator()();

  double uniform();                          // in [0, 1), 53 bits
  std::uint64_t below(std::uint64_t bound);  // uniform in [0, bound), without bias; bound > 0
  double normal();                           // standard normal, by the inverse distribution function

 private:
  std::array<std::uint64_t, 4> state_{};
};

// The z with P(N(0,1) <= z) = p for p in (0, 1); relative error below 1e-15 (Wichura 1988, AS 241).
double normal_quantile(double p);

template <class T>
void shuffle(std::span<T> items, Rng& rng) {
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], items[static_cast<std::size_t>(rng.below(i))]);
  }
}

}  // namespace bagwise
