// Arms: what is tuned side by side, a method in a metric with the settings it is tried with.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bagwise/core/result.h"
#include "bagwise/methods/registry.h"

namespace bagwise {

struct Arm {
  const Method* method = nullptr;
  std::string metric = "none";
  std::vector<SettingsPath> paths;  // whose settings do not name the metric
};

// Settings that differ in their metric go to arms of their own, which share no path.
std::vector<Arm> arms_by_metric(const Method& method, const std::vector<SettingsPath>& paths);

// That sources are of use to one setting at least; else what the first has against them.
Result<void> check_sources_used(std::span<const Arm> arms);

// Whether a setting has a kernel other than the linear one: there are no planes to average then.
bool has_kernel(std::span<const Arm> arms);

}  // namespace bagwise
