// FeatureMoments: sum, sum of squares and largest value of each feature over all rows, which scaling needs.
//
// A mergeable statistic as the sums per bag (bag_sums.h) are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bagwise/linalg/compensated.h"
#include "bagwise/linalg/rows.h"

namespace bagwise {

struct FeatureMoments {
  std::uint64_t rows = 0;
  std::vector<CompensatedSum> sum;
  std::vector<CompensatedSum> sum_of_squares;
  std::vector<double> largest;  // largest absolute value

  explicit FeatureMoments(std::size_t features = 0)
      : sum(features), sum_of_squares(features), largest(features, 0.0) {}
  void add_row(std::span<const double> values);
  void add_rows(const DenseView& values);  // to the same bits as one by one
  void add_sparse_row(std::span<const std::int32_t> index, std::span<const double> values);
  void merge(const FeatureMoments& other);
  // The features in other places, as BagSums::replaced() does it.
  [[nodiscard]] FeatureMoments replaced(std::span<const std::uint32_t> to, std::size_t features) const;

  [[nodiscard]] double mean(std::size_t feature) const;
  // Over all rows (divided by their number); not finite where a value is too large to be squared.
  [[nodiscard]] double variance(std::size_t feature) const;
};

}  // namespace bagwise
