#include "bagwise/core/portable_math.h"

#include <array>
#include <cassert>
#include <cmath>
#include <limits>

namespace bagwise {
namespace {

constexpr double kLn2High = 6.93147180369123816490e-01;  // its last 20 bits are 0: times an exponent is exact
constexpr double kLn2Low = 1.90821492927058770002e-10;
constexpr double kRadiansPerDegree = 0.017453292519943295769;

}  // namespace

double portable_log(double x) {
  assert(x > 0 && std::isfinite(x));
  int exponent = 0;
  double m = std::frexp(x, &exponent);  // exact: m in [1/2, 1)
  if (m < 0.70710678118654752440) {
    m *= 2;
    --exponent;
  }
  // log(1 + f) = 2 artanh(s) with s = f/(2 + f), |s| <= 0.1716, and 2s = f - f^2/2 + s f^2/2: written so that
  // f, which is exact, dominates. Terms up to s^23 leave less than 1e-18.
  const double f = m - 1;
  const double s = f / (2 + f);
  const double z = s * s;
  double series = 0;
  for (int k = 23; k >= 3; k -= 2) series = (series + 2.0 / k) * z;
  const double half_square = 0.5 * f * f;
  return exponent * kLn2High - ((half_square - (s * (half_square + series) + exponent * kLn2Low)) - f);
}

double portable_exp(double x) {
  assert(!std::isnan(x));
  if (x > 709.8) return std::numeric_limits<double>::infinity();
  if (x < -745.2) return 0;
  // x = k ln 2 + r, |r| <= 0.347; r is held as high - low.
  const double k = std::floor(x * 1.44269504088896340736 + 0.5);
  const double high = x - k * kLn2High;
  const double low = k * kLn2Low;
  const double r = high - low;
  // e^r = 1 + r + r^2 (1/2! + r/3! + ...); terms up to r^14 leave less than 1e-18.
  static constexpr std::array kInverseFactorials = {
      1.0 / 87178291200, 1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
      1.0 / 362880,      1.0 / 40320,      1.0 / 5040,      1.0 / 720,      1.0 / 120,
      1.0 / 24,          1.0 / 6,          1.0 / 2};
  double tail = 0;
  for (const double c : kInverseFactorials) tail = tail * r + c;
  const double curve = tail * r * r;
  const double part = 1 + (high - (low - curve));
  // Two steps, so that the power of two itself never leaves the range of a double.
  const int half = static_cast<int>(k) / 2;
  return std::ldexp(std::ldexp(part, half), static_cast<int>(k) - half);
}

CosineSine portable_cosine_sine(double degrees) {
  assert(degrees >= 0 && degrees <= 90);
  if (degrees > 45) {  // 90 - degrees is exact there
    const CosineSine other = portable_cosine_sine(90 - degrees);
    return {other.sine, other.cosine};
  }
  const double x = degrees * kRadiansPerDegree;
  const double z = x * x;
  double cosine = 0, sine = 0;  // Taylor: x <= 0.786, terms up to x^20 leave less than 1e-19
  for (int n = 20; n >= 2; n -= 2) {
    cosine = -(1 + cosine) * z / (n * (n - 1));
    sine = -(1 + sine) * z / (n * (n + 1));
  }
  return {1 + cosine, x + x * sine};
}

double portable_angle_degrees(double length_of_difference, double length_of_sum) {
  assert(length_of_difference >= 0 && length_of_sum >= 0);
  double low = 0, high = 90;  // bisection on the half angle h: sin h * |a + b| grows past cos h * |a - b|
  if (length_of_difference == 0) return 0;
  if (length_of_sum == 0) return 180;
  for (int i = 0; i < 200; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    const auto [cosine, sine] = portable_cosine_sine(middle);
    (sine * length_of_sum < cosine * length_of_difference ? low : high) = middle;
  }
  return low + high;
}

}  // namespace bagwise
