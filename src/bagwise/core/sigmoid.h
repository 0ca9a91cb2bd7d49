// The logistic function, without overflow and without cancellation.
#pragma once

#include <algorithm>
#include <cmath>

namespace bagwise {

// 1/(1 + exp(-z)) and 1 less it, each with all its digits.
struct Sigmoid {
  double positive, negative;

  explicit Sigmoid(double z) {
    const double e = std::exp(-std::abs(z)), large = 1 / (1 + e), small = e / (1 + e);
    positive = z >= 0 ? large : small;
    negative = z >= 0 ? small : large;
  }
};

// log(1 + exp(z)); softplus(-z) is minus the logarithm of the sigmoid.
inline double softplus(double z) { return std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z))); }

}  // namespace bagwise
