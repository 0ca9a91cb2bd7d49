#include "bagwise/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace bagwise {
namespace {

// Characters, not bytes: continuation bytes of UTF-8 take no room.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// The bytes of the character that `text` starts with; 0 if it is a control character or no valid UTF-8.
std::size_t printable_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned>(static_cast<unsigned char>(text[i])) : 0U;
  };
  const unsigned lead = byte(0), next = byte(1);
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7F ? 1 : 0;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool control = lead == 0xC2 && next < 0xA0;
  const bool too_long = (lead == 0xE0 && next < 0xA0) || (lead == 0xF0 && next < 0x90);
  const bool no_character = (lead == 0xED && next >= 0xA0) || (lead == 0xF4 && next >= 0x90);
  // U+061C, U+200E, U+200F, U+202A to U+202E and U+2066 to U+2069 turn the direction of text; U+2028 and
  // U+2029 end lines in scripts; U+FEFF is not seen.
  const unsigned last = byte(2);
  const bool turns =
      (lead == 0xD8 && next == 0x9C) ||
      (lead == 0xE2 && ((next == 0x80 && (last == 0x8E || last == 0x8F || (last >= 0xA8 && last <= 0xAE))) ||
                        (next == 0x81 && last >= 0xA6 && last <= 0xA9))) ||
      (lead == 0xEF && next == 0xBB && last == 0xBF);
  return control || too_long || no_character || turns ? 0 : length;
}

}  // namespace

TextTable::TextTable(std::vector<std::string> titles) {
  for (std::string& title : titles) {
    right_.push_back(title.starts_with('>'));
    if (right_.back()) title.erase(0, 1);
  }
  rows_.push_back(std::move(titles));
}

void TextTable::add(std::vector<std::string> cells) {
  assert(cells.size() == right_.size());
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::string TextTable::text(std::size_t indent) const {
  std::vector<std::size_t> widths(right_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width_of(row[c]));
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string out(indent, ' ');
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::string space(widths[c] - width_of(cells[c]), ' ');
      out += (c == 0 ? "" : "  ") + (right_[c] ? space + cells[c] : cells[c] + space);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out + "\n";
  };
  std::string out = line(rows_[0]);
  std::vector<std::string> rule;
  for (const std::size_t width : widths) rule.emplace_back(width, '-');
  out += line(rule);
  for (std::size_t r = 1; r < rows_.size(); ++r) out += line(rows_[r]);
  return out;
}

std::string printable(std::string_view text, std::size_t most) {
  constexpr std::string_view kMore = "...";
  assert(most > kMore.size());
  std::string out;
  std::size_t width = 0, cut = 0;  // `cut`: how much of `out` leaves room for kMore
  while (!text.empty()) {
    const std::size_t length = printable_length(text);
    const std::string shown = length > 0 ? std::string(text.substr(0, length))
                                         : fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    width += width_of(shown);
    if (width > most) return out.substr(0, cut).append(kMore);
    out += shown;
    if (width <= most - kMore.size()) cut = out.size();
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string short_name(std::string_view name) { return printable(name, 60); }

std::string short_number(double value) { return fmt::format("{:.4g}", value); }
std::string share(double value) { return fmt::format("{:.4f}", value); }
std::string count_of(std::uint64_t n, const std::string& one, const std::string& many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

}  // namespace bagwise
