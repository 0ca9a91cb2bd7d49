// One description of a method's options feeds checking, the command line, the model file and the docs.
//
// An options type is a plain struct of defaults with
//
//   template <class Visitor> static void describe(Visitor&& visit) {
//     visit("C", &InvCalOptions::C, "weight of each bag's error", positive());
//   }
//
// Members may be double, int, bool, an enum class with a names() overload, std::optional<double> (absent =
// chosen by the method), or std::vector<double> (one number or several, as text "1,2,3", empty = chosen by
// the method; a rule holds for each). What is here does not know any method.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "bagwise/core/result.h"

namespace bagwise {

// A value as it stands in a file: nothing (chosen by the method), a flag, a number, a name or several
// numbers.
using OptionValue =
    std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<double>>;

// "auto" for nothing; doubles in shortest exact form, several with commas between them.
std::string to_text(const OptionValue& value);

// What a numeric option may be: the text stands in help and errors ("C > 0" is the name and "> 0").
struct Rule {
  std::string text;
  bool (*holds)(double) = nullptr;
};
inline Rule any_number() {
  return {"finite", [](double v) { return std::isfinite(v); }};
}
inline Rule positive() {
  return {"> 0", [](double v) { return std::isfinite(v) && v > 0; }};
}
inline Rule non_negative() {
  return {">= 0", [](double v) { return std::isfinite(v) && v >= 0; }};
}

// One option as help, docs and `bagwise methods` show it.
struct OptionInfo {
  std::string name;
  std::string help;
  std::string type;                  // "number", "numbers", "integer", "flag" or "choice"
  std::string rule;                  // "> 0"; for a choice "none|standard|maxabs"
  std::vector<std::string> choices;  // of a choice, else empty
  OptionValue default_value;
};

// The names of all values of an enum class with a names() overload, and of one of them.
template <class E>
std::vector<std::string> choices_of() {
  std::vector<std::string> out;
  for (const auto& entry : names(E{})) out.emplace_back(entry.first);
  return out;
}
template <class E>
std::string name_of(E value) {
  for (const auto& [name, known] : names(E{})) {
    if (known == value) return std::string(name);
  }
  return {};
}

namespace options_detail {

template <class T>
inline constexpr bool is_optional_double = std::is_same_v<T, std::optional<double>>;
template <class T>
inline constexpr bool is_numbers = std::is_same_v<T, std::vector<double>>;

Result<double> parse_number(std::string_view text);
Result<std::int64_t> parse_integer(std::string_view text);
Result<std::vector<double>> parse_numbers(std::string_view text);

template <class T>
OptionValue to_value(const T& v) {
  if constexpr (std::is_same_v<T, bool>) {
    return v;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<std::int64_t>(v);
  } else if constexpr (std::is_same_v<T, double>) {
    return v;
  } else if constexpr (is_optional_double<T>) {
    return v ? OptionValue(*v) : OptionValue();
  } else if constexpr (is_numbers<T>) {
    if (v.empty()) return {};
    return v.size() == 1 ? OptionValue(v[0]) : OptionValue(v);
  } else {
    return name_of(v);
  }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator);
Error unfit(std::string_view text, std::string_view why);  // "TEXT" WHY

// Sets `member` from text; the error says what was found and what was expected, without the option's name.
template <class T>
Result<void> assign(T& member, std::string_view text) {
  if constexpr (std::is_same_v<T, bool>) {
    if (text != "true" && text != "false") return unfit(text, "is not true or false");
    member = text == "true";
  } else if constexpr (std::is_integral_v<T>) {
    auto parsed = parse_integer(text);
    if (!parsed) return parsed.error();
    if (!std::in_range<T>(*parsed)) return unfit(text, "is out of range");
    member = static_cast<T>(*parsed);
  } else if constexpr (std::is_same_v<T, double> || is_optional_double<T>) {
    if constexpr (is_optional_double<T>) {
      if (text == "auto") {
        member.reset();
        return {};
      }
    }
    auto parsed = parse_number(text);
    if (!parsed) return parsed.error();
    member = *parsed;
  } else if constexpr (is_numbers<T>) {
    if (text == "auto") {
      member.clear();
      return {};
    }
    auto parsed = parse_numbers(text);
    if (!parsed) return parsed.error();
    member = std::move(*parsed);
  } else {
    for (const auto& [name, value] : names(T{})) {
      if (name == text) {
        member = value;
        return {};
      }
    }
    return unfit(text, "is not one of " + join(choices_of<T>(), ", "));
  }
  return {};
}

template <class T>
bool breaks(const T& member, const Rule& rule) {
  if (rule.holds == nullptr) return false;
  if constexpr (is_optional_double<T>) {
    return member.has_value() && !rule.holds(*member);
  } else if constexpr (is_numbers<T>) {
    return !std::all_of(member.begin(), member.end(), rule.holds);
  } else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
    return !rule.holds(static_cast<double>(member));
  } else {
    return false;
  }
}

template <class T>
std::string type_name() {
  if constexpr (std::is_same_v<T, bool>) return "flag";
  if constexpr (std::is_integral_v<T>) return "integer";
  if constexpr (std::is_enum_v<T>) return "choice";
  if constexpr (is_numbers<T>) return "numbers";
  return "number";
}

}  // namespace options_detail

