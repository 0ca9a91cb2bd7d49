// From chunks of text to folded results: parsed on all threads, folded in the order of the file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"
#include "bagwise/data/internal/chunks.h"
#include "bagwise/data/read_table.h"

namespace bagwise::internal {

// A fault in a chunk: lines count from 0 at the chunk's start.
struct ChunkFault {
  std::string message;
  std::uint64_t line = 0;
  std::string column;
};

struct ParsedChunk {
  std::uint64_t rows = 0, lines = 0;
  std::optional<ChunkFault> fault;                       // nothing behind it was parsed
  std::optional<std::uint64_t> zero_label, minus_label;  // lines of the first label 0 and the first -1
  std::string label_column;                              // for the message where both occur
};

// Knows what rows look like. parse() is called from several threads at once.
class ChunkParser {
 public:
  virtual ~ChunkParser() = default;
  virtual ParsedChunk parse(const Chunk& chunk, RowSink& sink) const = 0;
};

struct PipelineWork {
  std::string file;
  std::string_view phase = "reading";
  unsigned threads = 0;          // 0: one per core
  std::uint64_t first_line = 1;  // of the first chunk
  std::function<std::unique_ptr<RowSink>()> make;
  std::function<Result<void>(std::unique_ptr<RowSink>, const BlockPlace&)> fold;
};

// Runs `first` (if it has bytes) and all further chunks through the parser. Returns the number of rows, or
// the first fault of the file whatever the number of threads. fold and the observer are called on this
// thread.
Result<std::uint64_t> run_pipeline(Chunks& chunks, Chunk first, const ChunkParser& parser,
                                   const PipelineWork& work, const Observer& observer);

}  // namespace bagwise::internal
