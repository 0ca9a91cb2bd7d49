// What all fuzz harnesses share. A harness is one file that says how the program reads some bytes from
// outside (fuzz_one), what must hold of whatever was read (require), and how much memory that may take
// (kBound).
//
// docs: HACKING.md, "Fuzzing". The entry point that libFuzzer calls is in harness.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "bagwise/core/result.h"

namespace bagwise::fuzz {

// The most that may be on the heap at once while `size` bytes are read: fixed + per_byte * size.
struct Bound {
  std::size_t fixed = 0, per_byte = 0;
};
inline constexpr std::size_t kMiB = std::size_t{1} << 20;

// Both are defined by each harness.
extern const Bound kBound;
void fuzz_one(std::string_view input);

// Ends the process with a message where `holds` is false: a finding.
void require(bool holds, std::string_view what);
// The same of an error: it is about a file, says something, and is one line of text.
void require_error(const Error& error);

// Whether both went well, or both failed with the same words.
template <class A, class B>
bool alike(const Result<A>& a, const Result<B>& b) {
  return a.ok() == b.ok() && (a.ok() || a.error().text() == b.error().text());
}

// One of `count` ways to go, which the input alone decides: not every input need go all of them.
std::size_t one_of(std::size_t count, std::string_view input);

// A file of that name in a folder of this process, which goes with it. Memory where there is /dev/shm.
std::string input_path(const std::string& name);
// The bytes as that file.
std::string input_file(const std::string& name, std::string_view bytes);

// For custom mutators: about half of the inputs are to be put right, so that the checks behind the checksum
// are reached; the others are to get stuck at it.
inline bool puts_right(unsigned seed) { return (seed >> 7) % 2 == 0; }

}  // namespace bagwise::fuzz
