// Independent pieces of long work on several threads while the caller's own thread watches over them.
//
// parallel.h lends the caller's thread to the work and asks an observer only between pieces; here pieces take
// so long that a stop must reach into them.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string_view>

#include "bagwise/core/observer.h"

namespace bagwise {

// What the pieces share with the watcher; any thread may touch it.
struct Watched {
  std::atomic<bool> stop{false};      // the observer asked to end: pieces end as soon as they can
  std::atomic<std::size_t> steps{0};  // done so far, over all pieces

  // An observer for what a piece calls: it stops when the caller's observer has asked to.
  [[nodiscard]] Observer inside() const {
    return [this](const Progress&) { return stop ? Next::kStop : Next::kContinue; };
  }
};

// Calls work(i, watched) for every i in [0, pieces) on up to `threads` threads (0: one per core) that are not
// the caller's, which tells the observer `phase` and the steps done of `total` several times a second, and
// once before anything is begun. After a stop, pieces not yet begun are begun all the same, with stop set.
// What a piece throws is thrown again here.
void watched_for(std::size_t pieces, unsigned threads, std::string_view phase, std::size_t total,
                 const Observer& observer, const std::function<void(std::size_t, Watched&)>& work);

}  // namespace bagwise
