#include "python/watch.h"

#include <string>

namespace bagwise::python {

Next Watch::look(const Progress& progress) {
  using std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kPause(100);
  if (raised_) return Next::kStop;
  const auto now = steady_clock::now();
  if (now - last_ < kPause) return Next::kContinue;
  const py::gil_scoped_acquire lock;
  try {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (!callback_.is_none())
      callback_(std::string(progress.phase), progress.done, progress.total, progress.value);
  } catch (py::error_already_set& raised) {
    raised_ = std::move(raised);
    return Next::kStop;
  }
  last_ = steady_clock::now();
  return Next::kContinue;
}

void Watch::raise_if_stopped() {
  if (raised_) throw py::error_already_set(std::move(*raised_));
  // A stop that came after the last look.
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

}  // namespace bagwise::python
