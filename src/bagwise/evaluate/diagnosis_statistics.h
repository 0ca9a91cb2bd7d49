// The small statistics that diagnoses are made of: quantiles, tails of distributions, a line through bags.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bagwise {

// The q-quantile of sorted values, linear between neighbours; at least one value, q in [0, 1].
double quantile(std::span<const double> sorted, double q);

// How numbers are spread; the deviation divides by their number.
struct Spread {
  double least = 0, lower_quartile = 0, median = 0, upper_quartile = 0, largest = 0;
  double mean = 0, deviation = 0;
};
Spread spread_of(std::vector<double> values);  // all 0 where there are none

inline constexpr double kConfidence = 0.95;  // of every interval of a diagnosis

struct Interval {
  double low = 0, high = 0;
  [[nodiscard]] bool holds(double value) const { return low <= value && value <= high; }
};
// The central part `confidence` of some draws.
Interval central_interval(std::vector<double> draws, double confidence);

double normal_tail(double z);  // P(N(0,1) > z)
// P(chi-square of `freedom` degrees > x), by Wilson and Hilferty's cube root; error below 0.01 from 2 degrees
// on.
double chi_square_tail(double x, double freedom);
// The t with P(|T| <= t) = confidence for Student's T, by Cornish and Fisher's expansion; within 1 % from 4
// degrees of freedom on, and exact for 1 and 2.
double student_quantile(double confidence, double freedom);

// A straight line through the bags, by least squares with their sizes as weights:
//   value_k = middle + slope (p_k - share) + noise of variance deviation^2 / |B_k|
// With the bags dealt at random the deviation is that of single rows within their class.
struct BagLine {
  double share = 0;         // mean of p over rows
  double middle = 0;        // mean of the values over rows
  double slope = 0;         // from p = 0 to p = 1
  double deviation = 0;     // of single rows about the line
  double error = 0;         // standard error of the slope
  double robust_error = 0;  // the same where bags scatter otherwise than by their sizes (HC3)
  double freedom = 0;       // bags - 2
};
// Bags without rows count for nothing. A slope of 0 where all proportions are equal.
BagLine line_through_bags(std::span<const double> values, std::span<const double> proportions,
                          std::span<const double> sizes);

}  // namespace bagwise
