// Where values stand along an axis of a chart, and which ticks it has.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bagwise/report/chart.h"

namespace bagwise {

// Round numbers from `low` to `high`, about `count` of them; at least two finite numbers, low < high.
std::vector<double> round_ticks(double low, double high, std::size_t count);

class AxisScale {
 public:
  // Wide enough for all `values` it shows; `begin` and `end` are places on the drawing. Unless the axis says
  // where it ends, a little room is left beside the values.
  AxisScale(const ChartAxis& axis, std::span<const double> values, double begin, double end,
            std::size_t ticks = 6);

  [[nodiscard]] bool shows(double value) const;  // whether it has a place here
  [[nodiscard]] double at(double value) const;   // its place; beyond the ends: at the end
  [[nodiscard]] const std::vector<double>& ticks() const { return ticks_; }
  [[nodiscard]] std::string label(double tick) const;

 private:
  [[nodiscard]] double along(double value) const;  // its value or logarithm

  AxisKind kind_;
  bool percent_;
  double low_ = 0, high_ = 1;  // in along()'s units
  double begin_, end_;
  std::vector<double> ticks_;
};

// A value with all its digits, for a tooltip: "0.8431", or "84.31 %".
std::string exact(double value, const ChartAxis& axis);

}  // namespace bagwise
