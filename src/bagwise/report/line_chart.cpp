// Line charts, alone and in panels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bagwise/report/chart.h"
#include "bagwise/report/internal/svg.h"

namespace bagwise {
namespace {

using namespace svg_marks;

std::vector<double> all_x(const std::vector<ChartSeries>& series) {
  std::vector<double> out;
  for (const ChartSeries& one : series) {
    for (const ChartPoint& point : one.points) {
      if (std::isfinite(point.y)) out.push_back(point.x);
    }
  }
  return out;
}

// With the ends of error bars.
std::vector<double> all_y(const std::vector<ChartSeries>& series) {
  std::vector<double> out;
  for (const ChartSeries& one : series) {
    for (const ChartPoint& point : one.points) {
      if (!std::isfinite(point.x)) continue;
      out.push_back(point.y);
      if (point.error > 0) out.insert(out.end(), {point.y - point.error, point.y + point.error});
    }
  }
  return out;
}

std::string hint_of(const ChartSeries& series, const ChartPoint& point, const ChartAxis& x,
                    const ChartAxis& y) {
  std::string out = fmt::format("{}: {}, {}", series.name, exact(point.x, x), exact(point.y, y));
  if (point.error > 0) out += fmt::format(" \xC2\xB1 {}", exact(point.error, y));
  return out;
}

struct Axes {
  const ChartAxis &x, &y;
  const AxisScale &along, &up;
  double marker_scale = 1;
};

// The line of one series, its error bars moved aside by `aside` so that those of several can be told apart.
std::string series_marks(const ChartSeries& series, std::size_t style, const Axes& axes, double aside) {
  std::vector<Place> places;
  std::string bars, marks;
  for (const ChartPoint& point : series.points) {
    if (!axes.along.shows(point.x) || !axes.up.shows(point.y)) continue;
    const Place at{axes.along.at(point.x) + aside, axes.up.at(point.y)};
    places.push_back(at);
    if (point.error > 0) {
      const double low = point.y - point.error;
      bars += error_bar({at.x, axes.up.shows(low) ? axes.up.at(low) : at.y},
                        {at.x, axes.up.at(point.y + point.error)}, style);
    }
    marks += marker(at, style, hint_of(series, point, axes.x, axes.y), axes.marker_scale);
  }
  const std::string drawn = places.size() > 1 ? curve(places, style) : "";
  return bars + drawn + marks;
}

std::string plot_marks(const std::vector<ChartSeries>& series, const std::vector<std::size_t>& styles,
                       const Axes& axes) {
  bool bars = false;
  for (const ChartSeries& one : series)
    bars |= std::any_of(one.points.begin(), one.points.end(), [](const auto& p) { return p.error > 0; });
  std::string out;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const double place = static_cast<double>(i) - (static_cast<double>(series.size()) - 1) / 2;
    out += series_marks(series[i], styles[i], axes, bars ? 2.5 * axes.marker_scale * place : 0);
  }
  return out;
}

double widest_label(const AxisScale& scale) {
  double out = 0;
  for (const double tick : scale.ticks()) out = std::max(out, text_width(scale.label(tick)));
  return out;
}

constexpr double kRight = kWidth - 18, kUnderPlot = 48;

}  // namespace

std::string svg(const LineChart& chart) {
  constexpr double kPlot = 300;
  std::vector<LegendEntry> entries;
  std::vector<std::size_t> styles;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    styles.push_back(chart.series[i].style.value_or(i));
    if (chart.series.size() > 1) entries.push_back({chart.series[i].name, styles.back()});
  }
  const Legend names = legend(entries, Key::kLine, 8, kBelowTitle, kRight);
  Frame frame{0, names.bottom + 12, kRight, names.bottom + 12 + kPlot};
  const AxisScale up(chart.y, all_y(chart.series), frame.bottom, frame.top);
  frame.left = 36 + widest_label(up);
  const AxisScale along(chart.x, all_x(chart.series), frame.left, frame.right);
  return document(frame.bottom + kUnderPlot, chart.title, chart.description,
                  heading(chart.title) + names.marks + axis_y(up, axis_label(chart.y), frame) +
                      axis_x(along, axis_label(chart.x), frame) +
                      plot_marks(chart.series, styles, {chart.x, chart.y, along, up}));
}

std::string svg(const PanelChart& chart) {
  constexpr double kPlot = 132, kTitle = 20, kTicks = 26, kGap = 14;
  std::vector<LegendEntry> entries;  // in order of appearance
  const auto style_of = [&](const ChartSeries& series) {
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&](const LegendEntry& entry) { return entry.name == series.name; });
    if (found != entries.end()) return found->style;
    entries.push_back({series.name, series.style.value_or(entries.size())});
    return entries.back().style;
  };
  std::vector<std::vector<std::size_t>> styles;
  std::vector<double> xs, ys;
  for (const ChartPanel& panel : chart.panels) {
    styles.emplace_back();
    for (const ChartSeries& series : panel.series) styles.back().push_back(style_of(series));
    for (const double x : all_x(panel.series)) xs.push_back(x);
    for (const double y : all_y(panel.series)) ys.push_back(y);
  }
  const Legend names = legend(entries, Key::kLine, 8, kBelowTitle, kRight);
  const std::size_t columns =
      std::clamp<std::size_t>(chart.columns, 1, std::max<std::size_t>(chart.panels.size(), 1));
  const std::size_t rows = (chart.panels.size() + columns - 1) / columns;
  const double top = names.bottom + 6, each = kTitle + kPlot + kTicks;
  const double left = 36 + widest_label(AxisScale(chart.y, ys, 1, 0, 4));
  const double width =
      (kRight - left - kGap * static_cast<double>(columns - 1)) / static_cast<double>(columns);
  std::string marks;
  for (std::size_t i = 0; i < chart.panels.size(); ++i) {
    const ChartPanel& panel = chart.panels[i];
    const std::size_t above = i / columns;  // rows of panels
    const auto row = static_cast<double>(above), column = static_cast<double>(i % columns);
    Frame frame{left + column * (width + kGap), top + row * each + kTitle, 0, 0};
    frame.right = frame.left + width;
    frame.bottom = frame.top + kPlot;
    const AxisScale up(chart.y, ys, frame.bottom, frame.top, 4);
    const AxisScale along(chart.x, xs, frame.left, frame.right, 4);
    const std::string title = fitted(panel.title, width);
    marks +=
        text({frame.left, frame.top - 6}, title, Anchor::kStart, "", title == panel.title ? "" : panel.title);
    if (i % columns == 0) {
      marks += axis_y(up, "", frame);
    } else {
      for (const double tick : up.ticks())
        marks += line({frame.left, up.at(tick)}, {frame.right, up.at(tick)}, "bw-grid");
    }
    marks +=
        axis_x(along, "", frame) + plot_marks(panel.series, styles[i], {chart.x, chart.y, along, up, 0.7});
  }
  const double bottom = top + each * static_cast<double>(rows);
  marks += upright_text({16, (top + bottom) / 2}, axis_label(chart.y)) +
           text({(left + kRight) / 2, bottom + 14}, axis_label(chart.x), Anchor::kMiddle);
  return document(bottom + 26, chart.title, chart.description, heading(chart.title) + names.marks + marks);
}

}  // namespace bagwise
