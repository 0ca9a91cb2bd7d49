#include "bagwise/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "bagwise/core/random.h"
#include "bagwise/report/internal/axis_scale.h"
#include "support/xml_check.h"

namespace bagwise {
namespace {

using test::read_xml;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(),
                 kInf = std::numeric_limits<double>::infinity();

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t out = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++out;
  return out;
}

// All kinds, with these names and numbers in every place that takes one.
std::vector<std::string> all_charts(const std::string& name, const std::vector<double>& v, AxisKind kind) {
  const ChartAxis axis{.label = name, .kind = kind};
  std::vector<ChartPoint> points;
  std::vector<ScatterPoint> scattered;
  std::vector<ChartBar> bars;
  std::vector<RankedName> ranks;
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double other = v[v.size() - 1 - i];
    points.push_back({v[i], other, std::abs(v[i])});
    scattered.push_back({v[i], other, std::abs(other), name, i % 2 == 0});
    bars.push_back({name, {v[i], other}, v[i], other});
    ranks.push_back({name, v[i]});
  }
  const std::vector<ChartSeries> series = {{name, points}, {name, {}}};
  const std::vector<std::string> names(v.size(), name);
  return {
      svg(LineChart{name, name, axis, axis, series}),
      svg(PanelChart{
          name, name, axis, axis, {{name, series}, {name, {}}, {name, series}, {name, series}}, 3}),
      svg(DotChart{name, name, axis, names, {{name, v}, {name, {}}}}),
      svg(ScatterChart{name, name, axis, axis, scattered, name, name}),
      svg(BarChart{name, name, axis, {name, name}, bars}),
      svg(RankChart{name, name, ranks, v.empty() ? 0 : v[0]}),
  };
}

TEST_CASE("chart: whatever the numbers, places are numbers within the drawing", "[report][chart]") {
  const std::vector<std::vector<double>> cases = {
      {},
      {0},
      {1},
      {-3, 5},
      {kNaN},
      {kInf, -kInf, kNaN},
      {1e308, -1e308},
      {1.7e308, 1.7e308},
      {5e-324, 0},
      {5e-324},
      {1e-310, 1e308},
      {1e9, 1e9 + 1e-6},
      {1, 1 + 1e-15},
      {0.5, kNaN, 0.7, -0.1},
  };
  for (const auto& numbers : cases) {
    for (const AxisKind kind : {AxisKind::kLinear, AxisKind::kLog2, AxisKind::kLog10}) {
      for (const std::string& text : all_charts("name", numbers, kind)) {
        INFO(fmt::format("{} numbers, kind {}\n{}", numbers.size(), static_cast<int>(kind),
                         text.substr(0, 300)));
        const auto read = read_xml(text);
        REQUIRE(read.fault == "");
        for (const auto& [attribute, value] : read.attributes) {
          INFO(attribute << "=" << value);
          if (attribute == "d" || attribute == "points" || attribute == "transform" || attribute == "cx" ||
              attribute == "x" || attribute == "y" || attribute == "x1" || attribute == "width") {
            REQUIRE(value.find("nan") == std::string::npos);
            REQUIRE(value.find("inf") == std::string::npos);
          }
          if (attribute == "x" || attribute == "x1" || attribute == "x2" || attribute == "cx") {
            REQUIRE(std::stod(value) >= 0);
            REQUIRE(std::stod(value) <= 640);
          }
        }
      }
    }
  }
}

TEST_CASE("chart: any bytes in names stay text", "[report][chart]") {
  Rng rng(3);
  const auto plain = all_charts("n", {1, 2, 3}, AxisKind::kLinear);
  for (int i = 0; i < 60; ++i) {
    std::string name = i == 0 ? "</text><script>alert(1)</script>" : "";
    for (int c = 0; c < 6; ++c) name += static_cast<char>(rng.below(256));
    const auto charts = all_charts(name, {1, 2, 3}, AxisKind::kLinear);
    for (std::size_t k = 0; k < charts.size(); ++k) {
      const auto read = read_xml(charts[k]);
      REQUIRE(read.fault == "");
      CHECK(count(charts[k], "<script") == 0);
      CHECK(count(charts[k], "<circle") == count(plain[k], "<circle"));
      CHECK(count(charts[k], "<path") == count(plain[k], "<path"));
    }
  }
}

TEST_CASE("chart: the same chart has the same bytes", "[report][chart]") {
  CHECK(all_charts("n", {0.1, 0.7}, AxisKind::kLinear) == all_charts("n", {0.1, 0.7}, AxisKind::kLinear));
}

TEST_CASE("chart: every mark says its exact values", "[report][chart]") {
  const LineChart lines{"t", "d", {.label = "x"}, {.label = "y"}, {{"a", {{2, 0.123456789, 0.25}}}}};
  CHECK(svg(lines).find("<title>a: 2, 0.123456789 \xC2\xB1 0.25</title>") != std::string::npos);
  const DotChart dots{"t", "d", {.kind = AxisKind::kLog10}, {"g"}, {{"m", {12.25}}}};
  CHECK(svg(dots).find("<title>g, m: 12.25</title>") != std::string::npos);
  const BarChart bars{"t", "d", {}, {"shared", "own"}, {{"f", {0.5, -0.25}}}};
  CHECK(svg(bars).find("<title>f: shared 0.5, own -0.25, together 0.25</title>") != std::string::npos);
  const ScatterChart points{"t", "d", {.percent = true}, {}, {{0.5, 0.25, 8, "b"}}, "rows"};
  CHECK(svg(points).find("<title>b: 50 %, 25 %, rows 8</title>") != std::string::npos);
}

