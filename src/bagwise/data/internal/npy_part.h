// Reading a NumPy file (.npy) from a memory map: a table of numbers, or records with named fields.
#pragma once

#include <memory>

#include "bagwise/core/result.h"
#include "bagwise/data/internal/table_reader.h"
#include "bagwise/data/read_table.h"
#include "bagwise/data/table_source.h"

namespace bagwise::internal {

Result<std::shared_ptr<PartReader>> open_npy_part(const TablePart& part, const TableOptions& options,
                                                  Purpose purpose);

}  // namespace bagwise::internal
