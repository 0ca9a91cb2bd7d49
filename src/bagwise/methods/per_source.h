// Options that are given once for all sources or once for each.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "bagwise/core/result.h"

namespace bagwise {

inline Result<void> check_per_source(const char* option, const std::vector<double>& values,
                                     std::size_t sources) {
  if (values.size() == 1 || values.size() == sources) return {};
  return Error{fmt::format("{} = {} has {} values, but there {}; expected one for all, or one per source",
                           option, values.empty() ? "auto" : fmt::format("{}", fmt::join(values, ",")),
                           values.size(),
                           sources == 1 ? "is 1 source" : fmt::format("are {} sources", sources))};
}

// The value of every task: those of the sources, then the target's.
inline std::vector<double> per_task(const std::vector<double>& sources, double target, std::size_t tasks) {
  std::vector<double> out(tasks, target);
  for (std::size_t t = 0; t + 1 < tasks; ++t) out[t] = sources.size() == 1 ? sources[0] : sources[t];
  return out;
}

// Whether the target learns alone, as far as the last digits of accuracy go: with every lambda this small its
// plane is within about lambda of the one it has without sources.
inline bool nothing_is_shared(double lambda, const std::vector<double>& lambda_source) {
  constexpr double kTiny = 1e-3;
  return lambda <= kTiny && std::all_of(lambda_source.begin(), lambda_source.end(),
                                        [](double source) { return source <= kTiny; });
}

}  // namespace bagwise
