#include "bagwise/methods/scaling.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "bagwise/bags/feature_moments.h"
#include "bagwise/core/random.h"

namespace bagwise {
namespace {

const std::vector<std::string> kNames = {"x", "constant"};

FeatureMoments moments_of(const std::vector<double>& values, double constant) {
  FeatureMoments m(2);
  for (const double v : values) m.add_row(std::vector<double>{v, constant});
  return m;
}

TEST_CASE("scaling: a standard deviation survives a mean of 1e9 times its size", "[methods][scaling]") {
  Rng rng(1);
  std::vector<double> values(500);
  for (double& v : values) v = std::round(rng.normal() * 0x1p20) * 0x1p-20;
  const auto plain = fit_scaling(Scale::kStandard, moments_of(values, 0.1), kNames);
  REQUIRE(plain.ok());
  long double mean = 0, square = 0;
  for (const double v : values) mean += v / 500.0L;
  for (const double v : values) square += (v - mean) * (v - mean) / 500;
  CHECK(1 / plain->factor[0] == Approx(static_cast<double>(std::sqrt(square))).epsilon(1e-13));
  for (const double offset : {1e3, 1e6, 1e9}) {
    std::vector<double> moved = values;
    for (double& v : moved) v += offset;
    const auto scaling = fit_scaling(Scale::kStandard, moments_of(moved, offset / 3), kNames);
    REQUIRE(scaling.ok());
    CAPTURE(offset);
    CHECK(scaling->factor[0] == Approx(plain->factor[0]).epsilon(1e-9));
    CHECK(scaling->shift[0] - offset == Approx(plain->shift[0]).margin(1e-15 * offset));
    CHECK(scaling->factor[1] == 1);  // a constant keeps its unit
  }
}

TEST_CASE("scaling: what cannot be scaled is refused by name or kept as it is", "[methods][scaling]") {
  const auto huge = fit_scaling(Scale::kStandard, moments_of({1e200, -1e200}, 1), kNames);
  REQUIRE_FALSE(huge.ok());
  CHECK_THAT(huge.error().message, Catch::Contains("\"x\"") && Catch::Contains("1e+200"));
  const auto maxabs = fit_scaling(Scale::kMaxabs, moments_of({1e200, -2e200}, 0), kNames);
  REQUIRE(maxabs.ok());
  CHECK(maxabs->factor == std::vector<double>{1 / 2e200, 1});
  CHECK(maxabs->shift == std::vector<double>{0, 0});
  const auto none = fit_scaling(Scale::kNone, FeatureMoments(), kNames);
  REQUIRE(none.ok());
  CHECK(none->factor.empty());
  CHECK_FALSE(fit_scaling(Scale::kStandard, FeatureMoments(), kNames).ok());
}

}  // namespace
}  // namespace bagwise
