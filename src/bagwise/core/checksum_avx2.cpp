#include "bagwise/core/checksum_avx2.h"

// All of this file is for AVX2 (no templates, so that nothing of it is taken for other processors). It cannot
// share a batch with another file that includes xxHash.
#if defined(__x86_64__) && !defined(__clang__)
#include <immintrin.h>
#pragma GCC target("avx2")
#define XXH_INLINE_ALL
#define XXH_VECTOR 2  // XXH_AVX2
#include <xxhash.h>

namespace bagwise {

std::uint64_t checksum_by_avx2(const void* bytes, std::size_t size) { return XXH3_64bits(bytes, size); }

void add_to_checksum_by_avx2(void* state, const void* bytes, std::size_t size) {
  XXH3_64bits_update(static_cast<XXH3_state_t*>(state), bytes, size);
}

}  // namespace bagwise
#endif
