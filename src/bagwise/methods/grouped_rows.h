// The rows of a task with those of each bag together, in an order that does not depend on the input's.
//
// Methods that label rows start from this: a bag is a range of rows, and the same rows in any other order, in
// a dense or a sparse table, give the same computation to the last bit.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/methods/model.h"

namespace bagwise {

struct GroupedRows {
  BaggedData data;                     // as scaled, without bounds
  std::vector<std::size_t> bag_start;  // where each bag's rows begin, and the end of the last

  [[nodiscard]] RowsView rows() const { return data.features.view(); }
  [[nodiscard]] std::span<const double> proportions() const { return data.bags.proportions; }
  [[nodiscard]] std::size_t bags() const { return bag_start.size() - 1; }
  [[nodiscard]] std::size_t size(std::size_t bag) const { return bag_start[bag + 1] - bag_start[bag]; }
};

// By bag, the bags by name, and within a bag by the rows' values: ascending in the first feature in which two
// rows differ.
GroupedRows group_rows(const BaggedData& data, const Scaling& scaling);

}  // namespace bagwise
