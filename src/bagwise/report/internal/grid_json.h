// Grids as they stand in JSON: in a file of their own, or as a part of another.
#pragma once

#include <vector>

#include "bagwise/evaluate/grid.h"
#include "bagwise/report/internal/json_section.h"

namespace bagwise {

// How an option's value is written on a command line.
std::string option_text(const Json& value, const std::string& option, FirstFault& fault);

// {"C": [1, 2], "epsilon": 0.1}: the options and their values.
std::vector<GridAxis> axes_from(const Json& object, FirstFault& fault);

// All combinations of an object of options, or those of each in a list of such objects.
std::vector<SettingsPath> paths_from(const Json& value, FirstFault& fault);

}  // namespace bagwise
