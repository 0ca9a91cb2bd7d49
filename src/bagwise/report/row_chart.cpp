// Charts with a row for each name: dots and signed bars.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bagwise/report/chart.h"
#include "bagwise/report/html.h"
#include "bagwise/report/internal/svg.h"

namespace bagwise {
namespace {

using namespace svg_marks;

constexpr double kRow = 22, kRight = kWidth - 18, kMostNames = 210;

// The frame right of the names, with room for all of them.
Frame frame_of(const std::vector<std::string>& names, double top, double row) {
  double widest = 40;
  for (const std::string& name : names) widest = std::max(widest, text_width(name));
  return {20 + std::min(widest, kMostNames), top, kRight, top + row * static_cast<double>(names.size())};
}

// Bands and names of the rows.
std::string row_marks(const std::vector<std::string>& names, const Frame& frame, double row) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double top = frame.top + row * static_cast<double>(i);
    if (i % 2 == 0) out += box({frame.left, top, frame.right, top + row}, "bw-band");
    const std::string shown = fitted(names[i], frame.left - 20);
    out += text({frame.left - 8, top + row / 2 + 4.5}, shown, Anchor::kEnd, "",
                shown == names[i] ? "" : names[i]);
  }
  return out;
}

bool is_some(double value) { return std::isfinite(value) && value != 0; }

// The parts of one bar: those above 0 to the right of it, those below to the left.
struct Reach {
  double low = 0, high = 0, sum = 0;
};
Reach reach_of(const ChartBar& bar) {
  Reach out;
  for (const double part : bar.parts) {
    if (!is_some(part)) continue;
    (part > 0 ? out.high : out.low) += part;
    out.sum += part;
  }
  return out;
}

std::string bar_hint(const BarChart& chart, const ChartBar& bar, const Reach& reach) {
  std::string out = bar.name + ":";
  for (std::size_t p = 0; p < bar.parts.size() && bar.parts.size() > 1; ++p) {
    out += fmt::format(" {} {},", p < chart.parts.size() ? chart.parts[p] : "part",
                       exact(bar.parts[p], chart.values));
  }
  out += fmt::format("{} {}", bar.parts.size() > 1 ? " together" : "", exact(reach.sum, chart.values));
  if (std::isfinite(bar.low) && std::isfinite(bar.high))
    out += fmt::format(" [{}, {}]", exact(bar.low, chart.values), exact(bar.high, chart.values));
  return out;
}

std::string bar_marks(const BarChart& chart, const ChartBar& bar, const AxisScale& scale, double middle) {
  const Reach reach = reach_of(bar);
  const std::string hint = bar_hint(chart, bar, reach);
  std::string out;
  double low = 0, high = 0;
  for (std::size_t p = 0; p < bar.parts.size(); ++p) {
    if (!is_some(bar.parts[p])) continue;
    double& end = bar.parts[p] > 0 ? high : low;
    const double from = scale.at(end), to = scale.at(end + bar.parts[p]);
    end += bar.parts[p];
    out += in_colour(
        p, fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"13.00\" fill=\"currentColor\">"
                       "</rect>",
                       coordinate(std::min(from, to)), coordinate(middle - 6.5),
                       coordinate(std::abs(to - from))));
  }
  if (std::isfinite(bar.low) && std::isfinite(bar.high)) {
    const double a = scale.at(bar.low), b = scale.at(bar.high);
    out += line({a, middle}, {b, middle}, "bw-ink") + line({a, middle - 3}, {a, middle + 3}, "bw-ink") +
           line({b, middle - 3}, {b, middle + 3}, "bw-ink");
  }
  if (bar.parts.size() > 1)
    out += line({scale.at(reach.sum), middle - 9}, {scale.at(reach.sum), middle + 9}, "bw-ink");
  // All of the row answers to the pointer.
  return fmt::format(
      "<g>{}<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" "
      "pointer-events=\"all\"><title>{}</title></rect></g>\n",
      out, coordinate(0), coordinate(middle - kRow / 2), coordinate(kWidth), coordinate(kRow),
      escape_markup(hint));
}

}  // namespace

std::string svg(const DotChart& chart) {
  std::vector<LegendEntry> entries;
  std::vector<double> values;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    entries.push_back({chart.series[i].name, chart.series[i].style.value_or(i)});
    for (const double value : chart.series[i].values) values.push_back(value);
  }
  const Legend names = legend(entries, Key::kMarker, 8, kBelowTitle, kRight);
  // Marks of one row stand one below the other, so that none hides another.
  constexpr double kApart = 6;
  const double row = std::max(kRow, 12 + kApart * static_cast<double>(chart.series.size()));
  const Frame frame = frame_of(chart.groups, names.bottom + 10, row);
  const AxisScale scale(chart.values, values, frame.left, frame.right);
  std::string marks = row_marks(chart.groups, frame, row) + axis_x(scale, axis_label(chart.values), frame);
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const DotSeries& series = chart.series[i];
    const double aside =
        kApart * (static_cast<double>(i) - (static_cast<double>(chart.series.size()) - 1) / 2);
    for (std::size_t g = 0; g < std::min(series.values.size(), chart.groups.size()); ++g) {
      if (!scale.shows(series.values[g])) continue;
      const Place at{scale.at(series.values[g]), frame.top + row * (static_cast<double>(g) + 0.5) + aside};
      marks += marker(
          at, entries[i].style,
          fmt::format("{}, {}: {}", chart.groups[g], series.name, exact(series.values[g], chart.values)));
    }
  }
  return document(frame.bottom + 48, chart.title, chart.description,
                  heading(chart.title) + names.marks + marks);
}

std::string svg(const BarChart& chart) {
  std::vector<LegendEntry> entries;
  for (std::size_t p = 0; p < chart.parts.size() && chart.parts.size() > 1; ++p)
    entries.push_back({chart.parts[p], p});
  std::vector<std::string> names;
  std::vector<double> values = {0};
  for (const ChartBar& bar : chart.bars) {
    names.push_back(bar.name);
    const Reach reach = reach_of(bar);
    values.insert(values.end(), {reach.low, reach.high, bar.low, bar.high});
  }
  const Legend shown = legend(entries, Key::kBox, 8, kBelowTitle, kRight);
  const Frame frame = frame_of(names, shown.bottom + 10, kRow);
  ChartAxis axis = chart.values;
  axis.kind = AxisKind::kLinear;  // a bar begins at 0
  const AxisScale scale(axis, values, frame.left, frame.right);
  std::string marks = row_marks(names, frame, kRow) + axis_x(scale, axis_label(axis), frame);
  marks += line({scale.at(0), frame.top}, {scale.at(0), frame.bottom}, "bw-axis");
  for (std::size_t i = 0; i < chart.bars.size(); ++i)
    marks += bar_marks(chart, chart.bars[i], scale, frame.top + kRow * (static_cast<double>(i) + 0.5));
  return document(frame.bottom + 48, chart.title, chart.description,
                  heading(chart.title) + shown.marks + marks);
}

}  // namespace bagwise
