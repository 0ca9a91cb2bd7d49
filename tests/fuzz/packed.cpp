// Streams of gzip and zstd: unpacked in pieces of several sizes, and as a table.
#include <algorithm>

#include "bagwise/data/internal/byte_source.h"
#include "bagwise/data/read_table.h"
#include "harness.h"

namespace bagwise::fuzz {
namespace {

constexpr std::size_t kMost = 4 * kMiB;  // of what is unpacked: a few bytes can be gigabytes

struct Unpacked {
  std::string bytes;
  bool failed = false;
};

Unpacked unpack(const std::string& path, std::size_t piece) {
  Unpacked out;
  auto source = internal::ByteSource::open(path);
  if (!source) {
    require_error(source.error());
    out.failed = true;
    return out;
  }
  std::string buffer(piece, '\0');
  while (out.bytes.size() < kMost) {
    const auto got = (*source)->read(buffer.data(), buffer.size());
    if (!got) {
      require_error(got.error());
      out.failed = true;
      return out;
    }
    require(*got <= piece, "no more comes than there is room for");
    if (*got == 0) break;
    out.bytes.append(buffer, 0, *got);
  }
  return out;
}

}  // namespace

// zstd has a window of 128 MiB at most; what is unpacked is passed on in pieces, never kept as a whole. The
// longest line is 64 MiB, of which a harness makes use of no more than kMost.
const Bound kBound{.fixed = 160 * kMiB, .per_byte = 512};

void fuzz_one(std::string_view input) {
  const std::string path = input_file("stream.csv", input);
  const Unpacked once = unpack(path, 64 << 10), again = unpack(path, 7);
  const std::size_t both = std::min({once.bytes.size(), again.bytes.size(), kMost});
  require(std::string_view(once.bytes).substr(0, both) == std::string_view(again.bytes).substr(0, both),
          "pieces of another size give the same bytes");
  if (once.bytes.size() >= kMost) return;
  require(once.failed == again.failed, "pieces of another size end alike");
  std::uint64_t rows = 0;
  const auto schema =
      stream_table(path, {.threads = 1, .block_bytes = 4096}, [&](TableBlock&& block) -> Result<void> {
        rows += block.rows.rows();
        return {};
      });
  if (!schema) return require_error(schema.error());
  require(!once.failed && rows > 0, "a table is read of whole streams only");
}

}  // namespace bagwise::fuzz
