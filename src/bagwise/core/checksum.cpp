#include "bagwise/core/checksum.h"

#include "bagwise/core/checksum_avx2.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace bagwise {
namespace {

#if defined(__x86_64__) && !defined(__clang__)
bool has_avx2() {
  static const bool kWide = __builtin_cpu_supports("avx2") > 0;
  return kWide;
}
#endif

}  // namespace

std::uint64_t checksum_of(std::string_view bytes) {
#if defined(__x86_64__) && !defined(__clang__)
  if (has_avx2()) return checksum_by_avx2(bytes.data(), bytes.size());
#endif
  return XXH3_64bits(bytes.data(), bytes.size());
}

RunningChecksum::RunningChecksum() {
  static_assert(sizeof state_ >= sizeof(XXH3_state_t) && alignof(RunningChecksum) >= alignof(XXH3_state_t));
  auto* const state = reinterpret_cast<XXH3_state_t*>(state_);
  XXH3_INITSTATE(state);
  XXH3_64bits_reset(state);
}

void RunningChecksum::add(std::string_view bytes) {
#if defined(__x86_64__) && !defined(__clang__)
  if (has_avx2()) return add_to_checksum_by_avx2(state_, bytes.data(), bytes.size());
#endif
  XXH3_64bits_update(reinterpret_cast<XXH3_state_t*>(state_), bytes.data(), bytes.size());
}

std::uint64_t RunningChecksum::value() const {
  return XXH3_64bits_digest(reinterpret_cast<const XXH3_state_t*>(state_));
}

}  // namespace bagwise
