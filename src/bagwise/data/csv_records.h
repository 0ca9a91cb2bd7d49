// Small CSV files record by record: any columns, all text (plain, .gz or .zst).
//
// For tables that are not instances, such as proportions; instances are read by read_table.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"

namespace bagwise {

// Calls `header` with the names in the first line, then `record` with the cells of every further one and its
// line. All records have as many cells as the header; blank lines are passed over. Errors as for read_table.
// The observer is asked while a pipe has nothing to read.
Result<void> read_csv_records(
    const std::string& path, const std::function<Result<void>(const std::vector<std::string>&)>& header,
    const std::function<Result<void>(const std::vector<std::string_view>&, std::uint64_t line)>& record,
    const Observer& observer = {});

// A cell as a finite number, by the rules of feature cells: blanks around it and a leading + are allowed.
// Errors have a message only: what was found, and what was `expected`.
Result<double> cell_number(std::string_view cell, std::string_view expected);
// The same for whole numbers from 0.
Result<std::uint64_t> cell_count(std::string_view cell, std::string_view expected);

// Text of the input for a message: in quotes, shortened, without control characters; or without quotes.
std::string shown_text(std::string_view text);
std::string cut_text(std::string_view text);

}  // namespace bagwise
