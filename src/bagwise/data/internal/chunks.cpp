#include "bagwise/data/internal/chunks.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "bagwise/data/internal/row_ranges.h"

namespace bagwise::internal {
namespace {

constexpr std::size_t kSpare = 64;  // bytes that may be read (not used) behind a chunk

// Looks for the last newline outside quotes as more of a window comes in.
class CutFinder {
 public:
  explicit CutFinder(bool quotes) : quotes_(quotes) {}

  void scan(const char* text, std::size_t from, std::size_t to) {
    while (from < to) {
      const void* quote = quotes_ ? std::memchr(text + from, '"', to - from) : nullptr;
      const std::size_t stop =
          quote == nullptr ? to : static_cast<std::size_t>(static_cast<const char*>(quote) - text);
      if (!inside_) {
        const void* newline = memrchr(text + from, '\n', stop - from);
        if (newline != nullptr) cut_ = static_cast<std::size_t>(static_cast<const char*>(newline) - text) + 1;
      }
      if (quote == nullptr) return;
      inside_ = !inside_;
      from = stop + 1;
    }
  }
  [[nodiscard]] std::size_t cut() const { return cut_; }  // 0 = none yet

 private:
  bool quotes_;
  bool inside_ = false;
  std::size_t cut_ = 0;
};

}  // namespace

Chunks::Chunks(std::unique_ptr<ByteSource> source, Quotes quotes, ChunkSizes sizes, std::uint64_t limit)
    : source_(std::move(source)), quotes_(quotes), sizes_(sizes), limit_(limit) {}

void Chunks::make_room(Chunk& chunk, std::size_t used, std::size_t bytes) {
  if (chunk.capacity >= bytes + kSpare) return;
  auto larger = std::make_unique_for_overwrite<char[]>(bytes + kSpare);
  if (used > 0) std::memcpy(larger.get(), chunk.buffer.get(), used);
  chunk.buffer = std::move(larger);
  chunk.capacity = bytes + kSpare;
}

Result<bool> Chunks::next(Chunk& out, const Waiting& waiting) {
  out = {};
  {
    const std::lock_guard lock(spare_mutex_);
    if (!spare_.empty()) {
      out = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  if (base_ >= limit_) return false;
  std::size_t size = carry_.size();
  std::size_t window = std::max(sizes_.chunk, size);
  make_room(out, 0, window);
  if (size > 0) std::memcpy(out.buffer.get(), carry_.data(), size);
  carry_.clear();

  CutFinder finder(quotes_ == Quotes::kRespect);
  std::size_t scanned = 0, cut = 0;
  out.cut_off = false;
  for (;;) {
    while (size < window && !at_end_) {
      auto got = source_->read(out.buffer.get() + size, window - size, waiting);
      if (!got) return got.error();
      at_end_ = *got == 0;
      size += *got;
    }
    if (size == 0) return false;
    finder.scan(out.buffer.get(), scanned, size);
    scanned = size;
    cut = at_end_ ? size : finder.cut();
    if (cut > 0) {
      // The row that holds the byte before the limit is the last; the pieces begin outside quotes.
      if (limit_ - base_ < cut) {
        bool inside = false;
        cut = first_row_behind({out.buffer.get(), cut}, static_cast<std::size_t>(limit_ - base_ - 1),
                               quotes_ == Quotes::kRespect, inside)
                  .value_or(cut);
      }
      break;
    }
    if (window >= sizes_.longest) {
      out.cut_off = true;
      at_end_ = true;
      cut = size;
      break;
    }
    window = std::min(window * 2, std::max(sizes_.longest, window));
    make_room(out, size, window);
  }
  if (cut < size) carry_.assign(out.buffer.get() + cut, size - cut);
  base_ += cut;
  char* const text = out.buffer.get();
  if (text[cut - 1] != '\n') text[cut++] = '\n';
  // What is behind the chunk is never used, but parsers may load it: it has to have some value.
  std::memset(text + cut, 0, std::min(kSpare / 2, out.capacity - cut));
  out.begin = text;
  out.end = text + cut;
  out.consumed = source_->consumed();
  return true;
}

void Chunks::recycle(Chunk&& chunk) {
  if (chunk.capacity > sizes_.chunk + kSpare) return;  // one long row must not keep its memory
  const std::lock_guard lock(spare_mutex_);
  spare_.push_back(std::move(chunk));
}

}  // namespace bagwise::internal
