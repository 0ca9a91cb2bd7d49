// From a file straight to sums per bag: one pass, all cores, memory that does not grow with the rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bagwise/bags/bag_sums.h"
#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"
#include "bagwise/data/read_table.h"

namespace bagwise {

struct GroupedSums {
  TableSchema schema;
  std::vector<std::string> names;  // bags in order of first appearance
  std::vector<double> shares;      // per bag, from the proportion column; empty = no such column
  BagSums sums;
  FeatureMoments moments;  // only if asked for
  std::uint64_t rows = 0;
};

struct ReduceOptions {
  bool moments = false;  // also what scaling needs
  double bound = 0;      // the bound of every row where the table has no delta column
};

Result<GroupedSums> reduce_table(const std::string& path, const TableOptions& options,
                                 const ReduceOptions& reduce = {}, const Observer& observer = {});

}  // namespace bagwise
