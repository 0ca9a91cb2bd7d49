#include "bagwise/core/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>

namespace bagwise {

unsigned default_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
  return std::max(1U, std::thread::hardware_concurrency());
}

std::vector<std::jthread> start_helpers(std::size_t count, const std::function<void()>& work) {
  std::vector<std::jthread> crew;
  crew.reserve(count);
  try {
    while (crew.size() < count) crew.emplace_back(work);
  } catch (const std::system_error&) {
    // No more threads to be had: those there are do all the work.
  } catch (const std::bad_alloc&) {
    // Nor the memory for one; whoever needs more will say so.
  }
  return crew;
}

void parallel_for(std::size_t pieces, unsigned threads, const std::function<void(std::size_t)>& work) {
  const std::size_t workers = std::min<std::size_t>(pieces, threads == 0 ? default_threads() : threads);
  std::atomic<std::size_t> next{0};
  std::exception_ptr thrown;
  std::once_flag once;
  const auto run = [&] {
    try {
      for (std::size_t i = next.fetch_add(1); i < pieces; i = next.fetch_add(1)) work(i);
    } catch (...) {
      std::call_once(once, [&] { thrown = std::current_exception(); });
      next = pieces;  // the others stop at their next piece
    }
  };
  {
    const auto crew = start_helpers(std::max<std::size_t>(workers, 1) - 1, run);
    run();
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace bagwise
