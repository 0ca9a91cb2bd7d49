#include "bagwise/methods/bag_labels.h"

#include <cmath>

namespace bagwise {

CountRange feasible_counts(std::size_t size, double p, double epsilon) {
  const auto n = static_cast<double>(size);
  // A share that is a whole number of rows up to the rounding of p n and of epsilon counts as one.
  const double slack = 1e-9;
  const double low = std::max(0.0, std::ceil(n * (p - epsilon) - slack));
  const double high = std::min(n, std::floor(n * (p + epsilon) + slack));
  if (low <= high) return {static_cast<std::size_t>(low), static_cast<std::size_t>(high)};
  const double below = std::floor(n * p), part = n * p - below;
  if (std::abs(part - 0.5) <= slack)
    return {static_cast<std::size_t>(below), static_cast<std::size_t>(below) + 1};
  const auto nearest = static_cast<std::size_t>(part < 0.5 ? below : below + 1);
  return {nearest, nearest};
}

}  // namespace bagwise
