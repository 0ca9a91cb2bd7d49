#include "bagwise/core/sigmoid.h"

#include <catch2/catch.hpp>

namespace bagwise {
namespace {

TEST_CASE("sigmoid: both sides and the logarithm keep their digits far out", "[core][sigmoid]") {
  for (const double z : {-700.0, -40.0, -1.5, 0.0, 1e-9, 3.0, 40.0, 700.0}) {
    CAPTURE(z);
    const auto x = static_cast<long double>(z);
    CHECK(Sigmoid(z).positive == Approx(static_cast<double>(1 / (1 + std::exp(-x)))).epsilon(1e-15));
    CHECK(Sigmoid(z).negative == Approx(static_cast<double>(1 / (1 + std::exp(x)))).epsilon(1e-15));
    CHECK(softplus(z) == Approx(static_cast<double>(std::log1p(std::exp(x)))).epsilon(1e-15));
  }
  CHECK(Sigmoid(1e6).negative == 0);
  CHECK(softplus(1e6) == 1e6);
}

}  // namespace
}  // namespace bagwise
