// What must hold of every table that was read, whatever its format; shared by the harnesses of tables.
#pragma once

#include <string>

#include "bagwise/data/dataset.h"
#include "bagwise/data/read_table.h"

namespace bagwise::fuzz {

// That sizes agree, codes and indices are in range, and numbers are finite and in their ranges.
void require_table(const Dataset& table);

// All that a table holds, to the bit; of sums of two tables that are the same, the same text.
std::string contents(const Dataset& table);

// Reads a file whole, in small blocks, as a stream and in three shares: each must come to the same. Returns
// whether it could be read.
bool read_every_way(const std::string& path, const TableOptions& options);

}  // namespace bagwise::fuzz
