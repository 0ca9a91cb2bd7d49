// The number of positives in a bag whose rows are positive independently, each with its own probability.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bagwise {

// Exact for up to kMostExactRows rows (one pass of n^2/2 products), beyond that a normal distribution of the
// same mean and variance, with a correction for continuity.
class PoissonBinomial {
 public:
  static constexpr std::size_t kMostExactRows = 2048;

  explicit PoissonBinomial(std::span<const double> probabilities);

  [[nodiscard]] double mean() const { return mean_; }
  [[nodiscard]] double variance() const { return variance_; }
  [[nodiscard]] double at_most(double count) const;   // P(X <= count)
  [[nodiscard]] double at_least(double count) const;  // P(X >= count)
  // How surprising a number is that may stand between two counts: twice the smaller tail from the count
  // nearest to the mean's side, at most 1.
  [[nodiscard]] double two_sided(double count) const;
  // The least and the largest count with at least (1 - confidence)/2 at or beyond it on its side.
  struct Counts {
    std::uint64_t low = 0, high = 0;
  };
  [[nodiscard]] Counts interval(double confidence) const;

 private:
  std::size_t rows_;
  double mean_ = 0, variance_ = 0;
  std::vector<double> below_, above_;  // P(X <= i), P(X >= i); empty: too many rows
};

}  // namespace bagwise
