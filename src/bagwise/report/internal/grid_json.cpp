#include "bagwise/report/internal/grid_json.h"

#include <fmt/format.h>

namespace bagwise {
namespace {

std::vector<SettingsPath> combinations_from(const Json& object, FirstFault& fault) {
  std::vector<GridAxis> axes = axes_from(object, fault);
  if (auto checked = check_size(1, axes); !checked) fault.add(checked.error().message);
  if (!fault.none()) return {};
  return all_combinations(std::move(axes));
}

}  // namespace

std::string option_text(const Json& value, const std::string& option, FirstFault& fault) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number()) return to_text(value);
  if (value.is_array() && !value.empty()) {  // one per source
    std::vector<std::string> parts;
    for (const Json& part : value) {
      if (!part.is_number())
        fault.add(fmt::format("\"{}\" has a list with {}; expected numbers", option, shown(part)));
      parts.push_back(to_text(part));
    }
    return fmt::format("{}", fmt::join(parts, ","));
  }
  fault.add(fmt::format("\"{}\" has {}; expected a number, text, true or false", option, shown(value)));
  return {};
}

std::vector<GridAxis> axes_from(const Json& object, FirstFault& fault) {
  std::vector<GridAxis> axes;
  for (const auto& [option, values] : object.items()) {
    GridAxis axis{option, {}};
    if (values.is_array()) {
      for (const Json& value : values) axis.values.push_back(option_text(value, option, fault));
    } else {
      axis.values.push_back(option_text(values, option, fault));
    }
    if (axis.values.empty())
      fault.add(fmt::format("\"{}\" is an empty list; expected at least one value", option));
    axes.push_back(std::move(axis));
  }
  return axes;
}

std::vector<SettingsPath> paths_from(const Json& value, FirstFault& fault) {
  if (value.is_object()) return combinations_from(value, fault);
  if (!value.is_array() || value.empty()) {
    fault.add(fmt::format("is of type {}; expected an object of options, or a list of such objects",
                          value.is_array() ? "empty list" : kind_of(value)));
    return {};
  }
  std::vector<SettingsPath> out;
  std::size_t settings = 0;
  for (const Json& part : value) {
    if (!part.is_object()) {
      fault.add(fmt::format("has {} in its list; expected objects of options", shown(part)));
      return {};
    }
    for (SettingsPath& path : combinations_from(part, fault)) {
      settings += path.size();
      out.push_back(std::move(path));
    }
    if (auto checked = check_size(settings, {}); !checked) fault.add(checked.error().message);
    if (!fault.none()) return {};
  }
  return out;
}

}  // namespace bagwise
