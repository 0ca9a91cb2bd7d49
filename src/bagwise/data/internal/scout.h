// The first pass over a CSV table: the values of its one-hot columns, and the means that fill empty cells.
#pragma once

#include <string>

#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"
#include "bagwise/data/internal/chunks.h"
#include "bagwise/data/internal/csv_layout.h"
#include "bagwise/data/read_table.h"

namespace bagwise::internal {

// Reads the table once and completes `layout`: feature names, one-hot values, fill.
Result<void> scout_csv(const std::string& path, const TableOptions& options, CsvLayout& layout,
                       const Observer& observer);

}  // namespace bagwise::internal
