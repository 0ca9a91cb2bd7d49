#include "bagwise/core/watched.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "bagwise/core/parallel.h"

namespace bagwise {

void watched_for(std::size_t pieces, unsigned threads, std::string_view phase, std::size_t total,
                 const Observer& observer, const std::function<void(std::size_t, Watched&)>& work) {
  Watched watched;
  const auto watch = [&] {
    const Progress progress{phase, static_cast<double>(watched.steps), static_cast<double>(total)};
    if (tell(observer, progress) == Next::kStop) watched.stop = true;
  };
  watch();
  if (!observer) {  // nobody to watch for
    parallel_for(pieces, threads, [&](std::size_t i) { work(i, watched); });
    return;
  }
  std::mutex lock;
  std::condition_variable changed;
  bool done = false;
  std::exception_ptr thrown;
  const auto run = [&] {
    try {
      parallel_for(pieces, threads, [&](std::size_t i) { work(i, watched); });
    } catch (...) {
      thrown = std::current_exception();
    }
    const std::lock_guard guard(lock);
    done = true;
    changed.notify_one();
  };
  {
    std::jthread crew;
    try {
      crew = std::jthread(run);
    } catch (const std::system_error&) {
      run();  // no thread to be had: this one works, and nobody watches
    }
    std::unique_lock guard(lock);
    while (!changed.wait_for(guard, std::chrono::milliseconds(50), [&] { return done; })) {
      guard.unlock();
      watch();
      guard.lock();
    }
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace bagwise
