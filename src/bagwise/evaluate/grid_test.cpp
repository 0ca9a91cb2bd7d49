#include "bagwise/evaluate/grid.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

namespace bagwise {
namespace {

double number(const OptionTexts& setting, const std::string& option) { return std::stod(setting.at(option)); }

std::multiset<std::string> texts_of(const std::vector<SettingsPath>& paths) {
  std::multiset<std::string> out;
  for (const OptionTexts& setting : settings_of(paths)) out.insert(setting_text(setting));
  return out;
}

TEST_CASE("grid: all combinations, each once, in paths along the last axis or along C", "[evaluate][grid]") {
  const std::vector<GridAxis> axes = {{"C", {"1", "2", "4"}}, {"a", {"x", "y"}}, {"b", {"p", "q"}}};
  const auto paths = all_combinations(axes);
  REQUIRE(paths.size() == 4);
  for (const SettingsPath& path : paths) {
    REQUIRE(path.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(path[i].at("C") == axes[0].values[i]);
      CHECK(path[i].at("a") == path[0].at("a"));
      CHECK(path[i].at("b") == path[0].at("b"));
    }
  }
  const auto texts = texts_of(paths);
  CHECK(texts.size() == 12);
  CHECK(std::set<std::string>(texts.begin(), texts.end()).size() == 12);
  CHECK(texts.contains("C=4 a=y b=p"));

  const auto without = all_combinations({axes[1], axes[2]});
  REQUIRE(without.size() == 2);
  CHECK(without[1] == SettingsPath{{{"a", "y"}, {"b", "p"}}, {{"a", "y"}, {"b", "q"}}});
}

TEST_CASE("grid: no axis is one setting, an axis without values is none", "[evaluate][grid]") {
  CHECK(all_combinations({}) == std::vector<SettingsPath>{{{}}});
  CHECK(settings_of(all_combinations({{"a", {}}})).empty());
  CHECK(settings_of(all_combinations({{"a", {}}, {"b", {"1", "2"}}})).empty());
  CHECK(settings_of(all_combinations({{"a", {"1"}}, {"b", {}}})).empty());
  CHECK(setting_text({}).empty());
  CHECK(setting_text({{"epsilon", "0.1"}, {"C", "1"}}) == "C=1 epsilon=0.1");
}

TEST_CASE("grid: axes replace what the grid has, and settings that become equal are kept once",
          "[evaluate][grid]") {
  const auto grid = all_combinations({{"C", {"1", "2"}}, {"epsilon", {"0.1", "0.5"}}});
  CHECK(texts_of(with_axes(grid, {})) == texts_of(grid));
  const auto fixed = with_axes(grid, {{"epsilon", {"0.3"}}});
  CHECK(texts_of(fixed) == std::multiset<std::string>{"C=1 epsilon=0.3", "C=2 epsilon=0.3"});
  const auto wider = with_axes(grid, {{"scale", {"none", "standard"}}, {"epsilon", {"0"}}});
  CHECK(texts_of(wider) ==
        std::multiset<std::string>{"C=1 epsilon=0 scale=none", "C=1 epsilon=0 scale=standard",
                                   "C=2 epsilon=0 scale=none", "C=2 epsilon=0 scale=standard"});
  const auto costs = with_axes(grid, {{"C", {"8", "16", "32"}}});
  CHECK(texts_of(costs) ==
        texts_of(all_combinations({{"C", {"8", "16", "32"}}, {"epsilon", {"0.1", "0.5"}}})));
  REQUIRE(costs.size() == 2);  // a path along C for either epsilon
  for (const SettingsPath& path : costs) {
    REQUIRE(path.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(path[i].at("C") == std::vector<std::string>{"8", "16", "32"}[i]);
      CHECK(path[i].at("epsilon") == path[0].at("epsilon"));
    }
  }
  const auto one = with_axes(grid, {{"C", {"8", "8"}}, {"epsilon", {"0"}}});
  CHECK(one == std::vector<SettingsPath>{{{{"C", "8"}, {"epsilon", "0"}}}});
  CHECK(settings_of(with_axes(grid, {{"C", {}}})).empty());
  CHECK(settings_of(with_axes(grid, {{"epsilon", {}}})).empty());
}

TEST_CASE("grid: faults are the method's own, and an empty grid is one", "[evaluate][grid][badargs]") {
  const Method& method = *find_method("inv-cal");
  const auto fault = [&](const std::vector<SettingsPath>& paths) {
    const auto checked = check_grid(method, paths);
    return checked ? std::string() : checked.error().message;
  };
  CHECK(fault(all_combinations({{"C", {"1", "2"}}})).empty());
  CHECK(fault({{{}}}).empty());
  CHECK_THAT(fault({}), Catch::Contains("no settings"));
  CHECK_THAT(fault({{}, {}}), Catch::Contains("no settings"));
  CHECK_THAT(fault({{{{"C", "1"}}, {{"lambda", "1"}}}}), Catch::Contains("lambda"));
  CHECK_THAT(fault({{{{"C", "1"}}, {{"C", "-1"}}}}), Catch::Contains("C = -1"));
  CHECK_THAT(fault({{{{"C", "one"}}}}), Catch::Contains("one"));
}

TEST_CASE("grid: every method brings a grid it accepts, with no setting twice", "[evaluate][grid]") {
  for (const Method& method : methods()) {
    for (const std::size_t sources : {0U, 1U, 3U}) {
      const auto paths = method.default_grid(sources);
      CAPTURE(method.name, sources);
      CHECK(check_grid(method, paths).ok());
      const auto texts = texts_of(paths);
      CHECK(std::set<std::string>(texts.begin(), texts.end()).size() == texts.size());
      CHECK(texts.size() >= 3);
      for (const SettingsPath& path : paths) CHECK_FALSE(path.empty());
    }
  }
}

// Two settings are one step apart if their costs differ by one factor, of no more than 10.
TEST_CASE("grid: neighbours on a default path are one step apart", "[evaluate][grid]") {
  for (const Method& method : methods()) {
    for (const SettingsPath& path : method.default_grid(1)) {
      for (std::size_t i = 1; i < path.size(); ++i) {
        double factor = 1;
        CAPTURE(method.name, setting_text(path[i - 1]), setting_text(path[i]));
        for (const auto& [name, text] : path[i]) {
          if (path[i - 1].at(name) == text) continue;
          const double by = number(path[i], name) / number(path[i - 1], name);
          if (factor != 1) CHECK(by == Approx(factor));
          factor = by;
        }
        CHECK(factor != 1);
        CHECK(std::abs(std::log2(factor)) <= std::log2(10) + 1e-9);
      }
    }
  }
}

TEST_CASE("grid: tl-llp's costs are those InvCal would pay, and no transfer is among its settings",
          "[evaluate][grid][tl_llp]") {
  const Method& method = *find_method("tl-llp");
  const auto paid = [](const OptionTexts& s, const std::string& suffix) {
    const double lambda = number(s, "lambda" + suffix);
    return number(s, "C" + suffix) * (1 + lambda) / lambda;
  };
  std::set<double> costs, costs_source, lambdas, alone_costs, without_source;
  for (const OptionTexts& s : settings_of(method.default_grid(2))) {
    costs.insert(std::round(std::log2(paid(s, ""))));
    CHECK(paid(s, "") == Approx(std::exp2(std::round(std::log2(paid(s, ""))))));
    CHECK(paid(s, "-source") == Approx(std::exp2(std::round(std::log2(paid(s, "-source"))))));
    const double lambda = number(s, "lambda");
    lambdas.insert(lambda);
    if (lambda == 1e-6) {
      alone_costs.insert(std::round(std::log2(paid(s, ""))));
      CHECK(number(s, "lambda-source") == 1e-6);
    } else {
      CHECK(number(s, "lambda-source") == Approx(10 * lambda));
      costs_source.insert(std::round(std::log2(paid(s, "-source"))));
    }
  }
  CHECK(costs == std::set<double>{-2, 0, 2, 4, 6});
  CHECK(alone_costs == costs);
  CHECK(costs_source == std::set<double>{-2, 1, 4, 7});
  CHECK(lambdas == std::set<double>{1e-6, 0.1, 1, 10});
  for (const OptionTexts& s : settings_of(method.default_grid(0))) {
    CHECK_FALSE(s.contains("C-source"));
    CHECK_FALSE(s.contains("lambda-source"));
    without_source.insert(std::round(std::log2(paid(s, ""))));
  }
  CHECK(without_source == costs);
}

}  // namespace
}  // namespace bagwise
