#include "bagwise/core/parallel.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "bagwise/core/observer.h"
#include "bagwise/core/timing.h"

TEST_CASE("parallel: every piece is done exactly once", "[core][parallel]") {
  for (const std::size_t pieces : {0U, 1U, 2U, 3U, 7U, 1000U}) {
    for (const unsigned threads : {0U, 1U, 2U, 4U, 64U}) {
      std::vector<std::atomic<int>> done(pieces);
      bagwise::parallel_for(pieces, threads, [&](std::size_t i) { ++done[i]; });
      for (const auto& n : done) REQUIRE(n == 1);
    }
  }
}

TEST_CASE("parallel: one thread means the caller's own, in order", "[core][parallel]") {
  std::vector<std::size_t> order;
  const auto caller = std::this_thread::get_id();
  bagwise::parallel_for(100, 1, [&](std::size_t i) {
    CHECK(std::this_thread::get_id() == caller);
    order.push_back(i);
  });
  for (std::size_t i = 0; i < 100; ++i) REQUIRE(order[i] == i);
}

TEST_CASE("parallel: never more threads than asked for", "[core][parallel]") {
  std::mutex lock;
  std::set<std::thread::id> seen;
  bagwise::parallel_for(500, 3, [&](std::size_t) {
    const std::lock_guard guard(lock);
    seen.insert(std::this_thread::get_id());
  });
  CHECK(seen.size() <= 3);
  CHECK(bagwise::default_threads() >= 1);
}

TEST_CASE("parallel: what a piece throws reaches the caller", "[core][parallel]") {
  for (const unsigned threads : {1U, 4U}) {
    CHECK_THROWS_AS(bagwise::parallel_for(100, threads,
                                          [](std::size_t i) {
                                            if (i == 37) throw std::bad_alloc();
                                          }),
                    std::bad_alloc);
  }
}

TEST_CASE("observer: nobody watching means carry on", "[core][observer]") {
  CHECK(bagwise::tell({}, {}) == bagwise::Next::kContinue);
  double seen = 0;
  const bagwise::Observer stop = [&](const bagwise::Progress& p) {
    seen = p.done;
    return bagwise::Next::kStop;
  };
  CHECK(bagwise::tell(stop, {.phase = "reading", .done = 3}) == bagwise::Next::kStop);
  CHECK(seen == 3);
}

TEST_CASE("timing: time does not run backwards and memory is in use", "[core][timing]") {
  const bagwise::Stopwatch watch;
  const double first = watch.seconds();
  CHECK(first >= 0);
  CHECK(watch.seconds() >= first);
  CHECK(bagwise::peak_memory_bytes() > 100000);
}
