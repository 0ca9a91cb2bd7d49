// A line on the terminal that shows how far long work has come; also what hands Ctrl-C to the library.
#pragma once

#include <atomic>
#include <cstdio>
#include <optional>
#include <string>

#include "bagwise/core/observer.h"
#include "bagwise/core/timing.h"

namespace bagwise::cli {

std::string time_left(double seconds);  // "12 min left"

// One line: phase, bar, percentage, rate, time left. `seconds` since the phase began; `left` where more is
// known of how many are to come than the part that is done.
std::string progress_line(const Progress& progress, double seconds, std::optional<double> left = {});

// Draws on stderr if that is a terminal and `quiet` is false; takes its line away when it goes.
class ProgressBar {
 public:
  explicit ProgressBar(bool quiet);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  Observer observer();
  // How many seconds this phase has to go, as far as anyone knows; any thread may say so.
  void expect(std::optional<double> seconds);

 private:
  Next watch(const Progress& progress);

  bool shown_;
  bool drawn_ = false;
  std::string phase_;
  Stopwatch since_phase_, since_draw_;
  std::atomic<double> left_ = -1;  // seconds; negative: unknown
};

}  // namespace bagwise::cli
