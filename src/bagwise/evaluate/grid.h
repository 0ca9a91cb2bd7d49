// Grids: the settings a method is tried with, as paths along which each is a good start for the next.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "bagwise/core/result.h"
#include "bagwise/methods/registry.h"

namespace bagwise {

// An option and the values it shall take, in their order.
struct GridAxis {
  std::string option;
  std::vector<std::string> values;
};

// "C=1 epsilon=0.1", by name; nothing for no options.
std::string setting_text(const OptionTexts& setting);

// All combinations of the values, one path for each of all but the last axis. That is C where there is one:
// it is what solves depend on most smoothly.
std::vector<SettingsPath> all_combinations(std::vector<GridAxis> axes);

// That all combinations of `axes` with so many settings are not too many, and that there is memory for them.
Result<void> check_size(std::size_t settings, const std::vector<GridAxis>& axes);

// The settings of `paths` with these options at these values instead of their own, in all combinations;
// settings that became equal are kept once. Values of C make paths along C, others leave paths as they are.
std::vector<SettingsPath> with_axes(const std::vector<SettingsPath>& paths,
                                    const std::vector<GridAxis>& axes);

// The settings one after the other.
std::vector<OptionTexts> settings_of(const std::vector<SettingsPath>& paths);

// That every setting is one the method takes: the first fault, as the method states it. An empty grid, or an
// axis without values, is a fault too.
Result<void> check_grid(const Method& method, const std::vector<SettingsPath>& paths);

}  // namespace bagwise
