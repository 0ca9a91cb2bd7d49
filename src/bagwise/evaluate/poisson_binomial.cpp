#include "bagwise/evaluate/poisson_binomial.h"

#include <algorithm>
#include <cmath>

#include "bagwise/evaluate/diagnosis_statistics.h"

namespace bagwise {

PoissonBinomial::PoissonBinomial(std::span<const double> probabilities) : rows_(probabilities.size()) {
  for (const double q : probabilities) {
    mean_ += q;
    variance_ += q * (1 - q);
  }
  if (rows_ > kMostExactRows) return;
  std::vector<double> mass(rows_ + 1, 0.0);
  mass[0] = 1;
  for (std::size_t i = 0; i < rows_; ++i) {
    const double q = probabilities[i];
    for (std::size_t c = i + 1; c > 0; --c) mass[c] = mass[c] * (1 - q) + mass[c - 1] * q;
    mass[0] *= 1 - q;
  }
  below_ = mass;
  above_ = mass;
  for (std::size_t c = 1; c <= rows_; ++c) below_[c] += below_[c - 1];
  for (std::size_t c = rows_; c > 0; --c) above_[c - 1] += above_[c];
}

double PoissonBinomial::at_most(double count) const {
  if (count < 0) return 0;
  if (count >= static_cast<double>(rows_)) return 1;
  const double whole = std::floor(count);
  if (!below_.empty()) return std::min(1.0, below_[static_cast<std::size_t>(whole)]);
  if (variance_ == 0) return whole >= mean_ ? 1 : 0;
  return normal_tail((mean_ - whole - 0.5) / std::sqrt(variance_));
}

double PoissonBinomial::at_least(double count) const {
  if (count <= 0) return 1;
  if (count > static_cast<double>(rows_)) return 0;
  const double whole = std::ceil(count);
  if (!above_.empty()) return std::min(1.0, above_[static_cast<std::size_t>(whole)]);
  if (variance_ == 0) return whole <= mean_ ? 1 : 0;
  return normal_tail((whole - 0.5 - mean_) / std::sqrt(variance_));
}

double PoissonBinomial::two_sided(double count) const {
  // Known counts are p |B| and may miss a whole number by rounding alone.
  const double near = std::round(count);
  if (std::abs(count - near) < 1e-6 * std::max(1.0, count)) count = near;
  return std::min({1.0, 2 * at_most(std::ceil(count)), 2 * at_least(std::floor(count))});
}

PoissonBinomial::Counts PoissonBinomial::interval(double confidence) const {
  const double tail = (1 - confidence) / 2;
  // Both tails change one way with the count, so halving finds where they cross.
  std::uint64_t low = 0, high = rows_;
  for (std::uint64_t from = 0, to = rows_; from <= to;) {
    const std::uint64_t middle = from + (to - from) / 2;
    if (at_most(static_cast<double>(middle)) >= tail) {
      low = middle;
      if (middle == 0) break;
      to = middle - 1;
    } else {
      from = middle + 1;
    }
  }
  for (std::uint64_t from = low, to = rows_; from <= to;) {
    const std::uint64_t middle = from + (to - from) / 2;
    if (at_least(static_cast<double>(middle)) >= tail) {
      high = middle;
      from = middle + 1;
    } else {
      if (middle == 0) break;
      to = middle - 1;
    }
  }
  return {low, std::max(low, high)};
}

}  // namespace bagwise
