// From a file straight to sums per bag: one pass, all cores, memory that does not grow with the rows.
#pragma once

#include <string>

#include "bagwise/bags/grouped_sums.h"
#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"
#include "bagwise/data/read_table.h"

namespace bagwise {

struct ReduceOptions {
  bool moments = false;  // also what scaling needs
  double bound = 0;      // the bound of every row where the table has no delta column
};

Result<GroupedSums> reduce_table(const TableSource& source, const TableOptions& options,
                                 const ReduceOptions& reduce = {}, const Observer& observer = {});

}  // namespace bagwise
