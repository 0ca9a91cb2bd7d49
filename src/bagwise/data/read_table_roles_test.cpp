// Columns with a meaning of their own: one that is asked for by name must be there, and means one thing.
#include <catch2/catch.hpp>
#include <string>

#include "bagwise/data/read_table.h"
#include "support/packing.h"
#include "support/temp_dir.h"

using namespace bagwise;

namespace {

Result<Dataset> read(const std::string& text, const TableOptions& options,
                     const std::string& name = "t.csv") {
  const test::TempDir dir;
  test::write_bytes(dir.file(name), text);
  auto out = read_table(dir.file(name), options);
  if (out) return out;
  Error error = out.error();
  error.file = name;
  return error;
}

std::string fault_of(const std::string& text, const TableOptions& options,
                     const std::string& name = "t.csv") {
  const auto out = read(text, options, name);
  return out ? "no fault" : out.error().text();
}

}  // namespace

TEST_CASE("read_table roles: a column asked for by name must be there",
          "[data][read_table][roles][badargs]") {
  const std::string text = "group,target,x\na,1,2\n";
  CHECK(fault_of(text, {.label_column = "tagret"}) ==
        "t.csv:1: there is no column \"tagret\", which --label-column names; did you mean \"target\"?");
  CHECK(fault_of(text, {.share_column = "zzzzzzzz"}) ==
        "t.csv:1: there is no column \"zzzzzzzz\", which --proportion-column names; the columns are group, "
        "target, x");
  CHECK(fault_of(text, {.bound_column = "Group"}) ==
        "t.csv:1: there is no column \"Group\", which --delta-column names; did you mean \"group\"?");
  CHECK(fault_of(text, {.id_column = "targets"}) ==
        "t.csv:1: there is no column \"targets\", which --id-column names; did you mean \"target\"?");
  for (const bool wanted : {true, false}) {
    CHECK(fault_of(text, {.group_column = "grop", .want_groups = wanted}) ==
          "t.csv:1: there is no column \"grop\", which --bag-column names; did you mean \"group\"?");
  }
  // Also where a model says which columns are features.
  CHECK(fault_of(text, {.label_column = "tagret", .expected_features = {"x"}}) ==
        "t.csv:1: there is no column \"tagret\", which --label-column names; did you mean \"target\"?");
  CHECK(fault_of("1 1:2\n", {.label_column = "y"}, "t.svm") ==
        "t.svm: there is no column \"y\", which --label-column names; a sparse table has no named columns");
}

TEST_CASE("read_table roles: a default name need not be there", "[data][read_table][roles]") {
  const auto out = read("x,y\n1,2\n", {.want_labels = true, .want_ids = true});
  REQUIRE(out);
  CHECK(out->feature_names.size() == 2);
}

TEST_CASE("read_table roles: a column cannot be asked to mean two things",
          "[data][read_table][roles][badargs]") {
  const std::string text = "a,b,x\n1,0,2\n";
  CHECK(fault_of(text, {.label_column = "a", .id_column = "a"}) ==
        "t.csv:1: --label-column and --id-column both name \"a\"; expected one meaning for a column");
  CHECK(fault_of(text, {.group_column = "b", .share_column = "b"}) ==
        "t.csv:1: --bag-column and --proportion-column both name \"b\"; expected one meaning for a column");
  CHECK(fault_of(text, {.label_column = "b", .exclude = {"b"}}) ==
        "t.csv:1: --label-column and --exclude both name \"b\"; expected one meaning for a column");
  CHECK(fault_of(text, {.label_column = "b", .expected_features = {"x", "b"}}) ==
        "t.csv:1: --label-column names \"b\", which is a feature of the model; expected one meaning for a "
        "column");
}

TEST_CASE("read_table roles: a column asked for by name goes before a default", "[data][read_table][roles]") {
  const auto out =
      read("delta,id,x\nname,b1,2\n", {.group_column = "id", .id_column = "delta", .want_ids = true});
  REQUIRE(out);
  CHECK(out->feature_names == std::vector<std::string>{"x"});
  CHECK(out->ids == std::vector<std::string>{"name"});
  CHECK(out->groups.values == std::vector<std::string>{"b1"});
  CHECK(out->bounds.empty());
}
