#include "bagwise/evaluate/arms.h"

#include <algorithm>

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

}  // namespace bagwise
