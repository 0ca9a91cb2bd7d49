// SvmlightParser: chunks of SVMlight/LIBSVM text to sparse rows.
//
//   row   label [qid:N] index:value index:value ... [# comment]      indices from 1, ascending
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bagwise/core/limits.h"
#include "bagwise/core/result.h"
#include "bagwise/data/internal/table_pipeline.h"
#include "bagwise/data/read_table.h"

namespace bagwise::internal {

// Weights and sums have a place for every index up to the largest: one such array is 128 MB.
using limits::kLargestSvmlightIndex;

struct SvmlightLayout {
  bool groups = false;  // rows have qid:N
  bool want_labels = false;
  bool renumber = false;            // false: index i is feature i - 1
  std::vector<std::int32_t> slots;  // of index i + 1; -1 or beyond the end: passed over
};

class SvmlightParser final : public ChunkParser {
 public:
  explicit SvmlightParser(SvmlightLayout layout) : layout_(std::move(layout)) {}
  ParsedChunk parse(const Chunk& chunk, RowSink& sink) const override;

 private:
  SvmlightLayout layout_;
};

// Whether the first row of this text has a group; nothing if there is no row.
std::optional<bool> first_row_has_group(const Chunk& chunk);

// The feature called "7" is index 7; 0 if the name is not a whole number from 1 up to the largest.
std::int32_t svmlight_index(const std::string& name);

}  // namespace bagwise::internal
