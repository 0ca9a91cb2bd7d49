#include "bagwise/methods/bag_checks.h"

#include <catch2/catch.hpp>

namespace bagwise {
namespace {

TEST_CASE("bag_checks: one class for every row is told, before other warnings", "[methods][bag_checks]") {
  for (const double sign : {1.0, -1.0}) {
    std::vector<std::string> warnings = {"the gap"};
    warn_if_one_class(std::vector<double>{2 * sign, sign}, warnings);
    REQUIRE(warnings.size() == 2);
    CHECK_THAT(warnings[0], Catch::Contains(sign > 0 ? "the positive class" : "the negative class"));
    CHECK(warnings[1] == "the gap");
  }
  std::vector<std::string> none;
  warn_if_one_class(std::vector<double>{1, -1}, none);
  warn_if_one_class(std::vector<double>{}, none);
  CHECK(none.empty());
}

TEST_CASE("bag_checks: a score of 0 is negative", "[methods][bag_checks]") {
  std::vector<std::string> warnings;
  warn_if_one_class(std::vector<double>{0, 0}, warnings);
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], Catch::Contains("negative"));
}

}  // namespace
}  // namespace bagwise
