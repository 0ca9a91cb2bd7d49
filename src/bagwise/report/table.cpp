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

std::string short_number(double value) { return fmt::format("{:.4g}", value); }
std::string share(double value) { return fmt::format("{:.4f}", value); }
std::string count_of(std::uint64_t n, const std::string& one, const std::string& many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

}  // namespace bagwise
