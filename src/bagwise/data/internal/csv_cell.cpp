#include "bagwise/data/internal/csv_cell.h"

#include <fmt/format.h>

#include <array>
#include <cassert>

namespace bagwise::internal {
namespace {

// Bytes that end the plain run of an unquoted cell.
constexpr std::array<bool, 256> kSpecial = [] {
  std::array<bool, 256> out{};
  for (const unsigned char c : {',', '\n', '"', '\0'}) out[c] = true;
  return out;
}();

Cell scan_quoted(char* const p, char* const end) {
  Cell cell;
  cell.quoted = true;
  char* from = p + 1;
  char* to = from;
  for (;; ++from) {
    if (from == end) {
      cell.fault = CellFault::kUnclosedQuote;
      cell.stop = p;
      return cell;
    }
    if (*from == '"') {
      if (from[1] != '"' || from + 1 == end) break;
      ++from;
    } else if (*from == '\n') {
      ++cell.newlines;
    } else if (*from == '\0') {
      cell.fault = CellFault::kNul;
      cell.stop = from;
      return cell;
    }
    if (to != from) *to = *from;
    ++to;
  }
  cell.text = {p + 1, static_cast<std::size_t>(to - (p + 1))};
  ++from;
  if (from != end && *from == '\r' && from[1] == '\n') ++from;
  cell.stop = from;
  if (from == end) {
    cell.fault = CellFault::kUnclosedQuote;  // cannot be: the last byte is a newline outside quotes
  } else if (*from != ',' && *from != '\n') {
    cell.fault = CellFault::kTextAfterQuote;
  }
  return cell;
}

}  // namespace

Cell scan_cell(char* const p, char* const end) {
  assert(p < end && end[-1] == '\n');
  if (*p == '"') return scan_quoted(p, end);
  Cell cell;
  char* q = p;
  while (!kSpecial[static_cast<unsigned char>(*q)]) ++q;
  cell.stop = q;
  cell.text = {p, static_cast<std::size_t>(q - p)};
  if (*q == '\n' && cell.text.ends_with('\r')) cell.text.remove_suffix(1);
  if (*q == '\0') cell.fault = CellFault::kNul;
  if (*q == '"') cell.fault = CellFault::kStrayQuote;
  return cell;
}

std::string describe(CellFault fault, bool cut_off) {
  switch (fault) {
    case CellFault::kNone:
      return "";
    case CellFault::kNul:
      return "has a NUL byte; expected text (is this UTF-16 or a binary file?)";
    case CellFault::kStrayQuote:
      return "has a quote within an unquoted cell; expected the whole cell in quotes and quotes in it "
             "doubled";
    case CellFault::kUnclosedQuote:
      return cut_off
                 ? "a quote opens here and the row it is in is longer than 64 MiB; expected a closing quote"
                 : "a quote opens here and is never closed; expected a closing quote";
    case CellFault::kTextAfterQuote:
      return "has text after its closing quote; expected a comma or the end of the line";
  }
  return "";
}

std::string cut(std::string_view text) {
  std::size_t size = 60;
  const bool longer = text.size() > size;
  if (longer) {
    // Not within a character of UTF-8, whose further bytes are 10xxxxxx (at most three).
    for (int i = 0; i < 3 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U; ++i) --size;
  }
  std::string out;
  for (const char c : text.substr(0, size)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return longer ? out + "..." : out;
}

std::string shown(std::string_view text) { return '"' + cut(text) + '"'; }

}  // namespace bagwise::internal
