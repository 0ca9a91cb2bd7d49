// The likelihood of a bag's number of positives once more, by plain sums in long double.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "bagwise/solver/bag_count.h"

namespace bagwise::test {

using Real = long double;
using RealVector = std::vector<Real>;

// Minus the log-likelihood of a bag: the probabilities of all counts row by row, or the normal form.
inline Real twin_nll(const RealVector& f, const CountSeen& seen, bool exact) {
  const Real n = seen.positives, s = seen.deviation;
  if (!exact) {
    Real mean = 0, variance = Real(1) / 12 + s * s;
    for (const Real z : f) {
      const Real q = 1 / (1 + std::exp(-z));
      mean += q;
      variance += q * (1 - q);
    }
    return std::log(variance) / 2 + (n - mean) * (n - mean) / (2 * variance);
  }
  RealVector chance = {1};
  for (const Real z : f) {
    const Real q = 1 / (1 + std::exp(-z));
    chance.push_back(0);
    for (std::size_t c = chance.size(); c-- > 0;)
      chance[c] = chance[c] * (1 - q) + (c > 0 ? chance[c - 1] * q : 0);
  }
  Real sum = 0;
  for (std::size_t c = 0; c < chance.size(); ++c) {
    const Real off = static_cast<Real>(c) - n;
    sum += chance[c] * (s > 0 ? std::exp(-off * off / (2 * s * s)) : off == 0 ? Real(1) : Real(0));
  }
  return -std::log(sum);
}

}  // namespace bagwise::test
