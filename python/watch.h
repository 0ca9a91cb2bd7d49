// Long work in a thread of its own, while the thread that asked for it looks after Python.
//
// So Ctrl-C is served at once, whatever the library is in the middle of: work that does not stop soon is left
// to itself, ends at the next place where it can, and what it found is thrown away.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"

namespace bagwise::python {

namespace py = pybind11;

// Whether the interpreter is going down. Then only the thread that does so gets the lock again.
bool going_down();

// Gives the interpreter's lock up, and takes it again at the end. Where the interpreter is going down
// meanwhile, a thread that wants the lock is ended by force, which no C++ destructor survives: it waits for
// the end instead.
class WithoutLock {
 public:
  WithoutLock() : at_the_end_(going_down()), state_(PyEval_SaveThread()) {}
  WithoutLock(const WithoutLock&) = delete;
  WithoutLock& operator=(const WithoutLock&) = delete;
  ~WithoutLock();

 private:
  bool at_the_end_;  // this is the thread that takes the interpreter down
  PyThreadState* state_;
};

// How far work has come, between its thread and the one that watches.
class Told {
 public:
  [[nodiscard]] Observer observer();  // this must outlive it
  void stop() { stop_ = true; }

  // With the lock: lets Python handle its signals and tells `callback` what is new. What either raises is
  // thrown.
  void pass_on(const py::object& callback);

 private:
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  bool fresh_ = false;
  std::string phase_;
  double done_ = 0, total_ = 0, value_ = 0;
};

// The result of work(observer). `work` must own, or share, all that it needs. With the lock; it is given up
// meanwhile.
template <class T>
Result<T> watched(const py::object& callback, std::function<Result<T>(const Observer&)> work) {
  struct Job {
    Told told;
    std::mutex mutex;
    std::condition_variable ended;
    bool done = false;
    std::optional<Result<T>> result;
    std::exception_ptr thrown;
  };
  const auto job = std::make_shared<Job>();
  std::thread([job, work = std::move(work)]() mutable {
    try {
      job->result.emplace(work(job->told.observer()));
    } catch (...) {
      job->thrown = std::current_exception();
    }
    work = nullptr;  // what it holds is let go before the end is told
    const std::lock_guard lock(job->mutex);
    job->done = true;
    job->ended.notify_all();
  }).detach();

  const auto ends_within = [&](std::chrono::milliseconds time) {
    const WithoutLock without_lock;
    std::unique_lock lock(job->mutex);
    return job->ended.wait_for(lock, time, [&] { return job->done; });
  };
  try {
    while (!ends_within(std::chrono::milliseconds(100))) job->told.pass_on(callback);
    job->told.pass_on(py::none());  // a signal that came at the very end
  } catch (py::error_already_set&) {
    job->told.stop();
    ends_within(std::chrono::milliseconds(700));
    throw;
  }
  if (job->thrown) std::rethrow_exception(job->thrown);
  return std::move(*job->result);
}

}  // namespace bagwise::python
