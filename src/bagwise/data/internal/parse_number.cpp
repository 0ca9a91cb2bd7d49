#include "bagwise/data/internal/parse_number.h"

#include <fast_float/fast_float.h>

#include <cmath>
#include <system_error>

namespace bagwise::internal {

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

NumberFault parse_number(std::string_view text, double& value) {
  text = trimmed(text);
  if (text.empty()) return NumberFault::kEmpty;
  if (text.front() == '+' && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  const auto [stop, code] = fast_float::from_chars(text.data(), end, value);
  if (stop != end || code == std::errc::invalid_argument) return NumberFault::kNotANumber;
  return std::isfinite(value) ? NumberFault::kNone : NumberFault::kNotFinite;
}

}  // namespace bagwise::internal
