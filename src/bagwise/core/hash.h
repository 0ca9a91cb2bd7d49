// FNV-1a, 64 bits: each step is one-to-one in the state, so that one changed byte always changes the end.
//
// Finds damage and tells inputs apart; it is no defence against someone who wants two to look alike.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

namespace bagwise {

class Fnv1a {
 public:
  Fnv1a& add(std::string_view bytes) {
    for (const char byte : bytes) step(static_cast<unsigned char>(byte));
    return *this;
  }
  // Eight bytes in one step.
  Fnv1a& add(std::uint64_t word) {
    step(mixed(word));
    return *this;
  }
  Fnv1a& add(std::span<const double> values) {
    for (const double value : values) step(mixed(std::bit_cast<std::uint64_t>(value)));
    return *this;
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  // A product carries bits upwards only: two numbers that both changed their sign would cancel. So every bit
  // of a word is spread over all of them first, one-to-one (the end of splitmix64).
  static std::uint64_t mixed(std::uint64_t word) {
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    return word ^ (word >> 31);
  }
  void step(std::uint64_t word) { hash_ = (hash_ ^ word) * 0x100000001b3; }

  std::uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace bagwise
