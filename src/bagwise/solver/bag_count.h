// The likelihood of a bag's number of positives where each row is positive by itself, with its own odds.
//
//   q_j  = 1/(1 + exp(-f_j)),   X = number of positives among the bag's rows, each positive with q_j
//   nll  = -log sum_c P(X = c) exp(-(c - n)^2 / (2 s^2))      exact; s = 0: -log P(X = n)
//   nll  = 1/2 log V + (n - M)^2 / (2 V)                      normal form
//   M    = sum_j q_j,  V = sum_j q_j (1 - q_j) + 1/12 + s^2
//
// n is the number observed and s the standard deviation of its error. The slope of the exact form in f_j is
// q_j less the probability that row j is positive given what was observed.
//
// Exact sums are formed forwards and backwards over the rows. Where P(X = n) would underflow, all f_j are
// raised by one number theta first: the odds of rows given the count do not change by that, and
//   P(X = c; f) = P(X = c; f + theta) exp(-theta c) prod_j (1 + exp(f_j + theta)) / (1 + exp(f_j))
//
// Test    bag_count_test.cpp sums over all labelings, and takes differences.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace bagwise {

struct CountSeen {
  double positives = 0;  // n; whole if it is exact
  double deviation = 0;  // s
};

// The number that a share of so many rows tells, with the error of the share.
CountSeen count_seen(double proportion, double noise, std::size_t rows);

// Keeps its working memory from bag to bag: one per thread.
class BagCount {
 public:
  explicit BagCount(std::size_t exact_up_to) : exact_up_to_(exact_up_to) {}

  // nll of a bag whose rows have these f; exact for bags of up to exact_up_to rows. Sets the slopes, one per
  // row, and the variance of the number of positives, sum_j q_j (1 - q_j).
  double operator()(std::span<const double> f, const CountSeen& seen, std::span<double> slope,
                    double& variance);

 private:
  double exact(std::span<const double> f, const CountSeen& seen, std::span<double> slope);
  // The same for f + theta and the weights of counts in weight_, but for the factors that theta brings.
  double sums(std::span<const double> f, double theta, std::span<double> slope);
  double normal(const CountSeen& seen, std::span<double> slope) const;

  std::size_t exact_up_to_;
  std::vector<double> q_, rest_;            // q_j and 1 - q_j
  std::vector<double> turned_;              // -f_j
  std::vector<double> weight_;              // of counts 0 ... top
  std::vector<double> backward_, forward_;  // see sums()
};

}  // namespace bagwise
