#include "bagwise/core/result.h"

#include <fmt/format.h>

namespace bagwise {
namespace {

// A message may hold names and values of the input: whatever they are, it is one line, and moves no cursor.
std::string one_line(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string Error::text() const {
  std::string out;
  if (!file.empty()) out += line > 0 ? fmt::format("{}:{}: ", file, line) : fmt::format("{}: ", file);
  if (!column.empty()) out += fmt::format("column {}: ", column);
  return one_line(out + message);
}

}  // namespace bagwise
