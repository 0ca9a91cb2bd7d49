// Arms: what is tuned side by side, a method in a metric with the settings it is tried with.
#pragma once

#include <string>
#include <vector>

#include "bagwise/methods/registry.h"

namespace bagwise {

struct Arm {
  const Method* method = nullptr;
  std::string metric = "none";
  std::vector<SettingsPath> paths;  // whose settings do not name the metric
};

// Settings that differ in their metric go to arms of their own, which share no path.
std::vector<Arm> arms_by_metric(const Method& method, const std::vector<SettingsPath>& paths);

}  // namespace bagwise
