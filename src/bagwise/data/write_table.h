// Writing instance tables as CSV or SVMlight (by the name's ending; .gz and .zst compress), whole or not at
// all.
#pragma once

#include <string>

#include "bagwise/core/result.h"
#include "bagwise/data/dataset.h"

namespace bagwise {

// Columns in this order: id (if any), bag (if any), label (0/1, if any), delta (if any), then the features.
// Numbers are written in the shortest form that reads back to the same bits.
Result<void> write_table(const std::string& path, const Dataset& table);

// One CSV cell, quoted if it must be.
std::string csv_cell(std::string_view text);

}  // namespace bagwise
