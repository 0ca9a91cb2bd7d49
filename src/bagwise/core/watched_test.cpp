#include "bagwise/core/watched.h"

#include <catch2/catch.hpp>
#include <new>
#include <thread>
#include <vector>

namespace bagwise {
namespace {

TEST_CASE("watched: every piece is done once, watched or not", "[core][watched]") {
  for (const bool watched : {false, true}) {
    for (const unsigned threads : {1U, 3U}) {
      std::vector<std::atomic<int>> done(20);
      const Observer observer = [](const Progress&) { return Next::kContinue; };
      watched_for(20, threads, "working", 20, watched ? observer : Observer(),
                  [&](std::size_t i, Watched& shared) { ++done[i], ++shared.steps; });
      for (const auto& count : done) CHECK(count == 1);
    }
  }
}

TEST_CASE("watched: a stop reaches into pieces that run", "[core][watched]") {
  const auto caller = std::this_thread::get_id();
  std::atomic<int> ended{0};
  std::atomic<bool> begun{false};
  bool elsewhere = false;
  const Observer observer = [&](const Progress& progress) {
    elsewhere = elsewhere || std::this_thread::get_id() != caller;
    CHECK(progress.phase == "working");
    CHECK(progress.total == 3);
    return begun ? Next::kStop : Next::kContinue;
  };
  watched_for(3, 2, "working", 3, observer, [&](std::size_t, Watched& shared) {
    begun = true;
    while (shared.inside()({}) == Next::kContinue) std::this_thread::yield();  // for ever but for the stop
    ++ended;
  });
  CHECK(ended == 3);
  CHECK_FALSE(elsewhere);
}

TEST_CASE("watched: an observer that stops at once is heeded before any piece", "[core][watched]") {
  bool stopped = false;
  watched_for(
      1, 1, "working", 1, [](const Progress&) { return Next::kStop; },
      [&](std::size_t, Watched& shared) { stopped = shared.stop; });
  CHECK(stopped);
}

TEST_CASE("watched: what a piece throws reaches the caller", "[core][watched]") {
  const Observer observer = [](const Progress&) { return Next::kContinue; };
  CHECK_THROWS_AS(watched_for(4, 2, "working", 4, observer,
                              [](std::size_t i, Watched&) {
                                if (i == 2) throw std::bad_alloc();
                              }),
                  std::bad_alloc);
}

}  // namespace
}  // namespace bagwise