TEST_CASE("chart: a series keeps its colour where another has no points", "[report][chart]") {
  const auto colour_of = [](const std::string& text, const std::string& hint) {
    const std::size_t at = text.find("<title>" + hint), group = text.rfind("<g class=\"", at);
    return text.substr(group + 10, 5);
  };
  LineChart chart{"t", "d", {}, {}, {{"a", {{1, 1}}}, {"b", {{1, 2}}}, {"c", {{1, 3}}}}};
  const std::string all = svg(chart);
  chart.series[1].points = {{1, kNaN}};
  const std::string without = svg(chart);
  CHECK(colour_of(all, "c: ") == "bw-c2");
  CHECK(colour_of(without, "c: ") == "bw-c2");
  CHECK(count(all, "<title>") == count(without, "<title>") + 1);
  // In panels the name decides, wherever the series stands.
  const PanelChart panels{
      "t", "d", {}, {}, {{"p", {{"a", {{1, 1}}}, {"b", {{1, 2}}}}}, {"q", {{"b", {{1, 4}}}}}}};
  CHECK(colour_of(svg(panels), "b: 1, 4") == "bw-c1");
  chart.series[0].style = 6;
  CHECK(colour_of(svg(chart), "a: ") == "bw-c6");
}

TEST_CASE("chart: a step to the right in value is a step to the right on the axis", "[report][chart][axis]") {
  Rng rng(5);
  for (const AxisKind kind : {AxisKind::kLinear, AxisKind::kLog2, AxisKind::kLog10}) {
    for (int i = 0; i < 300; ++i) {
      const double scale = std::pow(10.0, rng.uniform() * 12 - 6);
      std::vector<double> values;
      for (int k = 0; k < 5; ++k)
        values.push_back((rng.uniform() + (kind == AxisKind::kLinear ? -0.5 : 1e-3)) * scale);
      std::sort(values.begin(), values.end());
      const AxisScale axis({.kind = kind}, values, 100, 500);
      for (std::size_t k = 1; k < values.size(); ++k) REQUIRE(axis.at(values[k]) >= axis.at(values[k - 1]));
      REQUIRE(axis.at(values.front()) >= 100);
      REQUIRE(axis.at(values.back()) <= 500);
      REQUIRE(axis.at(values.back()) - axis.at(values.front()) > 300);
      std::vector<std::string> labels;
      for (const double tick : axis.ticks()) {
        for (const std::string& other : labels) REQUIRE(other != axis.label(tick));
        labels.push_back(axis.label(tick));
        REQUIRE(std::stod(labels.back()) == Approx(tick).margin(1e-9 * scale));
      }
      REQUIRE(labels.size() >= 1);
      REQUIRE(labels.size() <= 20);
    }
  }
}

TEST_CASE("chart: ticks are round numbers", "[report][chart][axis]") {
  CHECK(round_ticks(0, 1, 5) == std::vector<double>{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1});
  CHECK(round_ticks(-3, 17, 4) == std::vector<double>{0, 5, 10, 15});
  const AxisScale shares({.low = 0, .high = 1, .percent = true}, std::vector<double>{0.2, 0.4}, 0, 100);
  CHECK(shares.at(0) == 0);
  CHECK(shares.at(1) == 100);
  CHECK(shares.label(0.5) == "50");
}

// Every run of ranks within the difference, tried one by one.
std::vector<std::pair<std::size_t, std::size_t>> joined_by_trying(const std::vector<double>& ranks,
                                                                  double most) {
  const auto joins = [&](std::size_t a, std::size_t b) { return a < b && ranks[b] - ranks[a] <= most; };
  std::vector<std::pair<std::size_t, std::size_t>> out;
  for (std::size_t a = 0; a < ranks.size(); ++a) {
    for (std::size_t b = 0; b < ranks.size(); ++b) {
      const bool wider = (a > 0 && joins(a - 1, b)) || (b + 1 < ranks.size() && joins(a, b + 1));
      if (joins(a, b) && !wider) out.emplace_back(a, b);
    }
  }
  return out;
}

TEST_CASE("chart: bars join the runs of ranks that no longer run holds", "[report][chart]") {
  Rng rng(9);
  for (int i = 0; i < 500; ++i) {
    std::vector<double> ranks;
    for (std::uint64_t k = rng.below(8); k > 0; --k) ranks.push_back(1 + 6 * rng.uniform());
    std::sort(ranks.begin(), ranks.end());
    const double most = 3 * rng.uniform();
    REQUIRE(joined_ranks(ranks, most) == joined_by_trying(ranks, most));
  }
}

}  // namespace
}  // namespace bagwise
