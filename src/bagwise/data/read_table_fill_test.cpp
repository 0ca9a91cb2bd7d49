// Empty cells filled with means: with and without one-hot columns, at training and for a model, on any
// threads.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "bagwise/data/read_table.h"
#include "support/packing.h"
#include "support/temp_dir.h"

using namespace bagwise;

namespace {

struct Filled {
  std::vector<std::string> names;
  std::vector<double> fill, values;
};

// Reads `text` whole and as a stream, on 1, 2 and 4 threads, in small and large blocks: all must agree.
Filled filled(const std::string& text, TableOptions options) {
  const test::TempDir dir;
  const std::string path = dir.file("t.csv");
  test::write_bytes(path, text);
  options.missing = Missing::kMean;
  Filled first;
  for (const unsigned threads : {1U, 2U, 4U}) {
    for (const std::size_t block : {std::size_t{8}, std::size_t{1} << 20}) {
      options.threads = threads;
      options.block_bytes = block;
      const auto whole = read_table(path, options);
      if (!whole) FAIL(whole.error().text());
      Filled streamed;
      const auto schema = stream_table(path, options, [&](TableBlock&& part) -> Result<void> {
        const auto view = std::get<DenseView>(part.rows.features.view());
        streamed.values.insert(streamed.values.end(), view.values, view.values + view.rows * view.columns);
        return {};
      });
      if (!schema) FAIL(schema.error().text());
      streamed.names = schema->feature_names;
      streamed.fill = schema->fill;
      const auto view = std::get<DenseView>(whole->features.view());
      CHECK(whole->feature_names == streamed.names);
      CHECK(std::vector<double>(view.values, view.values + view.rows * view.columns) == streamed.values);
      if (first.names.empty()) first = streamed;
      CHECK(streamed.names == first.names);
      CHECK(streamed.fill == first.fill);
      CHECK(streamed.values == first.values);
    }
  }
  return first;
}

}  // namespace

TEST_CASE("read_table: means fill the empty cells of a table of numbers", "[data][read_table][fill]") {
  const Filled plain = filled("bag,x,y\na,1,1\nb,1,2\nc,4,6\n", {});
  CHECK(plain.names == std::vector<std::string>{"x", "y"});
  CHECK(plain.fill == std::vector<double>{2, 3});
  CHECK(plain.values == std::vector<double>{1, 1, 1, 2, 4, 6});

  const Filled holes = filled("x,bag,y\n1,a,\n,b,2\n3,c,5\n\"\",d,\" \"\n", {});
  CHECK(holes.names == std::vector<std::string>{"x", "y"});
  CHECK(holes.fill == std::vector<double>{2, 3.5});
  CHECK(holes.values == std::vector<double>{1, 3.5, 2, 2, 3, 5, 2, 3.5});
}

TEST_CASE("read_table: means fill chosen features in their order", "[data][read_table][fill]") {
  const Filled chosen = filled("x,y,z\n1,,7\n,2,8\n3,4,9\n", {.features = {"z", "x"}});
  CHECK(chosen.names == std::vector<std::string>{"z", "x"});
  CHECK(chosen.fill == std::vector<double>{8, 2});
  CHECK(chosen.values == std::vector<double>{7, 1, 8, 2, 9, 3});
}

TEST_CASE("read_table: means fill beside one-hot columns", "[data][read_table][fill]") {
  const Filled out = filled("x,t,y\n1,u,\n,,4\n3,u,6\n,v,5\n2,v,5\n", {.one_hot = {"t"}});
  CHECK(out.names == std::vector<std::string>{"x", "t=u", "t=v", "y"});
  CHECK(out.fill == std::vector<double>{2, 0.5, 0.5, 5});
  CHECK(out.values == std::vector<double>{1, 1, 0, 5, 2, 0.5, 0.5, 4, 3, 1, 0, 6, 2, 0, 1, 5, 2, 0, 1, 5});
}

TEST_CASE("read_table: a model's means fill, or the file's own", "[data][read_table][fill]") {
  const std::string numbers = "y,other,x\n1,?,\n,?,2\n5,?,4\n";
  TableOptions options{.expected_features = {"x", "y"}};
  const Filled own = filled(numbers, options);
  CHECK(own.fill == std::vector<double>{3, 3});
  CHECK(own.values == std::vector<double>{3, 1, 2, 3, 4, 5});
  options.fill = {10, 20};
  const Filled given = filled(numbers, options);
  CHECK(given.fill == std::vector<double>{10, 20});
  CHECK(given.values == std::vector<double>{10, 1, 2, 20, 4, 5});

  const std::string text = "t,y\nu,1\n,\nw,3\n";
  options = {.one_hot = {"t"}, .expected_features = {"y", "t=v", "t=u"}};
  const Filled own_text = filled(text, options);
  CHECK(own_text.fill == std::vector<double>{2, 0, 0.5});
  CHECK(own_text.values == std::vector<double>{1, 0, 1, 2, 0, 0.5, 3, 0, 0});
  options.fill = {7, 0.25, 0.75};
  const Filled given_text = filled(text, options);
  CHECK(given_text.fill == std::vector<double>{7, 0.25, 0.75});
  CHECK(given_text.values == std::vector<double>{1, 0, 1, 7, 0.25, 0.75, 3, 0, 0});
}

TEST_CASE("read_table: a fill of another length than the features is an error",
          "[data][read_table][fill][badargs]") {
  const test::TempDir dir;
  const std::string path = dir.file("t.csv");
  test::write_bytes(path, "x,y\n1,\n");
  const auto read =
      read_table(path, {.missing = Missing::kMean, .expected_features = {"x", "y"}, .fill = {1}});
  REQUIRE_FALSE(read);
  CHECK(read.error().text() ==
        path + ": there is 1 value to fill empty cells of 2 features; expected one each");
}

TEST_CASE("read_table: a column without any value has no mean", "[data][read_table][fill][badargs]") {
  const test::TempDir dir;
  const std::string path = dir.file("t.csv");
  test::write_bytes(path, "x,y\n1,\n2,\n");
  const auto read = read_table(path, {.missing = Missing::kMean});
  REQUIRE_FALSE(read);
  CHECK(read.error().text() ==
        path + ": column 2 (y): has no value at all to take a mean of; expected --missing zero or --exclude");
}
