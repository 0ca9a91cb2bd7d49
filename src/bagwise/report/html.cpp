#include "bagwise/report/html.h"

#include <fmt/format.h>

#include <algorithm>

#include "bagwise/core/version.h"

namespace bagwise {
namespace {

// No script, no network: nothing but what stands in the page.
constexpr std::string_view kPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

// The figures bring their own colours (chart.h). Contrast is at least 4.5 in both schemes.
constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark;--ink:#1f2328;--soft:#59636e;--paper:#fff;--box:#f6f8fa;--rule:#d1d9e0;--link:#0757b0;
--good:#0f6b3a;--warn:#7a4b00;--bad:#b3151d}
@media screen and (prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#a3adb8;--paper:#0f1318;--box:#181d24;
--rule:#363d47;--link:#6cb1ff;--good:#57c785;--warn:#e0a63c;--bad:#ff8a84}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0 auto;padding:1.5rem 1rem 3rem;max-width:74rem;color:var(--ink);background:var(--paper);
font:1rem/1.5 system-ui,"Segoe UI","Helvetica Neue",Arial,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.75rem;line-height:1.2;margin:0 0 .3rem}
h2{font-size:1.3rem;margin:2.5rem 0 .6rem;padding-bottom:.2rem;border-bottom:1px solid var(--rule)}
h3{font-size:1.05rem;margin:1.6rem 0 .4rem}
p,ul,pre{margin:.6rem 0}
p,li{max-width:48rem}
a{color:var(--link)}
.subtitle,footer,figcaption,caption{color:var(--soft)}
nav ul{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1.2rem}
.scroll{overflow-x:auto;margin:.8rem 0}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums;overflow-wrap:normal}
caption{text-align:left;padding:0 0 .4rem;position:sticky;left:0;max-width:calc(100vw - 2rem)}
th,td{padding:.25rem .5rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--rule)}
th{font-weight:600}
tbody th{font-weight:400;min-width:6rem;overflow-wrap:break-word}
tbody th:not(.r){min-width:6rem}
thead th{border-bottom:2px solid var(--rule);vertical-align:bottom}
.r{text-align:right}
td.r{white-space:nowrap}
.c{text-align:center}
.in{padding-left:1.6rem}
.soft{color:var(--soft)}.good{color:var(--good)}.bad{color:var(--bad)}
figure{margin:1.2rem 0;padding:.8rem;border:1px solid var(--rule);border-radius:6px}
figure .scroll{margin:0}
figure svg{display:block;width:100%;height:auto;min-width:28rem;max-width:52rem;margin:0 auto}
figcaption{font-size:.9rem;margin-top:.5rem}
pre{overflow-x:auto;padding:.6rem .8rem;background:var(--box);border-radius:6px;font-size:.85rem}
.note{max-width:none;padding:.5rem .8rem;background:var(--box);border-left:4px solid var(--rule)}
.note.good{border-color:var(--good)}.note.warning{border-color:var(--warn)}.note.fault{border-color:var(--bad)}
.note.good b{color:var(--good)}.note.warning b{color:var(--warn)}.note.fault b{color:var(--bad)}
.note{color:var(--ink)}
.download{font-size:.85rem;margin:.3rem 0}
footer{margin-top:3rem;font-size:.85rem}
@media print{@page{margin:15mm}
body{max-width:none;padding:0;font-size:10pt}
nav,.download{display:none}
.scroll,pre{overflow:visible}
pre{white-space:pre-wrap}
table{font-size:8.5pt}
th,td{padding:.15rem .35rem}
tr,figure,.note{break-inside:avoid}
h2,h3,caption{break-after:avoid}
figure{border:none;padding:0}
figure svg{min-width:0}
a{color:inherit;text-decoration:none}}
)";

std::string attribute(std::string_view name, std::string_view value) {
  return value.empty() ? "" : fmt::format(" {}=\"{}\"", name, escape_markup(value));
}

std::string download(const std::string& csv, const std::string& name, std::string_view what) {
  if (csv.empty()) return "";
  return fmt::format("<p class=\"download\"><a href=\"{}\" download=\"{}\">{} (CSV)</a></p>\n",
                     escape_markup(data_link(csv)), escape_markup(name), what);
}

std::string cell_text(const HtmlCell& cell) {
  const std::string text = escape_markup(cell.text);
  return cell.bold ? fmt::format("<strong>{}</strong>", text) : text;
}

// One row; `heads` of its cells are headings, of columns or of the row.
std::string row_text(const std::vector<HtmlCell>& cells, const std::vector<bool>& right, std::size_t heads,
                     bool of_columns) {
  std::string out = "<tr>";
  std::size_t column = 0;
  for (const HtmlCell& cell : cells) {
    std::string kind = cell.columns > 1                         ? of_columns ? "c" : ""
                       : column < right.size() && right[column] ? "r"
                                                                : "";
    if (!cell.kind.empty()) kind += (kind.empty() ? "" : " ") + cell.kind;
    const std::string span = cell.columns > 1 ? fmt::format("{}", cell.columns) : "";
    const bool head = column < heads;
    const std::string_view scope = !head              ? ""
                                   : !of_columns      ? cell.columns > 1 ? "rowgroup" : "row"
                                   : cell.columns > 1 ? "colgroup"
                                                      : "col";
    out += fmt::format("<{0}{1}{2}{3}{4}>{5}</{0}>", head ? "th" : "td", attribute("scope", scope),
                       attribute("class", kind), attribute("colspan", span), attribute("title", cell.hint),
                       cell_text(cell));
    column += cell.columns;
  }
  return out + "</tr>\n";
}

