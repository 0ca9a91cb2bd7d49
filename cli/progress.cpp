#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/interrupt.h"

namespace bagwise::cli {
namespace {

constexpr double kRedrawSeconds = 0.1;
constexpr int kBarWidth = 24;

std::string rate_of(const Progress& progress, double seconds) {
  if (seconds <= 0 || progress.done <= 0) return "";
  const double rate = progress.done / seconds;
  if (progress.phase == "reading") return fmt::format("  {:.0f} MB/s", rate / 1e6);
  return rate >= 10 ? fmt::format("  {:.0f}/s", rate) : fmt::format("  {:.1f}/s", rate);
}

}  // namespace

std::string time_left(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s left", std::max(1.0, seconds));
  if (seconds < 3600) return fmt::format("{:.0f} min left", seconds / 60);
  return fmt::format("{:.1f} h left", seconds / 3600);
}

std::string progress_line(const Progress& progress, double seconds, std::optional<double> left) {
  std::string out = fmt::format("{:<9}", progress.phase);
  if (progress.total > 0) {
    const double part = std::clamp(progress.done / progress.total, 0.0, 1.0);
    const int full = static_cast<int>(part * kBarWidth);
    out += fmt::format(" [{:#<{}}{:.<{}}] {:3.0f}%", "", full, "", kBarWidth - full, 100 * part);
    out += progress.phase == "cells" ? fmt::format("  {:.0f} of {:.0f}", progress.done, progress.total)
                                     : rate_of(progress, seconds);
    if (part > 0 && part < 1) out += "  " + time_left(left.value_or(seconds * (1 - part) / part));
  } else {
    out += fmt::format(" {:.0f}", progress.done) + rate_of(progress, seconds);
  }
  if (progress.value > 0) out += fmt::format("  gap {:.1e}", progress.value);
  return out;
}

ProgressBar::ProgressBar(bool quiet) : shown_(!quiet && isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

Observer ProgressBar::observer() {
  return [this](const Progress& progress) { return watch(progress); };
}

void ProgressBar::expect(std::optional<double> seconds) { left_ = seconds.value_or(-1); }

Next ProgressBar::watch(const Progress& progress) {
  if (interrupted() != 0) return Next::kStop;
  if (!shown_) return Next::kContinue;
  if (phase_ != progress.phase) {
    phase_ = progress.phase;
    since_phase_ = {};
    left_ = -1;
  }
  // The first tenth of a second shows nothing: short work leaves no flicker.
  if (since_draw_.seconds() >= kRedrawSeconds) {
    since_draw_ = {};
    const double known = left_;
    const std::optional<double> left = known < 0 ? std::nullopt : std::optional(known);
    std::fputs(fmt::format("\r{}\033[K", progress_line(progress, since_phase_.seconds(), left)).c_str(),
               stderr);
    std::fflush(stderr);
    drawn_ = true;
  }
  return Next::kContinue;
}

}  // namespace bagwise::cli
