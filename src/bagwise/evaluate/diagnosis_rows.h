// What is wrong with single rows and columns before anything is learnt from them: copies, constants, scales.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/bags/feature_moments.h"
#include "bagwise/linalg/rows.h"

namespace bagwise {

// 128 bits that stand for a row, whatever its place and whether it is stored dense or sparse: equal rows have
// equal marks, and among a billion different rows the chance that any two share one is below 1e-20.
using RowMark = std::pair<std::uint64_t, std::uint64_t>;
std::vector<RowMark> row_marks(const RowsView& rows, unsigned threads = 0);

// Rows that are equal in every feature. A stored 0, a 0 left out and -0 are the same.
struct Duplicates {
  std::uint64_t copies = 0;        // rows less distinct rows
  std::uint64_t groups = 0;        // distinct rows that occur more than once
  std::uint64_t rows_in_bags = 0;  // rows with an equal one in another bag
};
Duplicates find_duplicates(const RowsView& rows, std::span<const std::uint32_t> bag_of_row,
                           unsigned threads = 0);

// How many of `rows` occur among `others`, which have the same columns.
std::uint64_t count_shared_rows(const RowsView& rows, const RowsView& others, unsigned threads = 0);

// The columns that have one value in all rows.
std::vector<std::size_t> constant_columns(const RowsView& rows);

// How unlike the units of the features are: those that are constant are passed over.
struct FeatureScales {
  double median = 0;        // of the standard deviations
  double largest = 0;       // of them
  std::size_t feature = 0;  // that has it
  double smallest = 0;
  // So unlike that a method without scaling hears the largest alone: 30 times the median.
  [[nodiscard]] bool unlike() const { return median > 0 && largest > 30 * median; }
};
FeatureScales feature_scales(const FeatureMoments& moments);

}  // namespace bagwise
