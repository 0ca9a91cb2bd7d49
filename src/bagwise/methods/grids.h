// What default grids are made of.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "bagwise/core/options.h"
#include "bagwise/methods/registry.h"

namespace bagwise {

// 2^from, 2^(from + step), ... up to 2^to.
inline std::vector<double> powers_of_two(int from, int to, int step = 1) {
  std::vector<double> out;
  for (int e = from; e <= to; e += step) out.push_back(std::exp2(e));
  return out;
}

// A path along C for every value of another option.
inline std::vector<SettingsPath> cost_paths(const std::vector<double>& costs, const std::string& other,
                                            const std::vector<double>& values) {
  std::vector<SettingsPath> out;
  for (const double value : values) {
    SettingsPath path;
    for (const double cost : costs)
      path.push_back({{"C", to_text(OptionValue(cost))}, {other, to_text(OptionValue(value))}});
    out.push_back(std::move(path));
  }
  return out;
}

}  // namespace bagwise
