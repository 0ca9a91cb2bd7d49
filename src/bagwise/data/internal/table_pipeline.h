// From chunks of text to folded results: parsed on all threads, folded in the order of the file.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"
#include "bagwise/data/internal/chunks.h"
#include "bagwise/data/read_table.h"

namespace bagwise::internal {

// The line of a fault that is about no line.
inline constexpr std::uint64_t kNoLine = std::numeric_limits<std::uint64_t>::max();

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

// One file of a table, opened: gives its bytes piece by piece, and knows what they mean.
class PartReader : public ChunkParser {
 public:
  // The next piece; false at the end. One thread at a time, which `waiting` is asked on.
  virtual Result<bool> next(Chunk& out, const Waiting& waiting) = 0;
  // Gives a piece back when it is done with. Any thread.
  virtual void recycle(Chunk&& chunk) { static_cast<void>(chunk); }

  std::string file;
  TableSchema schema;
  std::uint64_t first_line = 1;  // of the first piece; known when that was given
  std::uint64_t total = 0;       // bytes; 0 = not known
  bool needs_scout = false;      // the schema is not known before all rows were seen
};

// A piece of a table, and the file it is of.
struct Piece {
  Chunk chunk;
  std::shared_ptr<PartReader> part;
};

// The pieces of a table in order; false at the end.
using NextPiece = std::function<Result<bool>(Piece& out, const Waiting& waiting)>;

struct PipelineWork {
  std::string file;  // what messages call the whole
  std::string_view phase = "reading";
  unsigned threads = 0;     // 0: one per core
  std::uint64_t total = 0;  // bytes of all files; 0 = not known
  std::function<std::unique_ptr<RowSink>()> make;
  std::function<Result<void>(std::unique_ptr<RowSink>, const BlockPlace&)> fold;
};

// Runs all pieces through their parsers. Returns the number of rows, or the first fault of the table whatever
// the number of threads. fold and the observer are called on this thread.
Result<std::uint64_t> run_pipeline(const NextPiece& next, const PipelineWork& work, const Observer& observer);

}  // namespace bagwise::internal
