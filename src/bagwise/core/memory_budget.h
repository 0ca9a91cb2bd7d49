// How much memory this process may still take, asked before a large block is made.
//
// A block that is refused here is an Error with figures and a way out. Without it the machine would swap, or
// the kernel would end the process without a word. What is small is not asked about: it costs nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "bagwise/core/result.h"

namespace bagwise {

// Bytes; kUnknownMemory where nothing tells.
inline constexpr std::uint64_t kUnknownMemory = ~std::uint64_t{0};

// The least of what these leave:
//   the machine     MemAvailable and SwapFree of /proc/meminfo
//   control groups  version 2 (memory.max, memory.current) and 1 (memory.limit_in_bytes,
//   memory.usage_in_bytes), the
//                   process's own and all above it; pages of files there count as free, as they can be
//                   dropped
//   the process     its address space by RLIMIT_AS, and limit_memory()
// `root` stands before /proc and /sys, for tests.
std::uint64_t available_memory(const std::string& root = "");

// What this process may take in all, resident; kUnknownMemory: no such limit, as in the beginning. Of the
// whole process because its memory is: a budget per call could not see what others hold.
void limit_memory(std::uint64_t bytes);
std::uint64_t memory_limit();

// A limit for a test, while it lives: exactly so much is available, and small blocks are asked about too.
class FixedMemory {
 public:
  explicit FixedMemory(std::uint64_t available);
  FixedMemory(const FixedMemory&) = delete;
  FixedMemory& operator=(const FixedMemory&) = delete;
  ~FixedMemory();
};

// Whether so many bytes more can be had, for `what` ("100 x 50 numbers"); the error ends in `advice`. Ask for
// what is going to be taken at least, so that nothing that fits is refused. `bytes` is a double: products do
// not overflow.
Result<void> check_memory(double bytes, std::string_view what, std::string_view advice);
// The same for rows x columns doubles: "the kernel of 70000 x 70000 numbers".
Result<void> check_matrix(std::string_view what, double rows, double columns, std::string_view advice);

// Asks as something grows of which nobody knows how large it will be: before every further 64 MB (of less, a
// quarter).
class MemoryMeter {
 public:
  MemoryMeter(std::string what, std::string advice) : what_(std::move(what)), advice_(std::move(advice)) {}
  // What is held by now; cheap where that is little more than when it was asked for last.
  Result<void> hold(double bytes);

 private:
  std::string what_, advice_;
  double room_ = 1e6;  // what was asked for
};

// Takes the limit from the environment variable BAGWISE_MEMORY, if there is one.
Result<void> limit_memory_by_environment();

// Memory as people write it: "4G", "512M", "1.5GB", "1000000"; powers of 1000. Nothing but whitespace around
// it.
Result<std::uint64_t> memory_from_text(std::string_view text);
// "37.3 GB", "512 MB".
std::string memory_text(double bytes);

}  // namespace bagwise
