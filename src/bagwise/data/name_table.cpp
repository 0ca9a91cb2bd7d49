#include "bagwise/data/name_table.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

namespace bagwise {
namespace {

// Folds the 128-bit product of two words into one.
std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace

std::uint64_t NameTable::hash(std::string_view text) {
  constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15U, kSeed = 0xD1B54A32D192ED03U;
  std::uint64_t h = kSeed ^ text.size();
  const char* p = text.data();
  const auto load = [](const char* from, std::size_t bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, from, bytes);
    return word;
  };
  std::size_t left = text.size();
  for (; left > 8; left -= 8, p += 8) h = mix(h ^ load(p, 8), kMultiplier);
  // The last one to eight bytes by two loads that overlap: no loop whose length is hard to foresee.
  std::uint64_t rest = 0;
  if (left == 8) {
    rest = load(p, 8);
  } else if (left >= 4) {
    rest = load(p, 4) | load(p + left - 4, 4) << 32;
  } else if (left >= 2) {
    rest = load(p, 2) | load(p + left - 2, 2) << 32;
  } else if (left == 1) {
    rest = static_cast<unsigned char>(*p);
  }
  return mix(h ^ rest, kMultiplier);
}

std::uint32_t NameTable::number(std::string_view text, std::uint64_t hash) {
  if (2 * (hashes_.size() + 1) > slots_.size()) grow();
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  for (; slots_[at] != 0; at = (at + 1) & mask) {
    const std::uint32_t i = slots_[at] - 1;
    if (hashes_[i] == hash && name(i) == text) return i;
  }
  if (hashes_.size() >= std::numeric_limits<std::uint32_t>::max() - 1) throw std::bad_alloc();
  const auto i = static_cast<std::uint32_t>(hashes_.size());
  slots_[at] = i + 1;
  hashes_.push_back(hash);
  bytes_.append(text);
  starts_.push_back(bytes_.size());
  return i;
}

std::size_t NameTable::find(std::string_view text) const {
  if (slots_.empty()) return size();
  const std::uint64_t wanted = hash(text);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = wanted & mask; slots_[at] != 0; at = (at + 1) & mask) {
    const std::uint32_t i = slots_[at] - 1;
    if (hashes_[i] == wanted && name(i) == text) return i;
  }
  return size();
}

void NameTable::grow() {
  slots_.assign(std::max<std::size_t>(16, 2 * slots_.size()), 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = 0; i < hashes_.size(); ++i) {
    std::size_t at = hashes_[i] & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = static_cast<std::uint32_t>(i) + 1;
  }
}

std::vector<std::string> NameTable::names() const {
  std::vector<std::string> out;
  out.reserve(size());
  for (std::size_t i = 0; i < size(); ++i) out.emplace_back(name(i));
  return out;
}

}  // namespace bagwise
