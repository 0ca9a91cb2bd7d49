#include "bagwise/core/options.h"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <charconv>

namespace bagwise {

std::string to_text(const OptionValue& value) {
  struct Visitor {
    std::string operator()(std::monostate) const { return "auto"; }
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(std::int64_t v) const { return fmt::format("{}", v); }
    std::string operator()(double v) const { return fmt::format("{}", v); }
    std::string operator()(const std::string& v) const { return v; }
    std::string operator()(const std::vector<double>& v) const {
      return fmt::format("{}", fmt::join(v, ","));
    }
  };
  return std::visit(Visitor{}, value);
}

namespace options_detail {

Result<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, code] = fast_float::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    return unfit(text, "is not a finite number");
  }
  return value;
}

Result<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) {
    return unfit(text, "is not a whole number");
  }
  return value;
}

Result<std::vector<double>> parse_numbers(std::string_view text) {
  std::vector<double> out;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    auto parsed = parse_number(text.substr(from, comma - from));
    if (!parsed) return parsed.error();
    out.push_back(*parsed);
    from = comma + 1;
  }
  return out;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

Error unfit(std::string_view text, std::string_view why) { return {fmt::format("\"{}\" {}", text, why)}; }

}  // namespace options_detail
}  // namespace bagwise
