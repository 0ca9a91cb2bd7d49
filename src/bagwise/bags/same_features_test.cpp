#include "bagwise/bags/same_features.h"

#include <catch2/catch.hpp>

namespace bagwise {
namespace {

using Names = std::vector<std::string>;

std::string told(const Names& target, const Names& source) {
  const std::string to = "T", from = "S";
  const auto checked =
      check_same_features({target, to}, {source, from}, {.lacking = "add it", .extra = "drop it"});
  return checked ? "" : checked.error().text();
}

TEST_CASE("same_features: the order of names does not matter", "[bags][same_features]") {
  CHECK(told({"a", "b", "c"}, {"c", "a", "b"}).empty());
  CHECK(told({}, {}).empty());
}

TEST_CASE("same_features: the first name that one lacks is told, with what to do",
          "[bags][same_features][badargs]") {
  CHECK(told({"a", "z", "b"}, {"b", "a"}) == "S: has no feature \"z\", which the target T has; add it");
  CHECK(told({"a"}, {"a", "q", "p"}) == "S: has a feature \"q\", which the target T lacks; drop it");
  CHECK(told({"a", "b"}, {"a", "c"}) == "S: has no feature \"b\", which the target T has; add it");
}

}  // namespace
}  // namespace bagwise
