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
    step(word);
    return *this;
  }
  Fnv1a& add(std::span<const double> values) {
    for (const double value : values) step(std::bit_cast<std::uint64_t>(value));
    return *this;
  }
  [[nodiscard]] std::uint64_t value() const { return hash_; }

 private:
  void step(std::uint64_t word) { hash_ = (hash_ ^ word) * 0x100000001b3; }

  std::uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace bagwise
