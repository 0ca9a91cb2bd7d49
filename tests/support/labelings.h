// Every labeling of a few rows that the bags allow, for tests that try them all.
#pragma once

#include <vector>

#include "bagwise/methods/conv_psvm/labeling_cut.h"

namespace bagwise::test {

inline std::vector<Labels> every_feasible_labeling(const FeasibleLabels& feasible) {
  const std::size_t n = feasible.bag_start.back();
  std::vector<Labels> out;
  for (std::size_t bits = 0; bits < std::size_t{1} << n; ++bits) {
    Labels y(n);
    for (std::size_t j = 0; j < n; ++j) y[j] = (bits >> j) % 2 == 1 ? 1 : -1;
    bool fits = true;
    for (std::size_t k = 0; k < feasible.counts.size(); ++k) {
      std::size_t positives = 0;
      for (std::size_t j = feasible.bag_start[k]; j < feasible.bag_start[k + 1]; ++j)
        positives += y[j] > 0 ? 1 : 0;
      fits = fits && positives >= feasible.counts[k].least && positives <= feasible.counts[k].most;
    }
    if (fits) out.push_back(std::move(y));
  }
  return out;
}

}  // namespace bagwise::test
