// BagSums: what the linear methods see of the data: per bag the count, the feature sums and the sum of
// bounds.
//
// A mergeable statistic: sums over blocks, files or machines add up, and because they are compensated the
// order of adding does not matter to 1e-14. It holds no proportions (bagged_data.h) and no labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bagwise/linalg/compensated.h"
#include "bagwise/linalg/rows.h"

namespace bagwise {

class BagSums {
 public:
  BagSums() = default;
  BagSums(std::size_t bags, std::size_t features);

  [[nodiscard]] std::size_t bags() const { return counts_.size(); }
  [[nodiscard]] std::size_t features() const { return features_; }

  // Makes room for more bags (new ones are empty).
  void grow(std::size_t bags);

  void add_row(std::size_t bag, std::span<const double> values, double bound);
  void add_sparse_row(std::size_t bag, std::span<const std::int32_t> index, std::span<const double> values,
                      double bound);

  // Adds bag k of `other` to bag to[k] of this one; both have the same features.
  void merge(const BagSums& other, std::span<const std::uint32_t> to);
  void merge(const BagSums& other);  // bag k to bag k

  [[nodiscard]] std::uint64_t count(std::size_t bag) const { return counts_[bag]; }
  [[nodiscard]] double sum(std::size_t bag, std::size_t feature) const;
  [[nodiscard]] double bound_sum(std::size_t bag) const { return bounds_[bag].value(); }

  // The mean of each bag, one per row; a bag without rows has mean 0.
  [[nodiscard]] DenseRows means() const;
  // The mean bound of a bag's rows.
  [[nodiscard]] double mean_bound(std::size_t bag) const;

  // All of it as plain numbers that can be added entry by entry, and back.
  [[nodiscard]] std::vector<double> pack() const;
  void unpack(std::span<const double> packed);  // as many as pack() gives

  // The bags in another order: bag k of the result is bag order[k] of this.
  [[nodiscard]] BagSums reordered(std::span<const std::uint32_t> order) const;

 private:
  std::size_t features_ = 0;
  std::vector<std::uint64_t> counts_;
  std::vector<double> high_, low_;  // bags x features: the sum is high + low
  std::vector<CompensatedSum> bounds_;
};

// Per feature over all rows: what scaling needs. Mergeable like BagSums.
struct FeatureMoments {
  std::uint64_t rows = 0;
  std::vector<CompensatedSum> sum;
  std::vector<CompensatedSum> sum_of_squares;
  std::vector<double> largest;  // largest absolute value

  explicit FeatureMoments(std::size_t features = 0)
      : sum(features), sum_of_squares(features), largest(features, 0.0) {}
  void add_row(std::span<const double> values);
  void add_sparse_row(std::span<const std::int32_t> index, std::span<const double> values);
  void merge(const FeatureMoments& other);

  [[nodiscard]] double mean(std::size_t feature) const;
  // Over all rows (divided by their number); not finite where a value is too large to be squared.
  [[nodiscard]] double variance(std::size_t feature) const;
};

}  // namespace bagwise
