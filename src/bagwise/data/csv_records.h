// Small CSV files record by record: any columns, all text (plain, .gz or .zst).
//
// For tables that are not instances, such as proportions; instances are read by read_table.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bagwise/core/result.h"

namespace bagwise {

// Calls `header` with the names in the first line, then `record` with the cells of every further one and its
// line. All records have as many cells as the header; blank lines are passed over. Errors as for read_table.
Result<void> read_csv_records(
    const std::string& path, const std::function<Result<void>(const std::vector<std::string>&)>& header,
    const std::function<Result<void>(const std::vector<std::string_view>&, std::uint64_t line)>& record);

}  // namespace bagwise
