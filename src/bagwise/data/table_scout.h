// TableScout: what has to be known of a whole table before its rows can be read. Mergeable.
//
// Which features the files have, the values of one-hot columns, the sums behind the means that fill empty
// cells, the width of sparse tables. Where a table is spread over processes each scouts its share, all merge
// what they found in the same order, and settle the options by it: then all read the same features.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"
#include "bagwise/data/read_table.h"
#include "bagwise/data/table_source.h"
#include "bagwise/linalg/compensated.h"

namespace bagwise {

struct TableScout {
  // A column that gives features; of sparse tables none are listed.
  struct Column {
    std::string name;
    std::string place;  // in the first file: "3 (age)"
    bool one_hot = false;
    CompensatedSum sum;                           // with missing = mean: of the cells that are not empty
    std::uint64_t count = 0;                      // how many these are
    std::map<std::string, std::uint64_t> values;  // of a one-hot column, and how often each is there
  };

  std::string file;  // the first that was looked at
  bool sparse = false;
  bool for_model = false;  // a model's features: which of them a file has is its own matter
  // Labels and ids only where they are wanted.
  bool has_groups = false, has_shares = false, has_bounds = false, has_labels = false, has_ids = false;
  std::vector<Column> columns;
  std::uint64_t width = 0;      // of sparse tables: the largest index
  bool looked_at_rows = false;  // or no more than the headers had to be read
  std::uint64_t rows = 0;       // that were looked at

  // Adds what was found in later files. Different features are an error that names file and feature; their
  // order may differ, and stays that of this one.
  Result<void> merge(const TableScout& later);

  [[nodiscard]] std::string to_bytes() const;
  static Result<TableScout> from_bytes(std::string_view bytes, const std::string& what);
};

// Looks at every file: at no more than its header where that is enough, else at every row.
Result<TableScout> scout_table(const TableSource& source, const TableOptions& options,
                               const Observer& observer = {});

// The options with which every part of the table gives the same features: they name what was found.
Result<TableOptions> settled(const TableOptions& options, const TableScout& scout);

}  // namespace bagwise
