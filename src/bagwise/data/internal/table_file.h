// TableFile: an opened table of either format, its schema known, ready to have its rows read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"
#include "bagwise/data/internal/chunks.h"
#include "bagwise/data/internal/csv_layout.h"
#include "bagwise/data/internal/table_pipeline.h"
#include "bagwise/data/read_table.h"

namespace bagwise::internal {

// What a whole-table read can do without: the number of features of a sparse table before its end.
enum class Width { kNeeded, kNotNeeded };

class TableFile {
 public:
  static Result<std::unique_ptr<TableFile>> open(const std::string& path, const TableOptions& options,
                                                 Width width, const Observer& observer);

  [[nodiscard]] const TableSchema& schema() const { return schema_; }

  // Reads all rows, once. A table without rows is an error.
  Result<std::uint64_t> read(
      unsigned threads, const std::function<std::unique_ptr<RowSink>()>& make,
      const std::function<Result<void>(std::unique_ptr<RowSink>, const BlockPlace&)>& fold,
      const Observer& observer);

 private:
  Result<void> open_csv(const TableOptions& options, const Observer& observer);
  Result<void> open_svmlight(const TableOptions& options, Width width, const Observer& observer);

  std::string path_;
  TableSchema schema_;
  std::unique_ptr<Chunks> chunks_;
  Chunk first_;
  std::uint64_t header_lines_ = 0;
  CsvLayout csv_;
  std::unique_ptr<ChunkParser> parser_;
};

}  // namespace bagwise::internal
