// Chunks: a file cut at line ends into pieces of about one size, fixed by the file's text alone.
//
// Each piece holds whole rows, ends in a newline and lies in a buffer of its own, with some bytes to spare
// behind it so that parsers may look ahead. What a row means is not known here, only that a newline within
// double quotes does not end one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bagwise/core/limits.h"
#include "bagwise/core/result.h"
#include "bagwise/data/internal/byte_source.h"

namespace bagwise::internal {

struct ChunkSizes {
  std::size_t chunk = std::size_t{1} << 20;    // bytes; bounds the memory, about two per thread in flight
  std::size_t longest = limits::kLongestLine;  // a row longer than this is an error
};

struct Chunk {
  std::unique_ptr<char[]> buffer;
  std::size_t capacity = 0;
  char* begin = nullptr;
  char* end = nullptr;         // end[-1] is '\n'
  bool cut_off = false;        // the first row goes on beyond `longest` bytes
  std::uint64_t consumed = 0;  // bytes of the file read so far
};

class Chunks {
 public:
  enum class Quotes { kRespect, kIgnore };

  // Rows that begin at byte `limit` of the source or behind it are left out.
  Chunks(std::unique_ptr<ByteSource> source, Quotes quotes, ChunkSizes sizes,
         std::uint64_t limit = std::numeric_limits<std::uint64_t>::max());

  // The next piece; false at the end. One thread at a time, which `waiting` is asked on.
  Result<bool> next(Chunk& out, const Waiting& waiting = {});
  // Gives a piece's buffer back for later ones. Any thread.
  void recycle(Chunk&& chunk);

  [[nodiscard]] std::uint64_t total() const { return source_->total(); }

 private:
  void make_room(Chunk& chunk, std::size_t used, std::size_t bytes);

  std::unique_ptr<ByteSource> source_;
  Quotes quotes_;
  ChunkSizes sizes_;
  std::uint64_t limit_;
  std::uint64_t base_ = 0;  // where in the source the next piece begins
  std::string carry_;       // the start of a row whose end is in the next piece
  bool at_end_ = false;
  std::mutex spare_mutex_;
  std::vector<Chunk> spare_;
};

}  // namespace bagwise::internal
