// What a table says of itself, before it is read.
#pragma once

#include <optional>
#include <string>

#include "bagwise/data/read_table.h"

namespace bagwise::cli {

// From the first bytes of a file; nothing of a pipe, which can be read only once, nor of what cannot be read.
std::optional<TableSchema> peek_schema(const std::string& path, const TableOptions& options);

}  // namespace bagwise::cli
