#include "bagwise/evaluate/arms.h"

#include <algorithm>
#include <utility>

#include "bagwise/evaluate/grid.h"

namespace bagwise {
namespace {

std::string metric_of(const OptionTexts& setting) {
  const auto metric = setting.find("metric");
  return metric == setting.end() ? "none" : metric->second;
}

}  // namespace

std::vector<Arm> arms_by_metric(const Method& method, const std::vector<SettingsPath>& paths) {
  std::vector<Arm> out;
  for (const SettingsPath& path : paths) {
    for (const OptionTexts& setting : path) {
      const std::string metric = metric_of(setting);
      if (std::ranges::find(out, metric, &Arm::metric) == out.end()) out.push_back({&method, metric, {}});
    }
  }
  for (Arm& arm : out) {
    for (const SettingsPath& path : paths) {
      SettingsPath kept;
      for (OptionTexts setting : path) {
        if (metric_of(setting) != arm.metric) continue;
        setting.erase("metric");
        kept.push_back(std::move(setting));
      }
      if (!kept.empty()) arm.paths.push_back(std::move(kept));
    }
  }
  return out;
}

Result<void> check_sources_used(std::span<const Arm> arms) {
  Result<void> first;
  for (const Arm& arm : arms) {
    for (const OptionTexts& setting : settings_of(arm.paths)) {
      auto checked = arm.method->check_sources(setting);
      if (checked) return {};
      if (first) first = std::move(checked);
    }
  }
  return first;
}

bool has_kernel(std::span<const Arm> arms) {
  for (const Arm& arm : arms) {
    for (const OptionTexts& setting : settings_of(arm.paths)) {
      const auto kernel = setting.find("kernel");
      if (kernel != setting.end() && kernel->second != "linear") return true;
    }
  }
  return false;
}

}  // namespace bagwise
