#include "bagwise/evaluate/diagnosis_statistics.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "bagwise/core/random.h"

namespace bagwise {
namespace {

TEST_CASE("diagnosis_statistics: quantiles lie on the line between neighbours", "[evaluate][diagnosis]") {
  const std::vector<double> five = {1, 2, 4, 8, 16};
  CHECK(quantile(five, 0) == 1);
  CHECK(quantile(five, 0.25) == 2);
  CHECK(quantile(five, 0.5) == 4);
  CHECK(quantile(five, 0.625) == 6);
  CHECK(quantile(five, 1) == 16);
  const Spread s = spread_of({16, 1, 8, 2, 4});
  CHECK(s.least == 1);
  CHECK(s.median == 4);
  CHECK(s.largest == 16);
  CHECK(s.mean == Approx(6.2));
  CHECK(s.deviation == Approx(std::sqrt((5.2 * 5.2 + 4.2 * 4.2 + 2.2 * 2.2 + 1.8 * 1.8 + 9.8 * 9.8) / 5)));
  CHECK(spread_of({}).largest == 0);
}

TEST_CASE("diagnosis_statistics: tails and quantiles are those of the tables",
          "[evaluate][diagnosis][known]") {
  CHECK(normal_tail(1.959964) == Approx(0.025).epsilon(1e-5));
  CHECK(chi_square_tail(3.841, 1) == Approx(0.05).margin(0.01));
  CHECK(chi_square_tail(18.307, 10) == Approx(0.05).margin(0.001));
  CHECK(chi_square_tail(124.342, 100) == Approx(0.05).margin(0.001));
  CHECK(chi_square_tail(0, 5) == 1);
  CHECK(student_quantile(0.95, 1) == Approx(12.706).epsilon(1e-3));
  CHECK(student_quantile(0.95, 2) == Approx(4.303).epsilon(1e-3));
  CHECK(student_quantile(0.95, 4) == Approx(2.776).epsilon(0.01));
  CHECK(student_quantile(0.95, 11) == Approx(2.201).epsilon(1e-3));
  CHECK(student_quantile(0.95, 1e9) == Approx(1.959964).epsilon(1e-5));
}

// Weighted least squares by its normal equations.
TEST_CASE("diagnosis_statistics: the line through bags is that of the normal equations",
          "[evaluate][diagnosis]") {
  Rng rng(5);
  for (int trial = 0; trial < 20; ++trial) {
    const std::size_t n = 3 + rng.below(20);
    std::vector<double> value(n), p(n), size(n);
    double w = 0, wp = 0, wpp = 0, wv = 0, wpv = 0;
    for (std::size_t k = 0; k < n; ++k) {
      value[k] = rng.normal();
      p[k] = rng.uniform();
      size[k] = 1 + static_cast<double>(rng.below(9));
      w += size[k];
      wp += size[k] * p[k];
      wpp += size[k] * p[k] * p[k];
      wv += size[k] * value[k];
      wpv += size[k] * p[k] * value[k];
    }
    const double slope = (w * wpv - wp * wv) / (w * wpp - wp * wp), cut = (wv - slope * wp) / w;
    double squares = 0;
    for (std::size_t k = 0; k < n; ++k) squares += size[k] * std::pow(value[k] - cut - slope * p[k], 2);
    const BagLine line = line_through_bags(value, p, size);
    CHECK(line.slope == Approx(slope).epsilon(1e-9));
    CHECK(line.middle - line.slope * line.share == Approx(cut).margin(1e-9));
    CHECK(line.freedom == static_cast<double>(n - 2));
    CHECK(line.deviation == Approx(std::sqrt(squares / (static_cast<double>(n) - 2))).epsilon(1e-9));
    double robust = 0;
    const double pi = wp / w, spread = wpp - wp * wp / w;
    for (std::size_t k = 0; k < n; ++k) {
      const double pull = size[k] / w + size[k] * (p[k] - pi) * (p[k] - pi) / spread;
      const double miss = (value[k] - cut - slope * p[k]) / std::max(1 - pull, 0.05);
      robust += std::pow(size[k] * (p[k] - pi) * miss / spread, 2);
    }
    CHECK(line.robust_error == Approx(std::sqrt(robust)).epsilon(1e-9));
    CHECK(line.error == Approx(line.deviation / std::sqrt(wpp - wp * wp / w)).epsilon(1e-9));
  }
  const std::vector<double> same = {0.5, 0.5, 0.5};
  CHECK(line_through_bags(same, same, same).slope == 0);
}

}  // namespace
}  // namespace bagwise
