// Charts as values, and each as an SVG: static, the same bytes for the same chart.
//
// An SVG stands by itself as a file and may stand in a page (html.h): it has its own colours, for light and
// dark, its title and description for readers that do not see it, and the exact values of every mark as a
// tooltip. Values that are not finite, or not above 0 on a logarithmic axis, are passed over.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace bagwise {

enum class AxisKind { kLinear, kLog2, kLog10 };

struct ChartAxis {
  std::string label = {};
  AxisKind kind = AxisKind::kLinear;
  std::vector<double> ticks = {};             // empty: round numbers
  std::optional<double> low = {}, high = {};  // where it begins and ends, unless values lie beyond
  bool percent = false;                       // shares, shown per cent
};

struct ChartPoint {
  double x = 0, y = 0;
  double error = 0;  // half the length of its error bar; 0: none
};

// Colour, marker and dashes go by `style`, else by the place in its chart; series without points keep theirs.
struct ChartSeries {
  std::string name = {};
  std::vector<ChartPoint> points = {};
  std::optional<std::size_t> style = {};
};

// Values y over x, a line for each series.
struct LineChart {
  std::string title = {}, description = {};
  ChartAxis x = {}, y = {};
  std::vector<ChartSeries> series = {};
};
std::string svg(const LineChart& chart);

// Several line charts with the same axes and one legend: the names of series, in order of appearance.
struct ChartPanel {
  std::string title = {};
  std::vector<ChartSeries> series = {};
};
struct PanelChart {
  std::string title = {}, description = {};
  ChartAxis x = {}, y = {};
  std::vector<ChartPanel> panels = {};
  std::size_t columns = 3;
};
std::string svg(const PanelChart& chart);

// One row per group, in it a mark per series at its value: times by data set and method, say.
struct DotSeries {
  std::string name = {};
  std::vector<double> values = {};  // one per group; not finite: none
  std::optional<std::size_t> style = {};
};
struct DotChart {
  std::string title = {}, description = {};
  ChartAxis values = {};
  std::vector<std::string> groups = {};
  std::vector<DotSeries> series = {};
};
std::string svg(const DotChart& chart);

// Points with the diagonal, where x and y are the same; the axes have one range.
struct ScatterPoint {
  double x = 0, y = 0;
  double size = 1;  // its area, relative to the largest
  std::string name = {};
  bool marked = false;  // stands out: another colour, and a ring
};
struct ScatterChart {
  std::string title = {}, description = {};
  ChartAxis x = {}, y = {};
  std::vector<ScatterPoint> points = {};
  std::string size_name = {}, marked_name = {};  // what sizes and marks stand for
};
std::string svg(const ScatterChart& chart);

// Signed bars from 0, a row for each; the parts of a bar are laid end to end, each to its side, and where
// there are several a tick marks their sum. An interval is a thin line.
struct ChartBar {
  std::string name = {};
  std::vector<double> parts = {};
  double low = std::numeric_limits<double>::quiet_NaN(), high = low;  // of the sum; not finite: none
};
struct BarChart {
  std::string title = {}, description = {};
  ChartAxis values = {};
  std::vector<std::string> parts = {};  // names
  std::vector<ChartBar> bars = {};
};
std::string svg(const BarChart& chart);

// Mean ranks on a line, 1 the best; bars join what differs by no more than the critical difference.
struct RankedName {
  std::string name = {};
  double rank = 0;
};
struct RankChart {
  std::string title = {}, description = {};
  std::vector<RankedName> ranks = {};
  double critical_difference = 0;
};
std::string svg(const RankChart& chart);

// The bars of such a chart: first and last of each run of `sorted` ranks that differ by no more than
// `difference`, as places; none within another, none of one rank alone.
std::vector<std::pair<std::size_t, std::size_t>> joined_ranks(const std::vector<double>& sorted,
                                                              double difference);

}  // namespace bagwise
