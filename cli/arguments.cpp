#include "cli/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>

#include "bagwise/core/options.h"

namespace bagwise::cli {
namespace {

std::uint64_t to_whole(const std::string& text) {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool is_whole(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc{} && end == text.data() + text.size();
}

std::string range_of(const Option& option) {
  if (option.most >= 1e300) return fmt::format("from {}", option.least);
  return fmt::format("from {} to {}", option.least, option.most);
}

}  // namespace

Arguments::Arguments(const std::vector<Option>& options,
                     std::map<std::string, std::vector<std::string>> given)
    : given_(std::move(given)) {
  for (const Option& option : options) fallbacks_.emplace(option.name, option.fallback);
}

void Arguments::settle(const std::string& name, const std::string& instead_of, const std::string& value) {
  if (fallbacks_.contains(name) && text(name) == instead_of) given_[name] = {value};
}

std::string Arguments::text(const std::string& name) const {
  assert(fallbacks_.contains(name));
  const auto found = given_.find(name);
  return found != given_.end() ? found->second.back() : fallbacks_.at(name);
}

std::vector<std::string> Arguments::texts(const std::string& name) const {
  assert(fallbacks_.contains(name));
  const auto found = given_.find(name);
  return found != given_.end() ? found->second : std::vector<std::string>{};
}

std::uint64_t Arguments::whole(const std::string& name) const { return to_whole(text(name)); }

double Arguments::number(const std::string& name) const {
  const auto parsed = options_detail::parse_number(text(name));
  return parsed ? *parsed : 0;
}

Result<void> check_value(const Option& option, const std::string& text) {
  const auto fault = [&](const std::string& expected) {
    return Error{fmt::format("{}: \"{}\" is not {}", option.positional ? option.value : "--" + option.name,
                             text, expected)};
  };
  switch (option.kind) {
    case Kind::kText:
    case Kind::kFlag:
      break;
    case Kind::kWhole: {
      if (!is_whole(text)) return fault("a whole number " + range_of(option));
      const auto value = static_cast<double>(to_whole(text));
      if (value < option.least || value > option.most) return fault("a whole number " + range_of(option));
      break;
    }
    case Kind::kNumber: {
      const auto value = options_detail::parse_number(text);
      if (!value || *value < option.least || *value > option.most)
        return fault("a number " + range_of(option));
      break;
    }
    case Kind::kChoice:
      if (std::find(option.choices.begin(), option.choices.end(), text) == option.choices.end()) {
        return fault(fmt::format("one of {}", fmt::join(option.choices, ", ")));
      }
      break;
  }
  return {};
}

}  // namespace bagwise::cli
