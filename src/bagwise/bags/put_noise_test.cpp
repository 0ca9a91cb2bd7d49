#include "bagwise/bags/put_noise.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>

namespace bagwise {
namespace {

ProportionTable even_bags(std::size_t bags) {
  ProportionTable out;
  for (std::size_t k = 0; k < bags; ++k) out.bags[fmt::format("{:05}", k)] = {0.5, 1 + k % 20};
  return out;
}

TEST_CASE("put_noise: errors have the standard deviation that is noted with them", "[bags][put_noise]") {
  constexpr std::size_t kBags = 20000;
  for (const bool private_counts : {false, true}) {
    ProportionTable table = even_bags(kBags);
    Rng rng(3);
    if (private_counts) {
      put_private_noise(table, 0.5, rng);
    } else {
      put_normal_noise(table, 0.25, rng);
    }
    double mean = 0, square = 0, absolute = 0;
    for (const auto& [name, known] : table.bags) {
      const double error = (known.proportion - 0.5) / known.noise(*known.size);
      mean += error / kBags;
      square += error * error / kBags;
      absolute += std::abs(error) / kBags;
    }
    CHECK(std::abs(mean) < 0.03);
    CHECK(square == Approx(1).epsilon(0.05));
    // Mean absolute value in standard deviations: sqrt(2/pi) of a normal error, 1/sqrt(2) of Laplace's.
    CHECK(absolute == Approx(private_counts ? std::sqrt(0.5) : std::sqrt(2 / 3.14159265)).epsilon(0.02));
  }
}

TEST_CASE("put_noise: the same seed gives the same bits", "[bags][put_noise]") {
  for (const bool private_counts : {false, true}) {
    const auto noised = [&](std::uint64_t seed) {
      ProportionTable table = even_bags(5);
      Rng rng(seed);
      if (private_counts) {
        put_private_noise(table, 1, rng);
      } else {
        put_normal_noise(table, 0.1, rng);
      }
      std::vector<double> out;
      for (const auto& [name, known] : table.bags) out.push_back(known.proportion);
      return out;
    };
    CHECK(noised(1) == noised(1));
    CHECK(noised(1) != noised(2));
  }
}

}  // namespace
}  // namespace bagwise
