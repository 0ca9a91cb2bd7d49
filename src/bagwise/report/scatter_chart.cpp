// Points about the diagonal.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bagwise/report/chart.h"
#include "bagwise/report/html.h"
#include "bagwise/report/internal/svg.h"

namespace bagwise {

std::string svg(const ScatterChart& chart) {
  using namespace svg_marks;
  constexpr double kSide = 400, kLargest = 9, kLeast = 2.5;
  std::vector<double> values;
  double largest = 0;
  bool any_marked = false;
  for (const ScatterPoint& point : chart.points) {
    if (!std::isfinite(point.x) || !std::isfinite(point.y)) continue;
    values.insert(values.end(), {point.x, point.y});
    if (std::isfinite(point.size)) largest = std::max(largest, point.size);
    any_marked |= point.marked;
  }
  // One range for both: the diagonal runs from corner to corner.
  const Frame frame{(kWidth - kSide) / 2, kBelowTitle + 30, (kWidth + kSide) / 2, kBelowTitle + 30 + kSide};
  const AxisScale along(chart.x, values, frame.left, frame.right);
  ChartAxis same = chart.x;
  same.label = chart.y.label;
  const AxisScale up(same, values, frame.bottom, frame.top);

  std::string keys =
      text({8, kBelowTitle + 12}, chart.size_name.empty() ? "" : fmt::format("area: {}", chart.size_name),
           Anchor::kStart, "bw-small");
  if (any_marked && !chart.marked_name.empty()) {
    keys += in_colour(1, fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"5.00\" fill=\"currentColor\"/>",
                                     coordinate(frame.left + 120), coordinate(kBelowTitle + 8))) +
            text({frame.left + 132, kBelowTitle + 12}, chart.marked_name, Anchor::kStart, "bw-small");
  }
  std::string marks = axis_y(up, "", frame) + axis_x(along, axis_label(chart.x), frame) +
                      upright_text({frame.left - 52, (frame.top + frame.bottom) / 2}, axis_label(same)) +
                      line({frame.left, frame.bottom}, {frame.right, frame.top}, "bw-dash");
  // The large ones first, and what is marked last: nothing hides below another.
  std::vector<const ScatterPoint*> order;
  for (const ScatterPoint& point : chart.points) order.push_back(&point);
  std::stable_sort(order.begin(), order.end(), [](const ScatterPoint* a, const ScatterPoint* b) {
    return a->marked != b->marked ? !a->marked : a->size > b->size;
  });
  for (const ScatterPoint* point : order) {
    if (!along.shows(point->x) || !up.shows(point->y)) continue;
    const double part = largest > 0 && std::isfinite(point->size) ? std::max(0.0, point->size / largest) : 1;
    std::string hint = point->name + ": " + exact(point->x, chart.x) + ", " + exact(point->y, chart.x);
    if (!chart.size_name.empty()) hint += fmt::format(", {} {}", chart.size_name, point->size);
    marks += in_colour(
        point->marked ? 1 : 0,
        fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"currentColor\" fill-opacity=\"{}\" "
                    "stroke=\"currentColor\"><title>{}</title></circle>",
                    coordinate(along.at(point->x)), coordinate(up.at(point->y)),
                    coordinate(std::max(kLeast, kLargest * std::sqrt(part))), point->marked ? "0.8" : "0.35",
                    escape_markup(hint)));
  }
  return document(frame.bottom + 48, chart.title, chart.description, heading(chart.title) + keys + marks);
}

}  // namespace bagwise
