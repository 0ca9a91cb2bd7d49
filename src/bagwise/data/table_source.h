// TableSource: where the rows of one table are: a file, several files, or parts of files.
//
// Several files are read as if they stood one behind the other. Reading is in read_table.h; what has to be
// known of all of them beforehand is in table_scout.h.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bagwise/core/result.h"

namespace bagwise {

// The end of a file, wherever it is.
inline constexpr std::uint64_t kToEnd = std::numeric_limits<std::uint64_t>::max();

// The rows of a file that begin at a byte within [from, to). The header is always read from the file's start.
// Of a binary table these are the blocks that begin there; a packed file or a pipe is taken whole or not at
// all (from == to).
struct TablePart {
  std::string path;
  std::uint64_t from = 0, to = kToEnd;

  [[nodiscard]] bool whole() const { return from == 0 && to == kToEnd; }
  [[nodiscard]] bool empty() const { return from >= to; }
};

struct TableSource {
  std::vector<TablePart> parts;
  bool share = false;  // of a larger table: that it has no rows is no fault

  TableSource() = default;
  TableSource(std::string path) { parts.push_back({std::move(path)}); }
  TableSource(const char* path) : TableSource(std::string(path)) {}

  // For messages about all of it: the path, or "a.csv and 3 more files".
  [[nodiscard]] std::string name() const;
};

// The files that the patterns name, one table in the order of the patterns. A pattern that is a file's name
// is that file; else *, ? and [...] match, in the order of the names (by bytes). Errors: a pattern that
// matches nothing, and a file that is there twice.
Result<TableSource> find_tables(std::span<const std::string> patterns);

// The part of a table that is for `rank` of `size`: about as many bytes for each, one behind the other, every
// row exactly once. It depends on nothing but the files' names and sizes and the two numbers. There is always
// at least one part, so that a header can be read, though it may be empty.
Result<TableSource> share_of(const TableSource& source, int rank, int size);

}  // namespace bagwise
