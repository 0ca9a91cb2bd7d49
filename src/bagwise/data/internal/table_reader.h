// TableReader: an opened table of any format and of any number of files, its schema known, ready to be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"
#include "bagwise/data/internal/table_pipeline.h"
#include "bagwise/data/read_table.h"
#include "bagwise/data/table_source.h"

namespace bagwise::internal {

// What for a file is opened. A whole-table read can do without the number of features of a sparse table
// before its end; a first pass gives what options do not yet say (table_scout.h).
enum class Purpose { kRead, kReadWhole, kScout };

// A file as a Part, whose open() takes these values.
template <class Part, class... Values>
Result<std::shared_ptr<PartReader>> opened_as(const Values&... values) {
  auto out = std::make_shared<Part>();
  if (auto done = out->open(values...); !done) return done.error();
  return std::shared_ptr<PartReader>(std::move(out));
}

// Opens one file; what it is, is seen from its first bytes or its name.
Result<std::shared_ptr<PartReader>> open_part(const TablePart& part, const TableOptions& options,
                                              Purpose purpose, const Waiting& waiting);

// A reader of the pieces of several parts, opened one after the other. `first` is the first part if it is
// open already.
NextPiece pieces_of(const TableSource& source, const TableOptions& options, Purpose purpose,
                    std::shared_ptr<PartReader> first);

// The bytes of all files; 0 where one is a pipe.
std::uint64_t total_bytes(const TableSource& source);

class TableReader {
 public:
  static Result<std::unique_ptr<TableReader>> open(const TableSource& source, const TableOptions& options,
                                                   Purpose purpose, const Observer& observer);

  [[nodiscard]] const TableSchema& schema() const { return schema_; }

  // Reads all rows, once. A table without rows is an error, unless it is a share of one.
  Result<std::uint64_t> read(
      unsigned threads, const std::function<std::unique_ptr<RowSink>()>& make,
      const std::function<Result<void>(std::unique_ptr<RowSink>, const BlockPlace&)>& fold,
      const Observer& observer);

 private:
  TableSource source_;
  TableOptions options_;  // settled
  Purpose purpose_ = Purpose::kRead;
  TableSchema schema_;
  std::shared_ptr<PartReader> first_;
};

}  // namespace bagwise::internal
