// Finding values that are no finite numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "bagwise/linalg/rows.h"

namespace bagwise {

struct PlaceInRows {
  std::size_t row = 0, column = 0;
  double value = 0;
};

// Whether every value is a finite number.
bool all_finite(std::span<const double> values);

// The first stored value, row by row, that is infinite or not a number; on up to `threads` threads.
std::optional<PlaceInRows> first_not_finite(const RowsView& rows, unsigned threads = 0);

}  // namespace bagwise
