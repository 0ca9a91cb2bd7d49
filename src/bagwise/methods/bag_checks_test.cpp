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

TEST_CASE("bag_checks: noise that a method ignores is told, none is not", "[methods][bag_checks]") {
  std::vector<std::string> warnings = {"the gap"};
  warn_if_noise_ignored({{"a", "b"}, {0.1, 0.2}, {}}, "mean-map", warnings);
  CHECK(warnings.size() == 1);
  warn_if_noise_ignored({{"a", "b"}, {0.1, 0.2}, {0, 0.5}}, "mean-map", warnings);
  REQUIRE(warnings.size() == 2);
  CHECK(warnings[0] ==
        "1 of 2 proportions are noisy, and mean-map takes them for exact; inv-cal, tl-llp and tl-count weigh "
        "them by "
        "their noise");
}

}  // namespace
}  // namespace bagwise
