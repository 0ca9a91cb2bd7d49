// CSV and SVMlight files, plain or packed, whole or the rows that begin within a range of bytes.
#pragma once

#include <memory>

#include "bagwise/core/result.h"
#include "bagwise/data/internal/byte_source.h"
#include "bagwise/data/internal/csv_layout.h"
#include "bagwise/data/internal/table_pipeline.h"
#include "bagwise/data/internal/table_reader.h"
#include "bagwise/data/read_table.h"
#include "bagwise/data/table_source.h"

namespace bagwise::internal {

Result<std::shared_ptr<PartReader>> open_text_part(const TablePart& part, const TableOptions& options,
                                                   Purpose purpose, const Waiting& waiting);

// A file whose columns are laid out as those of CSV; for the first pass.
class ColumnPart : public PartReader {
 public:
  CsvLayout layout;
};

// For a first pass: every source has a place of its own, one-hot columns give their text.
CsvLayout for_scouting(CsvLayout layout);

}  // namespace bagwise::internal
