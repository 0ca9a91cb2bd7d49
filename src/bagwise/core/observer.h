// Observers watch long work and may stop it; the library itself is silent.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace bagwise {

enum class Next { kContinue, kStop };

// How far a piece of long work has come.
struct Progress {
  std::string_view phase;  // "reading", "solving", ...
  double done = 0;         // in units of the phase: bytes, iterations, cells
  double total = 0;        // 0 where the end is not known
  double value = 0;        // the relative gap while solving; 0 elsewhere
};

// Called from the thread that called the library, never from several at once.
using Observer = std::function<Next(const Progress&)>;

inline Next tell(const Observer& observer, const Progress& progress) {
  return observer ? observer(progress) : Next::kContinue;
}

}  // namespace bagwise
