#include "bagwise/report/grid_file.h"

#include <fmt/format.h>

#include "bagwise/core/atomic_file.h"
#include "bagwise/report/internal/json_section.h"

namespace bagwise {
namespace {

constexpr std::uint64_t kLargestFile = 16 << 20;
constexpr std::size_t kMostSettings = 1000000;

// How an option's value is written on a command line.
std::string value_text(const Json& value, const std::string& option, FirstFault& fault) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number()) return to_text(value);
  if (value.is_array() && !value.empty()) {  // one per source
    std::vector<std::string> parts;
    for (const Json& part : value) {
      if (!part.is_number())
        fault.add(fmt::format("\"{}\" has a list with {}; expected numbers", option, to_text(part)));
      parts.push_back(to_text(part));
    }
    return fmt::format("{}", fmt::join(parts, ","));
  }
  fault.add(fmt::format("\"{}\" has {}; expected a number, text, true or false", option, to_text(value)));
  return {};
}

std::vector<SettingsPath> combinations_from(const Json& object, FirstFault& fault) {
  std::vector<GridAxis> axes;
  std::size_t settings = 1;
  for (const auto& [option, values] : object.items()) {
    GridAxis axis{option, {}};
    if (values.is_array()) {
      for (const Json& value : values) axis.values.push_back(value_text(value, option, fault));
    } else {
      axis.values.push_back(value_text(values, option, fault));
    }
    if (axis.values.empty())
      fault.add(fmt::format("\"{}\" is an empty list; expected at least one value", option));
    settings *= axis.values.size();
    if (settings > kMostSettings) {
      fault.add(fmt::format("has more than {} settings", kMostSettings));
      return {};
    }
    axes.push_back(std::move(axis));
  }
  return all_combinations(std::move(axes));
}

std::vector<SettingsPath> paths_from(const Json& value, FirstFault& fault) {
  if (value.is_object()) return combinations_from(value, fault);
  if (!value.is_array() || value.empty()) {
    fault.add(fmt::format("is of type {}; expected an object of options, or a list of such objects",
                          value.is_array() ? "empty list" : kind_of(value)));
    return {};
  }
  std::vector<SettingsPath> out;
  for (const Json& part : value) {
    if (!part.is_object()) {
      fault.add(fmt::format("has {} in its list; expected objects of options", to_text(part)));
      return {};
    }
    for (SettingsPath& path : combinations_from(part, fault)) out.push_back(std::move(path));
  }
  return out;
}

bool names_methods(const Json& document) {
  if (!document.is_object() || document.empty()) return false;
  for (const auto& [key, value] : document.items()) {
    if (find_method(key) == nullptr) return false;
  }
  return true;
}

}  // namespace

Result<GridFile> grid_from_json(std::string_view text, const std::string& file) {
  Json document;
  try {
    document = Json::parse(text);
  } catch (const Json::parse_error& error) {
    return Error{
        fmt::format("is not JSON at byte {}; expected a grid such as {{\"C\": [1, 2, 4]}}", error.byte),
        file};
  } catch (const Json::exception&) {
    return Error{"has a number that is out of range", file};
  }
  FirstFault fault;
  GridFile out;
  if (names_methods(document)) {
    for (const auto& [key, value] : document.items()) out.by_method[key] = paths_from(value, fault);
  } else {
    out.by_method[""] = paths_from(document, fault);
  }
  if (!fault.none()) return Error{fault.message, file};
  return out;
}

Result<GridFile> read_grid(const std::string& path) {
  auto text = read_file(path, kLargestFile);
  if (!text) return text.error();
  return grid_from_json(*text, path);
}

}  // namespace bagwise
