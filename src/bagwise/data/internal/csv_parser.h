// CsvParser: chunks of CSV text to rows, by a layout.
#pragma once

#include <string_view>

#include "bagwise/data/internal/csv_layout.h"
#include "bagwise/data/internal/table_pipeline.h"

namespace bagwise::internal {

// The sink of a first pass also gets the text of one-hot columns (empty cells are not told).
class ScoutSink : public RowSink {
 public:
  virtual void add_text(std::size_t one_hot, std::string_view text) = 0;
};

class CsvParser final : public ChunkParser {
 public:
  explicit CsvParser(const CsvLayout& layout) : layout_(layout) {}
  ParsedChunk parse(const Chunk& chunk, RowSink& sink) const override;

 private:
  const CsvLayout& layout_;
};

}  // namespace bagwise::internal
