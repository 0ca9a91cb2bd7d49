#include "bagwise/core/portable_math.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "bagwise/core/random.h"

namespace {

// Distance from the long double truth, in units of the double's last place there.
double ulps(double got, long double truth) {
  const double rounded = std::abs(static_cast<double>(truth));
  const double unit = rounded == 0
                          ? std::numeric_limits<double>::denorm_min()
                          : std::nextafter(rounded, std::numeric_limits<double>::infinity()) - rounded;
  return static_cast<double>(std::abs(static_cast<long double>(got) - truth) / unit);
}

}  // namespace

TEST_CASE("portable_math: log is right to one ulp from denormals to the largest", "[core][portable_math]") {
  std::vector<double> points = {
      5e-324, 1e-310, 2.2250738585072014e-308,           0.5, 0.70710678118654746, 0.70710678118654757, 1,
      2,      1e308,  std::numeric_limits<double>::max()};
  for (int i = 1; i < 50; ++i) {
    points.push_back(1 + std::ldexp(1.0, -i));
    points.push_back(1 - std::ldexp(1.0, -i));
  }
  bagwise::Rng rng(1);
  for (int i = 0; i < 100000; ++i) {
    const double x = std::bit_cast<double>(rng() >> 1);  // any positive double, any exponent
    if (std::isfinite(x) && x > 0) points.push_back(x);
    points.push_back(0.5 + 1.5 * rng.uniform());
  }
  double worst = 0;
  for (const double x : points)
    worst = std::max(worst, ulps(bagwise::portable_log(x), std::log(static_cast<long double>(x))));
  CAPTURE(worst);
  CHECK(worst < 1);
  CHECK(bagwise::portable_log(1) == 0);
}

TEST_CASE("portable_math: exp is right to one ulp, and ends in 0 and infinity", "[core][portable_math]") {
  bagwise::Rng rng(2);
  double worst = 0;
  for (int i = 0; i < 100000; ++i) {
    for (const double x :
         {-708 + 1417 * rng.uniform(), 2 * rng.uniform() - 1, std::ldexp(rng.uniform(), -30)}) {
      worst = std::max(worst, ulps(bagwise::portable_exp(x), std::exp(static_cast<long double>(x))));
    }
  }
  CAPTURE(worst);
  CHECK(worst < 1);
  CHECK(bagwise::portable_exp(0) == 1);
  CHECK(bagwise::portable_exp(709.7) == Approx(std::exp(709.7)).epsilon(1e-15));
  CHECK(std::isinf(bagwise::portable_exp(710)));
  CHECK(std::isinf(bagwise::portable_exp(1e300)));
  CHECK(bagwise::portable_exp(-746) == 0);
  CHECK(bagwise::portable_exp(-1e300) == 0);
  CHECK(bagwise::portable_exp(-740) > 0);  // a denormal
  CHECK(bagwise::portable_exp(-740) == Approx(std::exp(-740.0)).margin(5e-324));
}

TEST_CASE("portable_math: cosine and sine agree with libm", "[core][portable_math]") {
  const long double radians = 3.14159265358979323846264338327950288L / 180;
  for (int i = 0; i <= 900; ++i) {
    const double degrees = i / 10.0;
    const auto [cosine, sine] = bagwise::portable_cosine_sine(degrees);
    CAPTURE(degrees);
    CHECK(std::abs(cosine - std::cos(degrees * radians)) < 3e-16L);
    CHECK(std::abs(sine - std::sin(degrees * radians)) < 3e-16L);
  }
  CHECK(bagwise::portable_cosine_sine(0).sine == 0);
  CHECK(bagwise::portable_cosine_sine(90).cosine == 0);
  CHECK(bagwise::portable_cosine_sine(90).sine == 1);
}

TEST_CASE("portable_math: the angle comes back, also tiny and nearly straight", "[core][portable_math]") {
  for (const double degrees : {0.0, 1e-9, 0.001, 20.0, 45.0, 90.0, 135.0, 179.999, 180.0}) {
    const auto [cosine, sine] = bagwise::portable_cosine_sine(degrees / 2);
    CHECK(bagwise::portable_angle_degrees(2 * sine, 2 * cosine) == Approx(degrees).epsilon(1e-13));
  }
}
