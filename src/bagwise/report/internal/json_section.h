// Reading a JSON object whose keys and types may be wrong, without ever throwing.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bagwise/report/internal/read_json.h"

namespace bagwise {

// The first fault found; those after it mostly follow from it.
struct FirstFault {
  std::string message;

  void add(std::string found) {
    if (message.empty()) message = std::move(found);
  }
  [[nodiscard]] bool none() const { return message.empty(); }
};

// One object of the document. A getter that does not find what it should adds a fault (the key, what was
// found, what was expected) and returns something empty.
class Section {
 public:
  Section(const Json& value, std::string name, FirstFault& fault)
      : value_(value), name_(std::move(name)), fault_(fault) {
    if (!value.is_object()) {
      fault_.add(fmt::format("\"{}\" is of type {}; expected an object", name_, kind_of(value)));
    }
  }

  [[nodiscard]] bool has(const char* key) const { return value_.is_object() && value_.contains(key); }
  [[nodiscard]] const Json& at(const char* key) const {
    static const Json kNothing;
    if (has(key)) return *value_.find(key);
    fault_.add(fmt::format("has no \"{}\"", path(key)));
    return kNothing;
  }
  // That there are no keys but these.
  void only(std::initializer_list<std::string_view> known) const {
    if (!value_.is_object()) return;
    for (const auto& [key, value] : value_.items()) {
      if (std::ranges::find(known, key) != known.end()) continue;
      fault_.add(fmt::format("has a \"{}\", which is not known; expected {}", path(key.c_str()),
                             fmt::join(known, ", ")));
    }
  }
  [[nodiscard]] Section section(const char* key) const { return {at(key), path(key), fault_}; }
  [[nodiscard]] std::string text(const char* key) const { return text(at(key), key); }
  [[nodiscard]] double number(const char* key) const { return number(at(key), key); }
  [[nodiscard]] std::uint64_t count(const char* key) const { return count(at(key), key); }
  [[nodiscard]] const Json& array(const char* key) const {
    static const Json kEmpty = Json::array();
    const Json& value = at(key);
    if (value.is_array()) return value;
    fault_.add(fmt::format("\"{}\" is of type {}; expected an array", path(key), kind_of(value)));
    return kEmpty;
  }
  [[nodiscard]] std::vector<double> numbers(const char* key) const {
    std::vector<double> out;
    for (const Json& value : array(key)) out.push_back(number(value, key));
    return out;
  }
  [[nodiscard]] std::vector<std::uint64_t> counts(const char* key) const {
    std::vector<std::uint64_t> out;
    for (const Json& value : array(key)) out.push_back(count(value, key));
    return out;
  }
  [[nodiscard]] std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> out;
    for (const Json& value : array(key)) out.push_back(text(value, key));
    return out;
  }
  [[nodiscard]] std::vector<bool> flags(const char* key) const {
    std::vector<bool> out;
    for (const Json& value : array(key)) {
      if (!value.is_boolean())
        fault_.add(fmt::format("\"{}\" has {}; expected true or false", path(key), shown(value)));
      out.push_back(value == Json(true));
    }
    return out;
  }
  [[nodiscard]] bool flag(const char* key) const {
    const Json& value = at(key);
    if (!value.is_boolean())
      fault_.add(fmt::format("\"{}\" is {}; expected true or false", path(key), shown(value)));
    return value == Json(true);
  }
  // The enumerator of that name (E has a names() overload, as core/options.h describes).
  template <class E>
  [[nodiscard]] E choice(const char* key) const {
    const std::string name = text(key);
    std::vector<std::string_view> known;
    for (const auto& [text, value] : names(E{})) {
      if (text == name) return value;
      known.push_back(text);
    }
    fault_.add(fmt::format("\"{}\" is \"{}\"; expected {}", path(key), name, fmt::join(known, ", ")));
    return E{};
  }
  [[nodiscard]] FirstFault& fault() const { return fault_; }

 private:
  [[nodiscard]] std::string path(const char* key) const { return name_.empty() ? key : name_ + "." + key; }
  [[nodiscard]] std::uint64_t count(const Json& value, const char* key) const {
    if (value.is_number_unsigned()) return value.get<std::uint64_t>();
    fault_.add(fmt::format("\"{}\" is {}; expected a whole number from 0", path(key), shown(value)));
    return 0;
  }
  [[nodiscard]] double number(const Json& value, const char* key) const {
    if (value.is_number()) return value.get<double>();
    fault_.add(fmt::format("\"{}\" has {}; expected a finite number", path(key), shown(value)));
    return 0;
  }
  [[nodiscard]] std::string text(const Json& value, const char* key) const {
    if (value.is_string()) return value.get<std::string>();
    fault_.add(fmt::format("\"{}\" has {}; expected text", path(key), shown(value)));
    return {};
  }

  const Json& value_;
  std::string name_;
  FirstFault& fault_;
};

inline bool all_finite(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
}

}  // namespace bagwise
