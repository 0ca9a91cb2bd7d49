// One CSV cell at a time (RFC 4180), out of a buffer whose last byte is a newline.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bagwise::internal {

enum class CellFault {
  kNone,
  kNul,             // a NUL byte
  kStrayQuote,      // a quote within an unquoted cell
  kUnclosedQuote,   // the buffer ends within quotes
  kTextAfterQuote,  // something else than a comma or a line end behind the closing quote
};

struct Cell {
  std::string_view text;       // without quotes
  char* stop = nullptr;        // the comma or newline that ends it; where the fault is, if there is one
  std::uint32_t newlines = 0;  // within quotes
  CellFault fault = CellFault::kNone;
  bool quoted = false;
};

// The cell that starts at `p`. Doubled quotes are undone in place: the buffer is written to.
Cell scan_cell(char* p, char* end);

// What is wrong, for a message ("a NUL byte ...; expected ...").
std::string describe(CellFault fault, bool cut_off);

// Text of the input for a message: shortened, without control characters; `shown` puts it in quotes.
std::string cut(std::string_view text);
std::string shown(std::string_view text);

}  // namespace bagwise::internal
