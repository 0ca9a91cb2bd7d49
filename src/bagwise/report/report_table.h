// A table of a report as one value: for people as Markdown or in a page, for programs as CSV.
//
// What people read is short, what programs read is exact: a cell has both, and its exact part may be several
// fields (a mean and its deviation) or none (a heading that repeats).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bagwise/report/html.h"

namespace bagwise {

struct ReportColumn {
  std::string title;
  std::vector<std::string> fields;  // names in CSV; as many as each of its cells has
  bool number = true;               // flush right
  std::string group = {};           // a heading over neighbours that have the same
  bool soft = false;                // beside the matter: figures of others
};

struct ReportCell {
  std::string text;
  std::vector<std::string> fields = {};
  bool bold = false;
  std::string kind = {};  // of html.h: "good", "bad"
};

struct ReportTable {
  std::string name;   // of its files, without ending
  std::string title;  // a sentence
  std::vector<ReportColumn> columns;
  std::vector<std::vector<ReportCell>> rows = {};
  std::size_t row_heads = 1;  // how many cells at the start of a row name it
  bool by_first = false;      // in a page, rows of the same first cell stand under it as a heading
};

std::string to_csv(const ReportTable& table);
std::string to_markdown(const ReportTable& table);  // with its title above
HtmlTable to_html(const ReportTable& table);        // with its CSV to download

// Cells of one kind. A number that is not there is an en dash, and an empty field.
ReportCell text_cell(const std::string& text);  // the same for both
ReportCell named_cell(const std::string& title, const std::string& name);
ReportCell count_cell(std::uint64_t count);
ReportCell number_cell(const std::optional<double>& value, int decimals);
// Shares between 0 and 1 per cent with two decimals, their fields as they are.
ReportCell share_cell(const std::optional<double>& value);
ReportCell mean_cell(const std::optional<double>& mean,
                     const std::optional<double>& spread);                    // 75.41 +- 1.23
ReportCell difference_cell(double mean, const std::optional<double>& error);  // with its sign
ReportCell seconds_cell(const std::optional<double>& value);

// The shortest text that reads back to the same number; nothing for none.
std::string exact(const std::optional<double>& value);
std::string per_cent(double share);  // "75.41"

inline constexpr char kEnDash[] = "\xE2\x80\x93";
inline constexpr char kPlusMinus[] = "\xC2\xB1";

}  // namespace bagwise
