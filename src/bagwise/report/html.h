// A page of HTML that stands by itself: text, tables and figures in sections, in one file.
//
// The page has no script and asks nothing of the network; it reads on a phone, in print, and in the dark.
// Whatever is put into it is text and is escaped here; only a figure's SVG is taken as it is (chart.h).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bagwise/report/table.h"

namespace bagwise {

// Text for an element or a quoted attribute of HTML or XML. What is no character of either (control
// characters, bytes that are not UTF-8) is shown as by printable().
std::string escape_markup(std::string_view text);

// A link to `text` itself: data:text/csv with every byte that is not plain as %XX.
std::string data_link(std::string_view text);

struct HtmlCell {
  std::string text;
  bool bold = false;
  std::string hint = {};    // shown when pointed at
  std::string kind = {};    // a class of the page's style: "soft", "good", "bad"; or several
  std::size_t columns = 1;  // that it spans
};

struct HtmlTable {
  std::string caption = {};
  std::vector<std::vector<HtmlCell>> header = {};  // rows of it
  std::vector<std::vector<HtmlCell>> rows = {};
  std::vector<bool> right = {};         // per column: flush right (numbers); those missing are not
  std::size_t row_heads = 1;            // how many cells at the start of a row name it
  std::string csv = {}, csv_name = {};  // the same for programs, to download; empty: none
};
// The same table for a page; a first cell that starts with two spaces stands indented.
HtmlTable html_table(const TextTable& table, std::string caption = "");

struct HtmlFigure {
  std::string svg;  // as chart.h makes it
  std::string caption;
  std::string csv = {}, csv_name = {};  // its data, to download; empty: none
};

enum class HtmlNote { kPlain, kGood, kWarning, kFault };

class HtmlPage {
 public:
  explicit HtmlPage(std::string title, std::string subtitle = "");

  void section(const std::string& title);     // also in the contents at the top
  void subsection(const std::string& title);  // within a section
  void paragraph(const std::string& text);
  void list(const std::vector<std::string>& items);
  void code(const std::string& text);  // lines as they are, say commands
  void note(HtmlNote kind, const std::string& text);
  void table(const HtmlTable& table);
  void figure(const HtmlFigure& figure);

  // The whole page; `footer` is its last line.
  [[nodiscard]] std::string text(const std::string& footer) const;

 private:
  std::string title_, subtitle_, body_;
  std::vector<std::string> sections_;
};

// "Made by bagwise 0.1.0."
std::string made_by();

}  // namespace bagwise
