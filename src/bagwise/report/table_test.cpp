#include "bagwise/report/table.h"

#include <catch2/catch.hpp>

namespace bagwise {

TEST_CASE("table: columns are as wide as their widest cell, numbers flush right", "[report][table]") {
  TextTable table({"name", ">value"});
  table.add({"a", "1"});
  table.add({"longer", "12345678"});
  CHECK(table.text() ==
        "name       value\n"
        "------  --------\n"
        "a              1\n"
        "longer  12345678\n");
}

TEST_CASE("table: letters beyond ASCII take one column and lines end without spaces", "[report][table]") {
  TextTable table({"name", "note"});
  table.add({"\xC3\xA9t\xC3\xA9", ""});
  table.add({"abc", "x"});
  CHECK(table.text(2) ==
        "  name  note\n"
        "  ----  ----\n"
        "  \xC3\xA9t\xC3\xA9\n"
        "  abc   x\n");
}

TEST_CASE("table: control characters and bytes that are no text are shown, not sent", "[report][table]") {
  CHECK(printable("a b") == "a b");
  CHECK(printable("a\n\x1b[2J\x7F") == "a\\x0a\\x1b[2J\\x7f");
  CHECK(printable("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80") == "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  CHECK(printable("a\xE2\x80\xAE!\xE2\x81\xA7") == "a\\xe2\\x80\\xae!\\xe2\\x81\\xa7");  // right to left
  CHECK(printable("\xD8\x9C\xE2\x80\x8E\xE2\x80\x8F") == "\\xd8\\x9c\\xe2\\x80\\x8e\\xe2\\x80\\x8f");
  CHECK(printable("\xE2\x80\xA8\xE2\x80\xA9\xEF\xBB\xBF") == "\\xe2\\x80\\xa8\\xe2\\x80\\xa9\\xef\\xbb\\xbf");
  CHECK(printable("\xE2\x80\x8D\xE2\x80\x93") == "\xE2\x80\x8D\xE2\x80\x93");  // joins letters; a dash
  CHECK(printable("\xC2\x9B!") == "\\xc2\\x9b!");  // a terminal's CSI in one character
  CHECK(printable("\xFF\xC3") == "\\xff\\xc3");
  CHECK(printable("\xE0\x80\x8A") == "\\xe0\\x80\\x8a");  // a line end written too long
  TextTable table({"name"});
  table.add({"a\tb"});
  CHECK(table.text() == "name\n------\na\\x09b\n");
}

TEST_CASE("table: a long name is cut between characters", "[report][table]") {
  CHECK(printable("abcdef", 6) == "abcdef");
  CHECK(printable("abcdefg", 6) == "abc...");
  CHECK(printable("ab\x1b"
                  "cdef",
                  6) == "ab...");
  CHECK(printable("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 4) == "\xC3\xA9...");
  CHECK(short_name(std::string(60, 'x')) == std::string(60, 'x'));
  CHECK(short_name(std::string(61, 'x')) == std::string(57, 'x') + "...");
}

TEST_CASE("table: numbers for people are short", "[report][table]") {
  CHECK(short_number(1.0 / 3) == "0.3333");
  CHECK(short_number(1e-7) == "1e-07");
  CHECK(share(0.84314) == "0.8431");
  CHECK(count_of(1, "bag", "bags") == "1 bag");
  CHECK(count_of(20, "bag", "bags") == "20 bags");
}

}  // namespace bagwise
