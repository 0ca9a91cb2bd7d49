// The checksum by wider vectors, for processors that have AVX2: the same number, sooner.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bagwise {

std::uint64_t checksum_by_avx2(const void* bytes, std::size_t size);
// More bytes to a running checksum; `state` is xxHash's.
void add_to_checksum_by_avx2(void* state, const void* bytes, std::size_t size);

}  // namespace bagwise
