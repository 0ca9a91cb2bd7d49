#include "bagwise/report/html.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>

#include "bagwise/core/random.h"
#include "support/xml_check.h"

namespace bagwise {
namespace {

using test::read_xml;

const std::vector<std::string> kHollow = {"meta"};

std::string random_bytes(Rng& rng) {
  constexpr std::string_view kSpice[] = {"<script>alert(1)</script>",
                                         "\"><img src=x onerror=alert(1)>",
                                         "]]>",
                                         "&amp;",
                                         "<!--",
                                         "\xEF\xBF\xBF",
                                         "\xE2\x80\xAE",
                                         "'"};
  std::string out;
  for (std::uint64_t i = rng.below(12); i > 0; --i) {
    if (rng.below(3) == 0)
      out += kSpice[rng.below(std::size(kSpice))];
    else
      out += static_cast<char>(rng.below(256));
  }
  return out;
}

// What the page should say in place of `text`.
std::string shown(std::string_view text) {
  std::string out = printable(text);
  for (const std::string_view bad : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (std::size_t at; (at = out.find(bad)) != std::string::npos;) out.replace(at, 3, "\xEF\xBF\xBD");
  }
  return out;
}

TEST_CASE("html: any bytes come back out of an element and an attribute", "[report][html]") {
  Rng rng(7);
  for (int i = 0; i < 2000; ++i) {
    const std::string text = random_bytes(rng), escaped = escape_markup(text);
    const auto read = read_xml("<a b=\"" + escaped + "\">x" + escaped + "</a>");
    REQUIRE(read.fault == "");
    REQUIRE(read.elements == std::vector<std::string>{"a"});
    REQUIRE(read.texts == std::vector<std::string>{"x" + shown(text)});
    REQUIRE(read.attributes.size() == 1);
    REQUIRE(read.attributes[0].second == shown(text));
  }
}

TEST_CASE("html: a link to data holds every byte and nothing but plain characters", "[report][html]") {
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  const std::string link = data_link(all), head = "data:text/csv;charset=utf-8,";
  REQUIRE(link.starts_with(head));
  std::string back;
  for (std::size_t i = head.size(); i < link.size(); ++i) {
    REQUIRE((std::isalnum(static_cast<unsigned char>(link[i])) != 0 ||
             std::string("-_.~,%").find(link[i]) != std::string::npos));
    if (link[i] != '%') {
      back += link[i];
    } else {
      back += static_cast<char>(std::stoi(link.substr(i + 1, 2), nullptr, 16));
      i += 2;
    }
  }
  CHECK(back == all);
}

HtmlPage page_of(const std::string& text) {
  HtmlPage page(text, text);
  page.section(text);
  page.subsection(text);
  page.paragraph(text);
  page.list({text, text});
  page.code(text);
  page.note(HtmlNote::kWarning, text);
  page.table({.caption = text,
              .header = {{{.text = text, .columns = 2}}, {{.text = text}, {.text = text}}},
              .rows = {{{.text = text}, {.text = text, .bold = true, .hint = text}}},
              .right = {false, true},
              .csv = text + "x",
              .csv_name = text});
  page.section(text);
  page.figure({.svg = "<svg></svg>\n", .caption = text, .csv = text + "x", .csv_name = text});
  return page;
}

TEST_CASE("html: a page of any bytes has the elements of a page of letters", "[report][html]") {
  const auto plain = read_xml(page_of("letters").text("letters"), kHollow);
  REQUIRE(plain.fault == "");
  Rng rng(11);
  for (int i = 0; i < 300; ++i) {
    std::string text = random_bytes(rng) + "x";
    std::replace(text.begin(), text.end(), '\n', ' ');  // code() has lines
    const auto read = read_xml(page_of(text).text(text), kHollow);
    REQUIRE(read.fault == "");
    REQUIRE(read.elements == plain.elements);
    REQUIRE(read.attributes.size() == plain.attributes.size());
  }
}

TEST_CASE("html: a page has a policy, a language, a way to its sections, and no script", "[report][html]") {
  const std::string text = page_of("x").text(made_by());
  CHECK(text.find("Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
                  "img-src data:\"") != std::string::npos);
  CHECK(text.find("<html lang=\"en-GB\">") != std::string::npos);
  CHECK(text.find("<a href=\"#s2\">") != std::string::npos);
  CHECK(text.find("<h2 id=\"s2\">") != std::string::npos);
  CHECK(text.find("<script") == std::string::npos);
  CHECK(text.find("http:") == std::string::npos);
  CHECK(text.find("Made by bagwise ") != std::string::npos);
}

TEST_CASE("html: cells have scopes, spans and sides", "[report][html]") {
  HtmlPage page("t");
  page.table({.header = {{{.text = "a"}, {.text = "b", .columns = 2}}},
              .rows = {{{.text = "row"}, {.text = "1", .bold = true}, {.text = "2", .kind = "soft"}}},
              .right = {false, true, true}});
  const std::string text = page.text("");
  CHECK(text.find("<th scope=\"col\">a</th><th scope=\"colgroup\" class=\"c\" colspan=\"2\">b</th>") !=
        std::string::npos);
  CHECK(text.find(
            "<th scope=\"row\">row</th><td class=\"r\"><strong>1</strong></td><td class=\"r soft\">2</td>") !=
        std::string::npos);
}

TEST_CASE("html: a table of text keeps its sides and its indents", "[report][html]") {
  TextTable table({"what", ">value"});
  table.add({"all", "1"});
  table.add({"  of it", "2"});
  const HtmlTable out = html_table(table, "caption");
  CHECK(out.right == std::vector<bool>{false, true});
  REQUIRE(out.header.size() == 1);
  CHECK(out.header[0][1].text == "value");
  REQUIRE(out.rows.size() == 2);
  CHECK(out.rows[1][0].text == "of it");
  CHECK(out.rows[1][0].kind == "in");
  CHECK(out.rows[0][0].kind == "");
}

}  // namespace
}  // namespace bagwise
