#include "bagwise/data/internal/row_ranges.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "bagwise/core/random.h"
#include "support/temp_dir.h"

using namespace bagwise;
using namespace bagwise::internal;
using bagwise::test::TempDir;

namespace {

// Byte by byte from the start: where the first row begins at `at` or later, and on which line.
RowStart first_row_by_hand(const std::string& text, std::uint64_t at, bool quotes) {
  RowStart out{0, 1};
  bool inside = false;
  for (const char c : text) {
    if (out.offset >= at && out.offset > 0 && text[out.offset - 1] == '\n' && !inside) break;
    ++out.offset;
    if (c == '"' && quotes) inside = !inside;
    if (c == '\n') ++out.line;
  }
  return out;
}

}  // namespace

TEST_CASE("row_ranges: a row is found as byte by byte, behind quotes and windows", "[data][row_ranges]") {
  const TempDir dir;
  Rng rng(1);
  // Longer than a window, and than what one byte can count; few quotes, many, none, and nothing but newlines.
  for (const std::size_t size : {1UL, 15UL, 40UL, 5000UL, 300000UL}) {
    for (const std::uint64_t quotes_in : {3ULL, 200ULL, 1000000000ULL, 0ULL}) {
      std::string text(size, 'x');
      for (char& c : text) {
        if (quotes_in > 0 && rng.below(quotes_in) == 0) c = '"';
        if (quotes_in == 0 || rng.below(30) == 0) c = '\n';
      }
      const std::string path = dir.file("t.csv");
      std::ofstream(path, std::ios::binary) << text;
      for (int trial = 0; trial < 12; ++trial) {
        const std::uint64_t at = 1 + rng.below(size);
        for (const bool quotes : {false, true}) {
          CAPTURE(size, quotes_in, at, quotes);
          const auto found = find_row(path, at, quotes, {});
          REQUIRE(found.ok());
          const RowStart expected = first_row_by_hand(text, at, quotes);
          CHECK(found->offset == expected.offset);
          CHECK(found->line == expected.line);
        }
      }
    }
  }
}
