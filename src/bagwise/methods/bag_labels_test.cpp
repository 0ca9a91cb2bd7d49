#include "bagwise/methods/bag_labels.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "bagwise/core/random.h"

namespace bagwise {
namespace {

TEST_CASE("bag_labels: no labeling of a bag is better than the one found", "[methods][bag_labels]") {
  Rng rng(1);
  for (int round = 0; round < 400; ++round) {
    const std::size_t n = round % 13;
    std::vector<double> gain(n), cost(n + 1);
    // Whole numbers make ties, also of different m.
    for (double& g : gain) g = round % 2 == 0 ? rng.normal() : static_cast<double>(rng.below(5)) - 2;
    for (double& c : cost) c = round % 3 == 0 ? 0 : static_cast<double>(rng.below(6));
    const std::size_t least = rng.below(n + 1), most = least + rng.below(n - least + 1);
    Labels labels(n);
    const double value = label_bag(
        gain, {least, most}, [&](std::size_t m) { return cost[m]; }, labels);
    double best = std::numeric_limits<double>::infinity();
    for (std::uint32_t set = 0; set < (1U << n); ++set) {
      const auto m = static_cast<std::size_t>(__builtin_popcount(set));
      if (m < least || m > most) continue;
      double candidate = cost[m];
      for (std::size_t j = 0; j < n; ++j) candidate -= (set >> j & 1U) != 0 ? gain[j] : 0;
      best = std::min(best, candidate);
    }
    CHECK(value == Approx(best).margin(1e-12));
    double own = 0;
    std::size_t m = 0;
    for (std::size_t j = 0; j < n; ++j) {
      m += labels[j] > 0 ? 1 : 0;
      own -= labels[j] > 0 ? gain[j] : 0;
    }
    REQUIRE(m >= least);
    REQUIRE(m <= most);
    CHECK(own + cost[m] == Approx(best).margin(1e-12));
  }
}

TEST_CASE("bag_labels: feasible counts are those within epsilon, else the nearest", "[methods][bag_labels]") {
  for (std::size_t n = 0; n <= 12; ++n) {
    for (const double p : {0.0, 0.1, 0.25, 1.0 / 3, 0.5, 0.55, 0.7, 1.0}) {
      for (const double epsilon : {0.0, 0.01, 0.1, 0.25, 0.5, 1.0}) {
        CAPTURE(n, p, epsilon);
        const CountRange range = feasible_counts(n, p, epsilon);
        double nearest = std::numeric_limits<double>::infinity();
        std::vector<bool> within(n + 1);
        for (std::size_t m = 0; m <= n; ++m) {
          const double off = std::abs(static_cast<double>(m) - p * static_cast<double>(n));
          within[m] = off <= epsilon * static_cast<double>(n) + 1e-9;
          nearest = std::min(nearest, off);
        }
        const bool any = std::ranges::find(within, true) != within.end();
        for (std::size_t m = 0; m <= n; ++m) {
          const double off = std::abs(static_cast<double>(m) - p * static_cast<double>(n));
          const bool expected = any ? within[m] : off <= nearest + 1e-9;
          CHECK((m >= range.least && m <= range.most) == expected);
        }
      }
    }
  }
}

}  // namespace
}  // namespace bagwise