// Every option of O in the order of its description.
template <class O>
std::vector<OptionInfo> list_options() {
  std::vector<OptionInfo> out;
  const O defaults{};
  O::describe([&]<class T>(const char* name, T O::*member, const char* help, const Rule& rule = {}) {
    std::vector<std::string> choices;
    if constexpr (std::is_enum_v<T>) choices = choices_of<T>();
    std::string text = choices.empty() ? rule.text : options_detail::join(choices, "|");
    out.push_back({name, help, options_detail::type_name<T>(), std::move(text), std::move(choices),
                   options_detail::to_value(defaults.*member)});
  });
  return out;
}

// The values in force, in the order of the description.
template <class O>
std::vector<std::pair<std::string, OptionValue>> option_values(const O& options) {
  std::vector<std::pair<std::string, OptionValue>> out;
  O::describe(
      [&]<class T>(const char* name, T O::*member, const char*, [[maybe_unused]] const Rule& rule = {}) {
        out.emplace_back(name, options_detail::to_value(options.*member));
      });
  return out;
}

// Sets one option from text. Errors: unknown name, wrong type, or a broken rule ("C = -1 breaks C > 0").
template <class O>
Result<void> set_option(O& options, std::string_view wanted, std::string_view text) {
  bool found = false;
  Result<void> outcome;
  O::describe([&]<class T>(const char* name, T O::*member, const char*, const Rule& rule = {}) {
    if (wanted != name) return;
    found = true;
    T parsed = options.*member;
    if (auto assigned = options_detail::assign(parsed, text); !assigned) {
      outcome = Error{std::string(name) + ": " + assigned.error().message};
    } else if (options_detail::breaks(parsed, rule)) {
      outcome = Error{std::string(name) + " = " + std::string(text) + " breaks " + name + " " + rule.text};
    } else {
      options.*member = parsed;
    }
  });
  if (!found) return Error{"there is no option " + std::string(wanted)};
  return outcome;
}

// All faults of a hand-filled struct, each as "C = -1 breaks C > 0"; empty if there are none.
template <class O>
std::vector<std::string> validate(const O& options) {
  std::vector<std::string> faults;
  O::describe([&]<class T>(const char* name, T O::*member, const char*, const Rule& rule = {}) {
    if (options_detail::breaks(options.*member, rule)) {
      faults.push_back(std::string(name) + " = " + to_text(options_detail::to_value(options.*member)) +
                       " breaks " + name + " " + rule.text);
    }
  });
  return faults;
}

}  // namespace bagwise
