#include "bagwise/report/internal/read_json.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "bagwise/core/limits.h"
#include "bagwise/core/memory_budget.h"

namespace bagwise {
namespace {

std::string fault_of(std::string_view text) {
  const auto parsed = parse_json(text, "f.json", "something");
  return parsed ? "" : parsed.error().text();
}

std::string nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') +
         std::string(static_cast<std::size_t>(depth), ']');
}

// So many objects in an array, each with as many keys.
std::string objects(std::size_t count, std::size_t keys) {
  std::string out = "[";
  for (std::size_t i = 0; i < count; ++i) {
    out += i == 0 ? "{" : ",{";
    for (std::size_t k = 0; k < keys; ++k) out += fmt::format("{}\"{}\":0", k == 0 ? "" : ",", k);
    out += "}";
  }
  return out + "]";
}

TEST_CASE("read_json: nesting up to the limit is read, one more is not", "[report][read_json]") {
  CHECK(fault_of(nested(limits::kDeepestJson)).empty());
  CHECK(fault_of(nested(limits::kDeepestJson + 1)) == "f.json: nests more than 16 deep; expected something");
  CHECK_THAT(fault_of(std::string(5'000'000, '[')), Catch::Contains("nests more than"));
  // Brackets in a text are text, whatever quotes and strokes are in it.
  CHECK(fault_of("[\"" + std::string(100, '[') + "\\\"[[[[[[[[[[[[[[[[[[\\\\\"]").empty());
  CHECK_THAT(fault_of("[\"\\\\\"," + nested(16) + "]"), Catch::Contains("nests more than"));
}

TEST_CASE("read_json: keys up to the limits are read, one more is not", "[report][read_json]") {
  using namespace limits;
  CHECK(fault_of(objects(1, kMostKeysOfObject)).empty());
  CHECK_THAT(fault_of(objects(1, kMostKeysOfObject + 1)),
             Catch::Contains("an object of more than 2000 keys"));
  CHECK(fault_of(objects(kMostJsonKeys / kMostKeysOfObject, kMostKeysOfObject)).empty());
  CHECK_THAT(fault_of(objects(kMostJsonKeys + 1, 1)), Catch::Contains("more than 200000 keys"));
}

TEST_CASE("read_json: what is no JSON says where", "[report][read_json][badargs]") {
  CHECK(fault_of("{\n \"a\": nul}") == "f.json:2: column 10: is not JSON; expected something");
  CHECK(fault_of("{\"a\": [1,") ==
        "f.json:1: column 10: is not JSON: the file ends too early, it is truncated; expected something");
  CHECK(fault_of("") == "f.json: is empty; expected something");
  CHECK(fault_of(" \n\t ") == "f.json: is empty; expected something");
  const std::string_view bad[] = {"NaN",
                                  "[Infinity]",
                                  "[1 2]",
                                  "{\"a\"}",
                                  "[01]",
                                  "[.5]",
                                  "[0x10]",
                                  "[1]]",
                                  "'a'",
                                  "[\"\x01\"]",
                                  "[\"\xFF\"]",
                                  "[\"\xC0\x80\"]",
                                  "[\"\xED\xA0\x80\"]",
                                  "[\"\\ud800\"]",
                                  std::string_view("[1]\0", 4),
                                  std::string_view("\0", 1),
                                  "]",
                                  "}",
                                  ":",
                                  "\"",
                                  "\"\\",
                                  "\xEF\xBB",
                                  "/* */ 1"};
  for (const std::string_view text : bad) {
    INFO(text);
    CHECK_THAT(fault_of(text), Catch::Contains("is not JSON"));
  }
  for (const char* text : {"[1e999]", "[-1e999]", "[1e309]"})
    CHECK_THAT(fault_of(text), Catch::Contains("out of range"));
}

TEST_CASE("read_json: a key twice in one object is a fault, however it is written",
          "[report][read_json][badargs]") {
  CHECK(fault_of(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]})").empty());
  CHECK_THAT(fault_of(R"({"a": 1, "b": 2, "a": 3})"), Catch::Contains("has the key \"a\" twice"));
  CHECK_THAT(fault_of(R"([{"x": 1, "\u0078": 2}])"), Catch::Contains("has the key \"x\" twice"));
  CHECK_THAT(fault_of(R"({"": 1, "": 2})"), Catch::Contains("has the key \"\" twice"));
}

TEST_CASE("read_json: a text that needs more memory than there is is not parsed", "[report][read_json]") {
  std::string numbers = "[0";
  for (int i = 0; i < 1000; ++i) numbers += ",0";
  numbers += "]";
  CHECK(fault_of(numbers).empty());
  const FixedMemory fixed(1000);
  CHECK_THAT(fault_of(numbers), Catch::Contains("needs 32") && Catch::Contains("1 kB are available"));
  CHECK(fault_of("[0]").empty());
}

TEST_CASE("read_json: a value in a message is short", "[report][read_json]") {
  CHECK(shown(Json::array({1, "a"})) == "[1,\"a\"]");
  CHECK(shown(Json(std::string(1'000'000, 'x'))) == "of type string");
  CHECK(shown(Json(std::vector<int>(100000, 1))) == "of type array");
}

}  // namespace
}  // namespace bagwise
