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

}  // namespace
}  // namespace bagwise
