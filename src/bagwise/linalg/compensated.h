// Sums that keep twice the precision, so that adding in any order gives the same answer to 1e-14.
#pragma once

#include <cmath>

namespace bagwise {

// A sum as an unevaluated pair high + low (double-double, Knuth's two-sum).
struct CompensatedSum {
  double high = 0;
  double low = 0;

  void add(double x) {
    const double s = high + x;
    const double t = s - high;
    low += (high - (s - t)) + (x - t);
    high = s;
  }
  void add(const CompensatedSum& other) {
    add(other.high);
    low += other.low;
  }
  [[nodiscard]] double value() const { return high + low; }
};

}  // namespace bagwise
