#include "python/watch.h"

namespace bagwise::python {

bool going_down() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsFinalizing() != 0;
#else
  return _Py_IsFinalizing() != 0;
#endif
}

WithoutLock::~WithoutLock() {
  while (!at_the_end_ && going_down()) std::this_thread::sleep_for(std::chrono::hours(1));
  PyEval_RestoreThread(state_);
}

Observer Told::observer() {
  return [this](const Progress& progress) {
    const std::lock_guard lock(mutex_);
    phase_ = progress.phase;
    done_ = progress.done;
    total_ = progress.total;
    value_ = progress.value;
    fresh_ = true;
    return stop_ ? Next::kStop : Next::kContinue;
  };
}

void Told::pass_on(const py::object& callback) {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  if (callback.is_none()) return;
  std::unique_lock lock(mutex_);
  if (!fresh_) return;
  fresh_ = false;
  const py::tuple said = py::make_tuple(phase_, done_, total_, value_);
  lock.unlock();
  callback(*said);
}

}  // namespace bagwise::python
