// Grid files: the settings to try, as JSON.
//
//   {"C": [0.5, 1, 2], "epsilon": [0.01, 0.1]}           all combinations
//   [{"C": [1, 2]}, {"C": [4], "epsilon": [0.01]}]       the combinations of each, one after the other
//   {"inv-cal": {...}, "tl-llp": [...]}                  a grid for each method
//
// A value may stand without brackets; an option that takes a number per source has a list as value.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bagwise/core/result.h"
#include "bagwise/evaluate/grid.h"

namespace bagwise {

struct GridFile {
  std::map<std::string, std::vector<SettingsPath>> by_method;  // "" for every method
};

// Errors name the key. `file` is for messages. Option names are checked by whoever knows the method.
Result<GridFile> grid_from_json(std::string_view text, const std::string& file);
Result<GridFile> read_grid(const std::string& path);

}  // namespace bagwise
