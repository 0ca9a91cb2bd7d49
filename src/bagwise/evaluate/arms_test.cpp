#include "bagwise/evaluate/arms.h"

#include <catch2/catch.hpp>

namespace bagwise {
namespace {

TEST_CASE("arms: settings of different metrics go to arms of their own, in their order", "[evaluate][arms]") {
  const Method& method = *find_method("inv-cal");
  const std::vector<SettingsPath> paths = {
      {{{"C", "1"}, {"metric", "pca"}}, {{"C", "2"}}, {{"C", "3"}, {"metric", "pca"}}},
      {{{"C", "4"}, {"metric", "none"}}}};
  const std::vector<Arm> arms = arms_by_metric(method, paths);
  REQUIRE(arms.size() == 2);
  CHECK(arms[0].method == &method);
  CHECK(arms[0].metric == "pca");
  CHECK(arms[0].paths == std::vector<SettingsPath>{{{{"C", "1"}}, {{"C", "3"}}}});
  CHECK(arms[1].metric == "none");
  CHECK(arms[1].paths == std::vector<SettingsPath>{{{{"C", "2"}}}, {{{"C", "4"}}}});
  CHECK(arms_by_metric(method, {}).empty());
}

TEST_CASE("arms: sources are of use if one setting takes them", "[evaluate][arms]") {
  const Arm alone{find_method("inv-cal"), "none", {{{{"C", "1"}}}}};
  const Arm with{find_method("tl-llp"), "none", {{{{"C", "1"}}}}};
  CHECK(check_sources_used(std::vector{with}));
  CHECK(check_sources_used(std::vector{alone, with}));
  const auto refused = check_sources_used(std::vector{alone, alone});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "inv-cal learns from the target alone and takes no source");
}

TEST_CASE("arms: a kernel is found in any setting, and the linear one is none", "[evaluate][arms]") {
  const auto arm = [](const SettingsPath& path) { return Arm{find_method("inv-cal"), "none", {path}}; };
  CHECK_FALSE(has_kernel(std::vector{arm({{{"C", "1"}}, {{"kernel", "linear"}}})}));
  CHECK(has_kernel(std::vector{arm({{{"C", "1"}}}), arm({{{"C", "1"}}, {{"kernel", "rbf"}}})}));
}

}  // namespace
}  // namespace bagwise
