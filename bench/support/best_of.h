// The shortest of several runs, which is the one least disturbed.
#pragma once

#include <utility>

namespace bagwise::bench {

// At most `runs` of them, and no more once they have taken two seconds together.
template <class Run>
auto best_of(int runs, const Run& run) {
  auto best = run();
  double total = best.seconds;
  for (int k = 1; k < runs && total < 2; ++k) {
    auto next = run();
    total += next.seconds;
    if (next.seconds < best.seconds) best = std::move(next);
  }
  return best;
}

}  // namespace bagwise::bench
