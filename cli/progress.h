// A line on the terminal that shows how far long work has come; also what hands Ctrl-C to the library.
#pragma once

#include <cstdio>
#include <string>

#include "bagwise/core/observer.h"
#include "bagwise/core/timing.h"

namespace bagwise::cli {

// One line: phase, bar, percentage, rate, time left. `seconds` since the phase began.
std::string progress_line(const Progress& progress, double seconds);

// Draws on stderr if that is a terminal and `quiet` is false; takes its line away when it goes.
class ProgressBar {
 public:
  explicit ProgressBar(bool quiet);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  Observer observer();

 private:
  Next watch(const Progress& progress);

  bool shown_;
  bool drawn_ = false;
  std::string phase_;
  Stopwatch since_phase_, since_draw_;
};

}  // namespace bagwise::cli
