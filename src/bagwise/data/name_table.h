// NameTable: distinct texts numbered by first appearance, with a fast way from text to number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bagwise {

class NameTable {
 public:
  static std::uint64_t hash(std::string_view text);

  // The number of `text`, a new one if it was not seen before.
  std::uint32_t number(std::string_view text) { return number(text, hash(text)); }
  std::uint32_t number(std::string_view text, std::uint64_t hash);

  // The number of `text`, or size() if there is none.
  [[nodiscard]] std::size_t find(std::string_view text) const;

  [[nodiscard]] std::size_t size() const { return hashes_.size(); }
  // Valid until the next number().
  [[nodiscard]] std::string_view name(std::size_t i) const {
    return std::string_view(bytes_).substr(starts_[i], starts_[i + 1] - starts_[i]);
  }
  [[nodiscard]] std::uint64_t hash_of(std::size_t i) const { return hashes_[i]; }
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  void grow();

  std::string bytes_;  // all names, one after the other
  std::vector<std::size_t> starts_ = {0};
  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> slots_;  // open addressing: number + 1, 0 = free
};

}  // namespace bagwise
