#include "bagwise/report/internal/axis_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

namespace bagwise {
namespace {

constexpr double kMost = 1e300;  // values beyond are drawn there: differences of two stay finite

// A number with so many digits that numbers `step` apart differ.
std::string tick_text(double value, double step) {
  if (std::abs(value) < step * 1e-9) return "0";
  const double size = std::abs(value);
  const double place = std::floor(std::log10(step) + 1e-9);  // of the last digit
  if (size >= 1e6 || step < 1e-5) {
    const double digits = std::floor(std::log10(size)) - place + 1;
    return fmt::format("{:.{}g}", value, static_cast<int>(std::clamp(digits, 1.0, 17.0)));
  }
  return fmt::format("{:.{}f}", value, static_cast<int>(std::max(0.0, -place)));
}

// Powers of ten; between few of them also twice and five times each.
std::vector<double> decade_ticks(double low, double high, std::size_t count) {
  const auto every = std::max(1.0, std::ceil((high - low) / static_cast<double>(count)));
  const bool few = high - low < 2;
  std::vector<double> out;
  for (double power = std::floor(low); power <= high; ++power) {
    if (std::fmod(power, every) != 0) continue;
    for (const double times : {1.0, 2.0, 5.0}) {
      const double value = std::log10(times) + power;
      if ((times == 1 || few) && value >= low - 1e-9 && value <= high + 1e-9)
        out.push_back(times * std::pow(10.0, power));
    }
  }
  return out;
}

std::vector<double> octave_ticks(double low, double high, std::size_t count) {
  const double every = std::max(1.0, std::ceil((high - low) / static_cast<double>(count)));
  std::vector<double> out;
  for (double power = std::ceil(low); power <= high; power += every) out.push_back(std::exp2(power));
  return out;
}

}  // namespace

std::vector<double> round_ticks(double low, double high, std::size_t count) {
  assert(low < high && count > 0);
  const double least = (high - low) / static_cast<double>(count);
  double step = std::pow(10.0, std::floor(std::log10(least)));
  for (const double times : {1.0, 2.0, 5.0, 10.0}) {
    if (step * times < least * (1 - 1e-9)) continue;
    step *= times;
    break;
  }
  std::vector<double> out;
  const double first = std::ceil(low / step - 1e-9);
  for (double i = 0; i <= static_cast<double>(count) + 1; ++i) {
    const double value = (first + i) * step;
    if (value > high + step * 1e-9) break;
    out.push_back(value);
  }
  return out;
}

AxisScale::AxisScale(const ChartAxis& axis, std::span<const double> values, double begin, double end,
                     std::size_t ticks)
    : kind_(axis.kind), percent_(axis.percent), begin_(begin), end_(end) {
  double low = INFINITY, high = -INFINITY;  // of what has to be seen
  const auto see = [&](double value) {
    if (!shows(value)) return;
    low = std::min(low, along(value));
    high = std::max(high, along(value));
  };
  for (const double value : values) see(value);
  for (const double tick : axis.ticks) see(tick);
  const auto ends_at = [&](const std::optional<double>& limit, double reached) {
    return limit && shows(*limit) && along(*limit) == reached;
  };
  if (axis.low) see(*axis.low);
  if (axis.high) see(*axis.high);
  if (low > high) {
    low = 0;
    high = 1;
  }
  // One value alone, or as good as one: some room about it.
  const double size = std::max(std::abs(low), std::abs(high));
  if (high - low <= std::max(1e-12 * size, 1e-300)) {
    const double room = kind_ != AxisKind::kLinear || size == 0 ? 0.5 : std::max(0.1 * size, 1e-290);
    low -= room;
    high += room;
  }
  const double room = 0.05 * (high - low);
  low_ = ends_at(axis.low, low) ? low : low - room;
  high_ = ends_at(axis.high, high) ? high : high + room;

  if (!axis.ticks.empty()) {
    for (const double tick : axis.ticks) {
      if (shows(tick)) ticks_.push_back(tick);
    }
  } else if (kind_ == AxisKind::kLinear) {
    const double scale = percent_ ? 100 : 1;
    ticks_ = round_ticks(low_ * scale, high_ * scale, ticks);
    for (double& tick : ticks_) tick /= scale;
  } else {
    const bool by_ten = kind_ == AxisKind::kLog10;
    ticks_ = by_ten ? decade_ticks(low_, high_, ticks) : octave_ticks(low_, high_, ticks);
    // Less than an octave or so: round numbers after all.
    const double base = by_ten ? 10 : 2, least = std::pow(base, low_), largest = std::pow(base, high_);
    if (ticks_.size() < 2 && least < largest && std::isfinite(largest))
      ticks_ = round_ticks(least, largest, ticks);
  }
}

double AxisScale::along(double value) const {
  if (kind_ == AxisKind::kLog2) return std::log2(value);
  if (kind_ == AxisKind::kLog10) return std::log10(value);
  return std::clamp(value, -kMost, kMost);
}

bool AxisScale::shows(double value) const {
  return std::isfinite(value) && (kind_ == AxisKind::kLinear || value > 0);
}

double AxisScale::at(double value) const {
  const double part = std::clamp((along(value) - low_) / (high_ - low_), 0.0, 1.0);
  return begin_ + part * (end_ - begin_);
}

std::string AxisScale::label(double tick) const {
  const double scale = percent_ ? 100 : 1;
  if (kind_ != AxisKind::kLinear || ticks_.size() < 2) return fmt::format("{:.6g}", tick * scale);
  double step = INFINITY;
  for (std::size_t i = 1; i < ticks_.size(); ++i) {
    if (ticks_[i] != ticks_[i - 1]) step = std::min(step, std::abs(ticks_[i] - ticks_[i - 1]));
  }
  return std::isfinite(step) ? tick_text(tick * scale, step * scale) : fmt::format("{:.6g}", tick * scale);
}

std::string exact(double value, const ChartAxis& axis) {
  return axis.percent ? fmt::format("{:.10g} %", 100 * value) : fmt::format("{}", value);
}

}  // namespace bagwise
