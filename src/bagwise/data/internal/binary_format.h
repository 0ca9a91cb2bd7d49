// The fixed parts of a binary table, as they lie in the file: whole numbers, lowest byte first.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "bagwise/core/checksum.h"

namespace bagwise::internal {

static_assert(std::endian::native == std::endian::little);

inline constexpr std::string_view kBinaryMark =
    "\x89"
    "BWT\r\n\x1a\n";
inline constexpr std::string_view kBinaryEnd = "BWTEND\r\n";
inline constexpr std::uint64_t kBlockMark = 0x4b434f4c42545742;  // "BWTBLOCK"
inline constexpr std::uint64_t kIndexMark = 0x5845444e49545742;  // "BWTINDEX"
inline constexpr std::uint32_t kBinaryVersion = 1;
inline constexpr std::uint64_t kAlignment = 64;

// What a table has beside its features.
enum BinaryFlag : std::uint32_t {
  kSparseFlag = 1,
  kGroupsFlag = 2,
  kSharesFlag = 4,
  kBoundsFlag = 8,
  kLabelsFlag = 16,
  kIdsFlag = 32,
};

struct BinaryHeader {
  char mark[8];
  std::uint32_t version, flags;
  std::uint64_t features, names_bytes;
  std::uint64_t unused[3];
  std::uint64_t check;  // of the 56 bytes before it and of the names
};
static_assert(sizeof(BinaryHeader) == 64);

// Behind it: the main part, the labels, the ids; each padded to kAlignment with zeros.
struct BlockHeader {
  std::uint64_t mark, number, first_row, rows;
  std::uint64_t entries;  // values that are stored
  std::uint64_t groups, groups_bytes, ids_bytes;
  std::uint64_t main_check, labels_check, ids_check;
  std::uint64_t unused[4];
  std::uint64_t check;  // of the 120 bytes before it
};
static_assert(sizeof(BlockHeader) == 128);

struct BinaryTrailer {
  std::uint64_t index_offset, blocks, rows, file_size;
  std::uint64_t index_check;
  std::uint64_t check;  // of the 40 bytes before it
  std::uint64_t unused;
  char mark[8];
};
static_assert(sizeof(BinaryTrailer) == 64);

struct IndexEntry {
  std::uint64_t offset, first_row;
};

constexpr std::uint64_t padded(std::uint64_t bytes, std::uint64_t to) { return (bytes + to - 1) / to * to; }

// Where the sections of a block's main part begin, counted from its own beginning.
struct MainLayout {
  std::uint64_t values = 0, starts = 0, index = 0, shares = 0, bounds = 0, codes = 0, name_sizes = 0,
                names = 0, size = 0;

  // No count may be above 2^40: then nothing overflows.
  MainLayout(std::uint32_t flags, std::uint64_t rows, std::uint64_t entries, std::uint64_t groups,
             std::uint64_t groups_bytes) {
    std::uint64_t at = 0;
    const auto section = [&at](std::uint64_t bytes) {
      const std::uint64_t begin = at;
      at = padded(at + bytes, 8);
      return begin;
    };
    values = section(8 * entries);
    starts = section((flags & kSparseFlag) != 0 ? 8 * (rows + 1) : 0);
    index = section((flags & kSparseFlag) != 0 ? 4 * entries : 0);
    shares = section((flags & kSharesFlag) != 0 ? 8 * rows : 0);
    bounds = section((flags & kBoundsFlag) != 0 ? 8 * rows : 0);
    codes = section((flags & kGroupsFlag) != 0 ? 4 * rows : 0);
    name_sizes = section(4 * groups);
    names = section(groups_bytes);
    size = padded(at, kAlignment);
  }
};

inline std::uint64_t checksum(const void* bytes, std::size_t size) {
  return checksum_of({static_cast<const char*>(bytes), size});
}

}  // namespace bagwise::internal
