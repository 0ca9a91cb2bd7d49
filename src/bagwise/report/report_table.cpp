#include "bagwise/report/report_table.h"

#include <fmt/format.h>

#include <cassert>
#include <cmath>

#include "bagwise/data/write_table.h"
#include "bagwise/report/table.h"

namespace bagwise {
namespace {

// What would be markup, or end a cell, is escaped.
std::string markdown_text(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    if (std::string_view("\\`*_[]<>&#|~").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string full_title(const ReportColumn& column) {
  if (column.group.empty()) return column.title;
  return column.title.empty() ? column.group : fmt::format("{}, {}", column.group, column.title);
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() && &part == parts.data() ? "" : ",") + part;
  return out + "\n";
}

// The headings over columns, and below them their titles.
std::vector<std::vector<HtmlCell>> header_of(const ReportTable& table) {
  std::vector<HtmlCell> groups, titles;
  bool grouped = false;
  for (std::size_t c = table.by_first ? 1 : 0; c < table.columns.size(); ++c) {
    const ReportColumn& column = table.columns[c];
    grouped = grouped || !column.group.empty();
    titles.push_back({.text = column.title, .kind = column.soft ? "soft" : ""});
    if (!groups.empty() && !column.group.empty() && groups.back().text == column.group) {
      ++groups.back().columns;
    } else {
      groups.push_back({.text = column.group});
    }
  }
  if (!grouped) return {titles};
  return {groups, titles};
}

}  // namespace

std::string to_csv(const ReportTable& table) {
  std::vector<std::string> fields;
  for (const ReportColumn& column : table.columns) {
    for (const std::string& field : column.fields) fields.push_back(csv_cell(field));
  }
  std::string out = joined(fields);
  for (const auto& row : table.rows) {
    assert(row.size() == table.columns.size());
    fields.clear();
    for (std::size_t c = 0; c < row.size(); ++c) {
      assert(row[c].fields.size() == table.columns[c].fields.size());
      for (const std::string& field : row[c].fields) fields.push_back(csv_cell(field));
    }
    out += joined(fields);
  }
  return out;
}

std::string to_markdown(const ReportTable& table) {
  std::string out = fmt::format("{}\n\n|", markdown_text(table.title)), rule = "|";
  for (const ReportColumn& column : table.columns) {
    out += fmt::format(" {} |", markdown_text(full_title(column)));
    rule += column.number ? "---:|" : "---|";
  }
  out += "\n" + rule + "\n";
  for (const auto& row : table.rows) {
    out += '|';
    for (const ReportCell& cell : row) {
      const std::string text = markdown_text(cell.text);
      out += cell.bold && !text.empty() ? fmt::format(" **{}** |", text) : fmt::format(" {} |", text);
    }
    out += '\n';
  }
  return out;
}

HtmlTable to_html(const ReportTable& table) {
  const std::size_t first = table.by_first ? 1 : 0;
  HtmlTable out{.caption = table.title,
                .header = header_of(table),
                .row_heads = table.row_heads - first,
                .csv = to_csv(table),
                .csv_name = table.name + ".csv"};
  for (std::size_t c = first; c < table.columns.size(); ++c) out.right.push_back(table.columns[c].number);
  const std::vector<ReportCell>* last = nullptr;
  for (const auto& row : table.rows) {
    if (table.by_first && (last == nullptr || (*last)[0].fields != row[0].fields))
      out.rows.push_back({{.text = row[0].text, .bold = true, .columns = row.size() - 1}});
    last = &row;
    std::vector<HtmlCell> cells;
    for (std::size_t c = first; c < row.size(); ++c) {
      const std::string& kind = row[c].kind;
      cells.push_back({.text = row[c].text,
                       .bold = row[c].bold,
                       .kind = kind.empty() && table.columns[c].soft ? "soft" : kind});
    }
    out.rows.push_back(std::move(cells));
  }
  return out;
}

ReportCell text_cell(const std::string& text) { return {text, {text}}; }

ReportCell named_cell(const std::string& title, const std::string& name) { return {title, {name}}; }

ReportCell count_cell(std::uint64_t count) { return text_cell(fmt::format("{}", count)); }

ReportCell number_cell(const std::optional<double>& value, int decimals) {
  return {value ? fmt::format("{:.{}f}", *value, decimals) : kEnDash, {exact(value)}};
}

ReportCell share_cell(const std::optional<double>& value) {
  return {value ? per_cent(*value) : kEnDash, {exact(value)}};
}

ReportCell mean_cell(const std::optional<double>& mean, const std::optional<double>& spread) {
  if (!mean) return {kEnDash, {"", ""}};
  std::string text = per_cent(*mean);
  if (spread) text += fmt::format(" {} {}", kPlusMinus, per_cent(*spread));
  return {text, {exact(mean), exact(spread)}};
}

ReportCell difference_cell(double mean, const std::optional<double>& error) {
  std::string text = fmt::format("{:+.2f}", 100 * mean);
  if (error) text += fmt::format(" {} {}", kPlusMinus, per_cent(*error));
  return {text, {exact(mean), exact(error)}};
}

ReportCell seconds_cell(const std::optional<double>& value) {
  return {value ? short_number(*value) : kEnDash, {exact(value)}};
}

std::string exact(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; }

std::string per_cent(double share) { return fmt::format("{:.2f}", 100 * share); }

}  // namespace bagwise
