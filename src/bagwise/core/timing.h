// Wall-clock time and peak memory of this process; never part of a reproducible result.
#pragma once

#include <chrono>
#include <cstdint>

namespace bagwise {

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// The most memory this process has had resident, in bytes; 0 where the system does not tell.
std::uint64_t peak_memory_bytes();

}  // namespace bagwise
