// Reading a binary table (binary_table.h), from a memory map, block by block.
#pragma once

#include <memory>

#include "bagwise/core/result.h"
#include "bagwise/data/internal/table_reader.h"
#include "bagwise/data/read_table.h"
#include "bagwise/data/table_source.h"

namespace bagwise::internal {

Result<std::shared_ptr<PartReader>> open_binary_part(const TablePart& part, const TableOptions& options,
                                                     Purpose purpose);

}  // namespace bagwise::internal
