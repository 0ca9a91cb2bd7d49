#include "bagwise/core/checksum.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "bagwise/core/random.h"

// xxHash as it is compiled for any processor, beside the one that is chosen for this one.
#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace bagwise;

namespace {

std::string random_bytes(Rng& rng, std::size_t size) {
  std::string out(size, '\0');
  for (char& c : out) c = static_cast<char>(rng.below(256));
  return out;
}

}  // namespace

TEST_CASE("checksum: it is XXH3 as published", "[core][checksum][known]") {
  CHECK(checksum_of("") == 0x2d06800538d394c2ULL);
  CHECK(RunningChecksum().value() == 0x2d06800538d394c2ULL);
}

TEST_CASE("checksum: all processors compute the same, at once or bit by bit", "[core][checksum]") {
  Rng rng(1);
  // Each length class of XXH3, and the edges of its stripes and blocks.
  for (const std::size_t size :
       {1, 3, 4, 8, 9, 16, 17, 128, 129, 240, 241, 255, 256, 257, 1023, 1024, 1025, 70000}) {
    CAPTURE(size);
    const std::string bytes = random_bytes(rng, size);
    const std::uint64_t expected = XXH3_64bits(bytes.data(), bytes.size());
    CHECK(checksum_of(bytes) == expected);
    for (int trial = 0; trial < 5; ++trial) {
      RunningChecksum running;
      std::size_t at = 0;
      while (at < size) {
        const std::size_t more = std::min<std::size_t>(rng.below(size / 3 + 2), size - at);
        running.add(std::string_view(bytes).substr(at, more));
        at += more;
      }
      CHECK(running.value() == expected);
    }
    std::string flipped = bytes;
    flipped[size / 2] = static_cast<char>(flipped[size / 2] ^ 1);
    CHECK(checksum_of(flipped) != expected);
  }
}
