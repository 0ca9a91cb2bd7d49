// The binary table (.bw): rows that are used where they lie in the file, with a checksum for every block.
//
// docs/guide/files.md lays the format down byte by byte. Writing is here; all readers of read_table.h take
// such a file where they take CSV.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bagwise/core/atomic_file.h"
#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"
#include "bagwise/data/dataset.h"
#include "bagwise/data/read_table.h"
#include "bagwise/data/table_source.h"

namespace bagwise {

// A binary table in the making, whole or not at all.
class BinaryTableWriter {
 public:
  // `schema` says which columns there are; all blocks must have them.
  static Result<BinaryTableWriter> create(const std::string& path, const TableSchema& schema);

  // Appends rows; of sparse ones the index must be below the number of features. Values must be finite.
  Result<void> add(const Dataset& rows);
  Result<void> commit();

  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  [[nodiscard]] std::uint64_t blocks() const { return offsets_.size(); }
  [[nodiscard]] std::uint64_t bytes() const { return offset_; }

 private:
  BinaryTableWriter(AtomicFile file, TableSchema schema);
  Result<void> write(const std::string& bytes);
  Result<void> write_block(const Dataset& rows, std::size_t from, std::size_t to);

  AtomicFile file_;
  std::string path_;
  TableSchema schema_;
  std::uint64_t offset_ = 0, rows_ = 0;
  std::vector<std::uint64_t> offsets_, first_rows_;
};

// What a conversion came to.
struct Converted {
  TableSchema schema;
  std::uint64_t rows = 0, blocks = 0, bytes = 0;
};

// How much to read at a time for blocks of a good size: the names of a block's bags are looked up once per
// block, which with many rows costs little for each.
inline constexpr std::size_t kConvertBytes = std::size_t{4} << 20;

// The rows of any table into a binary one, in constant memory. What is read at a time (options.block_bytes)
// becomes a block, or several.
Result<Converted> convert_table(const TableSource& source, const std::string& path,
                                const TableOptions& options, const Observer& observer = {});

}  // namespace bagwise
