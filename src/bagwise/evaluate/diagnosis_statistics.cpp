#include "bagwise/evaluate/diagnosis_statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

#include "bagwise/core/random.h"
#include "bagwise/linalg/compensated.h"

namespace bagwise {

double quantile(std::span<const double> sorted, double q) {
  assert(!sorted.empty());
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  if (below + 1 >= sorted.size()) return sorted.back();
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[below + 1] - sorted[below]);
}

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  CompensatedSum sum, squares;
  for (const double v : values) sum.add(v);
  const double mean = sum.value() / n;
  for (const double v : values) squares.add((v - mean) * (v - mean));
  return {values.front(),
          quantile(values, 0.25),
          quantile(values, 0.5),
          quantile(values, 0.75),
          values.back(),
          mean,
          std::sqrt(squares.value() / n)};
}

Interval central_interval(std::vector<double> draws, double confidence) {
  if (draws.empty()) return {};
  std::sort(draws.begin(), draws.end());
  return {quantile(draws, (1 - confidence) / 2), quantile(draws, (1 + confidence) / 2)};
}

double normal_tail(double z) { return std::erfc(z / std::numbers::sqrt2) / 2; }

double chi_square_tail(double x, double freedom) {
  if (x <= 0 || freedom <= 0) return 1;
  const double scatter = 2 / (9 * freedom);
  return normal_tail((std::cbrt(x / freedom) - (1 - scatter)) / std::sqrt(scatter));
}

double student_quantile(double confidence, double freedom) {
  const double p = (1 + confidence) / 2, v = freedom;
  if (v <= 1) return std::tan(std::numbers::pi * (p - 0.5));
  if (v <= 2) return (2 * p - 1) / std::sqrt(2 * p * (1 - p));
  const double z = normal_quantile(p), s = z * z;
  const double g1 = (s + 1) * z / 4;
  const double g2 = ((5 * s + 16) * s + 3) * z / 96;
  const double g3 = (((3 * s + 19) * s + 17) * s - 15) * z / 384;
  const double g4 = ((((79 * s + 776) * s + 1482) * s - 1920) * s - 945) * z / 92160;
  return z + (g1 + (g2 + (g3 + g4 / v) / v) / v) / v;
}

BagLine line_through_bags(std::span<const double> values, std::span<const double> proportions,
                          std::span<const double> sizes) {
  assert(values.size() == proportions.size() && values.size() == sizes.size());
  BagLine out;
  CompensatedSum rows, positives, total;
  double bags = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    rows.add(sizes[k]);
    positives.add(sizes[k] * proportions[k]);
    total.add(sizes[k] * values[k]);
    bags += sizes[k] > 0 ? 1 : 0;
  }
  if (rows.value() == 0) return out;
  out.share = positives.value() / rows.value();
  out.middle = total.value() / rows.value();
  CompensatedSum spread, along, misses, robust;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double off = proportions[k] - out.share;
    spread.add(sizes[k] * off * off);
    along.add(sizes[k] * off * (values[k] - out.middle));
  }
  const bool differ = spread.value() > 0;
  out.slope = differ ? along.value() / spread.value() : 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double miss = values[k] - out.middle - out.slope * (proportions[k] - out.share);
    misses.add(sizes[k] * miss * miss);
    if (!differ) continue;
    // MacKinnon and White (1985): each residual stands for its own variance, as if the bag had not pulled the
    // line towards itself.
    const double off = proportions[k] - out.share;
    const double pull = sizes[k] / rows.value() + sizes[k] * off * off / spread.value();
    const double part = sizes[k] * off * miss / (std::max(1 - pull, 0.05) * spread.value());
    robust.add(part * part);
  }
  out.robust_error = std::sqrt(robust.value());
  out.freedom = std::max(0.0, bags - 2);
  if (out.freedom > 0) out.deviation = std::sqrt(misses.value() / out.freedom);
  if (differ) out.error = out.deviation / std::sqrt(spread.value());
  return out;
}

}  // namespace bagwise
