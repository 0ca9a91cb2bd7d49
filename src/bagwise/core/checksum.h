// The checksum of our binary files: XXH3, 64 bits, of xxHash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace bagwise {

std::uint64_t checksum_of(std::string_view bytes);

// The same of bytes that come one after the other.
class RunningChecksum {
 public:
  RunningChecksum();
  void add(std::string_view bytes);
  [[nodiscard]] std::uint64_t value() const;  // of all that was added

 private:
  alignas(64) std::byte state_[576];  // xxHash's own
};

}  // namespace bagwise
