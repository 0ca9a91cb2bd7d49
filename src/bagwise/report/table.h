// A table of text in columns, for people to read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bagwise {

class TextTable {
 public:
  // A title that starts with '>' makes its column flush right (numbers); the mark is not shown.
  explicit TextTable(std::vector<std::string> titles);

  // As many cells as there are titles; each is made printable().
  void add(std::vector<std::string> cells);

  // Titles, a rule, the rows; columns two spaces apart, `indent` spaces before each line, none at its end.
  [[nodiscard]] std::string text(std::size_t indent = 0) const;

  // For other forms of the same table: the cells, titles first, and which columns are flush right.
  [[nodiscard]] const std::vector<std::vector<std::string>>& rows() const { return rows_; }
  [[nodiscard]] const std::vector<bool>& right() const { return right_; }

 private:
  std::vector<std::vector<std::string>> rows_;  // titles first
  std::vector<bool> right_;
};

// A text of unknown origin as it may stand on a terminal: control characters, those that turn the direction
// of text, and bytes that are not UTF-8 as
// "\\x1b"; of a text longer than `most` characters the first ones and "...".
std::string printable(std::string_view text, std::size_t most = std::string_view::npos);
std::string short_name(std::string_view name);  // printable, at most 60 characters

// A number as people read it: a few digits, never more than they can use.
std::string short_number(double value);  // four significant digits
std::string share(double value);         // "0.8431"
std::string count_of(std::uint64_t n, const std::string& one, const std::string& many);  // "1 bag", "20 bags"

}  // namespace bagwise
