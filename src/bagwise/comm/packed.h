// Packing and Unpacking: values as bytes and back, for messages between ranks of one kind of machine.
//
// Not for files, which outlive the machine and the version that wrote them.
#pragma once

#include <cassert>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bagwise {

class Packing {
 public:
  Packing& number(double value) { return raw(&value, sizeof value); }
  Packing& count(std::uint64_t value) { return raw(&value, sizeof value); }
  Packing& maybe(const std::optional<double>& value) { return value ? count(1).number(*value) : count(0); }
  Packing& text(std::string_view value) { return count(value.size()).raw(value.data(), value.size()); }
  Packing& numbers(std::span<const double> values) {
    return count(values.size()).raw(values.data(), values.size_bytes());
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  Packing& raw(const void* data, std::size_t size) {
    bytes_.append(static_cast<const char*>(data), size);
    return *this;
  }
  std::string bytes_;
};

// Reads in the order in which it was packed.
class Unpacking {
 public:
  explicit Unpacking(std::string_view bytes) : left_(bytes) {}

  double number() { return value<double>(); }
  std::uint64_t count() { return value<std::uint64_t>(); }
  std::optional<double> maybe() { return count() == 1 ? std::optional(number()) : std::nullopt; }
  std::string text() { return std::string(take(count())); }
  std::vector<double> numbers() {
    std::vector<double> out(count());
    const std::string_view bytes = take(out.size() * sizeof(double));
    if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
    return out;
  }

 private:
  std::string_view take(std::size_t size) {
    assert(size <= left_.size());
    const std::string_view out = left_.substr(0, size);
    left_.remove_prefix(out.size());
    return out;
  }
  template <class T>
  T value() {
    T out{};
    std::memcpy(&out, take(sizeof out).data(), sizeof out);
    return out;
  }
  std::string_view left_;
};

}  // namespace bagwise
