#include "bagwise/evaluate/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bagwise/core/limits.h"
#include "bagwise/core/memory_budget.h"

namespace bagwise {

std::string setting_text(const OptionTexts& setting) {
  std::vector<std::string> parts;
  for (const auto& [name, text] : setting) parts.push_back(fmt::format("{}={}", name, text));
  return fmt::format("{}", fmt::join(parts, " "));
}

std::vector<SettingsPath> all_combinations(std::vector<GridAxis> axes) {
  std::stable_partition(axes.begin(), axes.end(), [](const GridAxis& axis) { return axis.option != "C"; });
  std::vector<SettingsPath> paths = {{{}}};
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const bool last = a + 1 == axes.size();
    std::vector<SettingsPath> longer;
    for (const SettingsPath& path : paths) {
      SettingsPath along;
      for (const std::string& value : axes[a].values) {
        OptionTexts setting = path[0];
        setting[axes[a].option] = value;
        along.push_back(setting);
        if (!last) longer.push_back({setting});
      }
      if (last) longer.push_back(along);
    }
    paths = std::move(longer);
  }
  return paths;
}

Result<void> check_size(std::size_t settings, const std::vector<GridAxis>& axes) {
  constexpr double kNode = 96;  // of a map, around the two texts
  double all = static_cast<double>(settings), bytes = 0;
  for (const GridAxis& axis : axes) {
    std::size_t longest = 0, total = 0;
    for (const std::string& value : axis.values) {
      longest = std::max(longest, value.size());
      total += value.size();
    }
    if (longest > limits::kLongestSetting)
      return Error{fmt::format("\"{}\" has a value of {} bytes; expected at most {}", axis.option, longest,
                               limits::kLongestSetting)};
    all *= static_cast<double>(axis.values.size());
    bytes += kNode +
             (axis.values.empty() ? 0 : static_cast<double>(total) / static_cast<double>(axis.values.size()));
  }
  if (all > static_cast<double>(limits::kMostSettings))
    return Error{fmt::format("has more than {} settings; expected fewer", limits::kMostSettings)};
  return check_memory(all * bytes, fmt::format("a grid of {:.0f} settings", all),
                      "try fewer values of each option");
}

std::vector<SettingsPath> with_axes(const std::vector<SettingsPath>& paths,
                                    const std::vector<GridAxis>& axes) {
  std::vector<GridAxis> others = axes;
  const auto cost = std::stable_partition(others.begin(), others.end(),
                                          [](const GridAxis& axis) { return axis.option != "C"; });
  const std::vector<GridAxis> along(cost, others.end());  // C, if it is there
  others.erase(cost, others.end());
  std::set<std::string> known;
  std::vector<SettingsPath> out;
  const auto keep = [&](const SettingsPath& path) {
    SettingsPath kept;
    for (const OptionTexts& setting : path) {
      if (known.insert(setting_text(setting)).second) kept.push_back(setting);
    }
    if (!kept.empty()) out.push_back(std::move(kept));
  };
  for (const OptionTexts& values : settings_of(all_combinations(others))) {
    for (const SettingsPath& path : paths) {
      SettingsPath changed;
      for (OptionTexts setting : path) {
        for (const auto& [name, text] : values) setting[name] = text;
        if (along.empty()) {
          changed.push_back(std::move(setting));
          continue;
        }
        SettingsPath costs;
        for (const std::string& value : along[0].values) {
          setting["C"] = value;
          costs.push_back(setting);
        }
        keep(costs);
      }
      keep(changed);
    }
  }
  return out;
}

std::vector<OptionTexts> settings_of(const std::vector<SettingsPath>& paths) {
  std::vector<OptionTexts> out;
  for (const SettingsPath& path : paths) out.insert(out.end(), path.begin(), path.end());
  return out;
}

Result<void> check_grid(const Method& method, const std::vector<SettingsPath>& paths) {
  const std::vector<OptionTexts> settings = settings_of(paths);
  if (settings.empty()) return Error{"the grid has no settings; expected at least one value of every option"};
  for (const OptionTexts& setting : settings) {
    if (auto checked = method.check(setting); !checked) return checked.error();
  }
  return {};
}

}  // namespace bagwise
