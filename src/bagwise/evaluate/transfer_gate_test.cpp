#include "bagwise/evaluate/transfer_gate.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace bagwise {
namespace {

TEST_CASE("transfer_gate: odds are believed up to exp(1.5) either way", "[evaluate][transfer_gate]") {
  CHECK(share_with_transfer({.log_odds = 0}) == 0.5);
  CHECK(share_with_transfer({.log_odds = std::log(3.0)}) == Approx(0.75));
  CHECK(share_with_transfer({.log_odds = 100}) == Approx(1 / (1 + std::exp(-1.5))));
  CHECK(share_with_transfer({.log_odds = -100}) == Approx(1 / (1 + std::exp(1.5))));
}

TEST_CASE("transfer_gate: each kind has its share, by its own values", "[evaluate][transfer_gate]") {
  const std::vector<double> values = {10, 14, 3, 3, 100};
  const auto shares = gated_shares(values, {true, true, false, false, false}, 0.7, 4);
  REQUIRE(shares.size() == 5);
  const double e = std::exp(-1.0);
  CHECK(shares[0] == Approx(0.3 / (1 + e)));
  CHECK(shares[1] == Approx(0.3 * e / (1 + e)));
  CHECK(shares[2] == Approx(0.35));
  CHECK(shares[3] == Approx(0.35));
  CHECK(shares[4] == 0);
  const double sum = 2 + std::exp(-7 / 4.0) + std::exp(-11 / 4.0);
  for (const bool kind : {false, true}) {
    const auto one = gated_shares(values, std::vector<bool>(5, kind), 0.7, 4);
    CHECK(one[2] == Approx(1 / sum));
    CHECK(one[0] == Approx(std::exp(-7 / 4.0) / sum));
  }
  CHECK(gated_shares({}, {}, 0.7, 4).empty());
}

}  // namespace
}  // namespace bagwise