// A box that scrolls by itself can be reached and scrolled with keys.
std::string in_box(const std::string& inner, const std::string& label) {
  return fmt::format("<div class=\"scroll\" role=\"region\" tabindex=\"0\"{}>\n{}</div>\n",
                     attribute("aria-label", label.empty() ? "table" : label), inner);
}

}  // namespace

std::string escape_markup(std::string_view text) {
  std::string out;
  const std::string shown = printable(text);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    switch (shown[i]) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += shown[i];
    }
    // U+FFFE and U+FFFF are no characters of XML: U+FFFD in their place.
    if (out.size() >= 3 && (out.ends_with("\xEF\xBF\xBE") || out.ends_with("\xEF\xBF\xBF")))
      out.back() = '\xBD';
  }
  return out;
}

std::string data_link(std::string_view text) {
  std::string out = "data:text/csv;charset=utf-8,";
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       std::string_view("-_.~,").find(c) != std::string_view::npos;
    if (plain)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

HtmlTable html_table(const TextTable& table, std::string caption) {
  HtmlTable out{.caption = std::move(caption), .right = table.right()};
  for (std::size_t r = 0; r < table.rows().size(); ++r) {
    std::vector<HtmlCell> cells;
    for (const std::string& text : table.rows()[r]) {
      const bool indented = r > 0 && cells.empty() && text.starts_with("  ");
      cells.push_back({.text = indented ? text.substr(2) : text, .kind = indented ? "in" : ""});
    }
    (r == 0 ? out.header : out.rows).push_back(std::move(cells));
  }
  return out;
}

HtmlPage::HtmlPage(std::string title, std::string subtitle)
    : title_(std::move(title)), subtitle_(std::move(subtitle)) {}

void HtmlPage::section(const std::string& title) {
  sections_.push_back(title);
  body_ += fmt::format("<h2 id=\"s{}\">{}</h2>\n", sections_.size(), escape_markup(title));
}

void HtmlPage::subsection(const std::string& title) {
  body_ += fmt::format("<h3>{}</h3>\n", escape_markup(title));
}

void HtmlPage::paragraph(const std::string& text) {
  body_ += fmt::format("<p>{}</p>\n", escape_markup(text));
}

void HtmlPage::list(const std::vector<std::string>& items) {
  body_ += "<ul>\n";
  for (const std::string& item : items) body_ += fmt::format("<li>{}</li>\n", escape_markup(item));
  body_ += "</ul>\n";
}

void HtmlPage::code(const std::string& text) {
  std::string lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines += escape_markup(std::string_view(text).substr(at, end - at)) + "\n";
    at = end + 1;
  }
  body_ += fmt::format("<pre><code>{}</code></pre>\n", lines);
}

void HtmlPage::note(HtmlNote kind, const std::string& text) {
  struct Look {
    std::string_view style, word;
  };
  const Look look = kind == HtmlNote::kGood      ? Look{" good", ""}
                    : kind == HtmlNote::kWarning ? Look{" warning", "<b>Warning:</b> "}
                    : kind == HtmlNote::kFault   ? Look{" fault", "<b>Fault:</b> "}
                                                 : Look{"", ""};
  body_ += fmt::format("<p class=\"note{}\">{}{}</p>\n", look.style, look.word, escape_markup(text));
}

void HtmlPage::table(const HtmlTable& table) {
  std::string inner = "<table>\n";
  if (!table.caption.empty()) inner += fmt::format("<caption>{}</caption>\n", escape_markup(table.caption));
  if (!table.header.empty()) {
    inner += "<thead>\n";
    for (const auto& row : table.header) inner += row_text(row, table.right, std::string::npos, true);
    inner += "</thead>\n";
  }
  inner += "<tbody>\n";
  for (const auto& row : table.rows) inner += row_text(row, table.right, table.row_heads, false);
  inner += "</tbody>\n</table>\n";
  body_ += in_box(inner, table.caption) + download(table.csv, table.csv_name, "Download this table");
}

void HtmlPage::figure(const HtmlFigure& figure) {
  body_ +=
      fmt::format("<figure>\n{}<figcaption>{}</figcaption>\n{}</figure>\n", in_box(figure.svg, "figure"),
                  escape_markup(figure.caption), download(figure.csv, figure.csv_name, "Download the data"));
}

std::string HtmlPage::text(const std::string& footer) const {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en-GB\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"referrer\" "
      "content=\"no-referrer\">\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n"
      "<header>\n<h1>{}</h1>\n",
      kPolicy, escape_markup(title_), kStyle, escape_markup(title_));
  if (!subtitle_.empty()) out += fmt::format("<p class=\"subtitle\">{}</p>\n", escape_markup(subtitle_));
  out += "</header>\n";
  if (sections_.size() > 1) {
    out += "<nav aria-label=\"Contents\">\n<ul>\n";
    for (std::size_t i = 0; i < sections_.size(); ++i)
      out += fmt::format("<li><a href=\"#s{}\">{}</a></li>\n", i + 1, escape_markup(sections_[i]));
    out += "</ul>\n</nav>\n";
  }
  return out + fmt::format("<main>\n{}</main>\n<footer><p>{}</p></footer>\n</body>\n</html>\n", body_,
                           escape_markup(footer));
}

std::string made_by() { return fmt::format("Made by bagwise {}.", kVersion); }

}  // namespace bagwise
