// Watch: Python looked after while the library works without the interpreter's lock.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <optional>

#include "bagwise/core/observer.h"

namespace bagwise::python {

namespace py = pybind11;

// Some ten times a second it takes the lock, lets Python handle its signals (Ctrl-C) and calls `callback`, if
// there is one, with phase, done, total and the gap. What either raises stops the work.
class Watch {
 public:
  explicit Watch(py::object callback) : callback_(std::move(callback)) {}

  // For work done without the lock; the watch must outlive it.
  [[nodiscard]] Observer observer() {
    return [this](const Progress& progress) { return look(progress); };
  }

  // With the lock, after the work: raises what stopped it, if something did.
  void raise_if_stopped();

 private:
  Next look(const Progress& progress);

  py::object callback_;
  std::optional<py::error_already_set> raised_;
  std::chrono::steady_clock::time_point last_{};
};

// The result of work(observer), done without the lock.
template <class Work>
auto watched(py::object callback, const Work& work) {
  Watch watch(std::move(callback));
  auto out = [&] {
    const py::gil_scoped_release without_lock;
    return work(watch.observer());
  }();
  watch.raise_if_stopped();
  return out;
}

}  // namespace bagwise::python
