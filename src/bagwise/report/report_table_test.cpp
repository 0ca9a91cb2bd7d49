#include "bagwise/report/report_table.h"

#include <catch2/catch.hpp>

namespace bagwise {
namespace {

ReportTable small_table() {
  ReportTable table{.name = "small",
                    .title = "A small | table.",
                    .columns = {{.title = "Data", .fields = {"data"}, .number = false},
                                {.title = "here", .fields = {"a", "a_error"}, .group = "A & B"},
                                {.title = "published", .fields = {"p"}, .group = "A & B", .soft = true}}};
  table.rows.push_back({named_cell("x|y *z*", "x,\"y\""), mean_cell(0.75413, 0.0123), share_cell(0.1 + 0.2)});
  table.rows.push_back({named_cell("<script>", "<script>"), mean_cell({}, {}), share_cell({})});
  table.rows[0][1].bold = true;
  return table;
}

}  // namespace

TEST_CASE("report_table: CSV has every digit, quoted names and empty fields for what is not there",
          "[report][report_table]") {
  CHECK(to_csv(small_table()) ==
        "data,a,a_error,p\n"
        "\"x,\"\"y\"\"\",0.75413,0.0123,0.30000000000000004\n"
        "<script>,,,\n");
}

TEST_CASE("report_table: Markdown escapes what would be markup", "[report][report_table]") {
  CHECK(to_markdown(small_table()) ==
        "A small \\| table.\n\n"
        "| Data | A \\& B, here | A \\& B, published |\n"
        "|---|---:|---:|\n"
        "| x\\|y \\*z\\* | **75.41 \xC2\xB1 1.23** | 30.00 |\n"
        "| \\<script\\> | \xE2\x80\x93 | \xE2\x80\x93 |\n");
}

TEST_CASE("report_table: a page's table spans headings over their columns", "[report][report_table]") {
  const HtmlTable html = to_html(small_table());
  REQUIRE(html.header.size() == 2);
  REQUIRE(html.header[0].size() == 2);
  CHECK(html.header[0][1].columns == 2);
  CHECK(html.header[1].size() == 3);
  CHECK(html.csv == to_csv(small_table()));
  CHECK(html.csv_name == "small.csv");
  CHECK(html.rows[0][1].bold);
  CHECK(html.rows[0][2].kind == "soft");
  CHECK(html.right == std::vector<bool>{false, true, true});
}

TEST_CASE("report_table: in a page rows may stand under what their first cell says",
          "[report][report_table]") {
  ReportTable table = small_table();
  table.row_heads = 2;
  table.by_first = true;
  table.rows.insert(table.rows.begin(), table.rows[0]);
  const HtmlTable html = to_html(table);
  REQUIRE(html.rows.size() == 5);  // two headings
  CHECK(html.rows[0].size() == 1);
  CHECK(html.rows[0][0].text == "x|y *z*");
  CHECK(html.rows[0][0].columns == 2);
  CHECK(html.rows[1].size() == 2);
  CHECK(html.rows[3][0].text == "<script>");
  CHECK(html.header[1].size() == 2);
  CHECK(html.right.size() == 2);
  CHECK(html.row_heads == 1);
  CHECK(html.csv == to_csv(table));
}

TEST_CASE("report_table: cells say the same to people and programs", "[report][report_table]") {
  CHECK(difference_cell(-0.0123, 0.001).text == "-1.23 \xC2\xB1 0.10");
  CHECK(difference_cell(0.0123, 0.001).text == "+1.23 \xC2\xB1 0.10");
  CHECK(difference_cell(0.0123, 0.001).fields == std::vector<std::string>{"0.0123", "0.001"});
  CHECK(mean_cell(0.5, {}).text == "50.00");
  CHECK(mean_cell(0.5, {}).fields == std::vector<std::string>{"0.5", ""});
  CHECK(number_cell(1.966, 2).text == "1.97");
  CHECK(number_cell({}, 2).text == kEnDash);
  CHECK(seconds_cell(0.123456).fields[0] == "0.123456");
  CHECK(count_cell(7).text == "7");
}

}  // namespace bagwise
