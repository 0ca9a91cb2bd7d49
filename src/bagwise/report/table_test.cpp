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

TEST_CASE("table: numbers for people are short", "[report][table]") {
  CHECK(short_number(1.0 / 3) == "0.3333");
  CHECK(short_number(1e-7) == "1e-07");
  CHECK(share(0.84314) == "0.8431");
  CHECK(count_of(1, "bag", "bags") == "1 bag");
  CHECK(count_of(20, "bag", "bags") == "20 bags");
}

}  // namespace bagwise
