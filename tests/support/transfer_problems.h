// Random bags of several tasks for tests of methods that transfer.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "bagwise/methods/registry.h"
#include "support/bag_problems.h"

namespace bagwise::test {

// Bags of several tasks: sources first, the target last.
struct World {
  std::vector<BaggedData> data;
  std::vector<TrainingTask> tasks;
};

inline World random_world(Rng& rng, std::size_t tasks, std::size_t features, std::size_t bags = 12,
                          bool bounds = false, std::uint64_t largest = 9) {
  World out;
  for (std::size_t t = 0; t < tasks; ++t) {
    out.data.push_back(random_bags(rng, bags + rng.below(6), features, largest));
    if (!bounds) continue;
    for (std::size_t i = 0; i < out.data.back().bag_of_row.size(); ++i)
      out.data.back().bounds.push_back(0.2 * rng.uniform());
  }
  for (std::size_t t = 0; t < tasks; ++t) {
    out.tasks.push_back({t + 1 == tasks ? "target"
                         : t == 0       ? "source"
                                        : fmt::format("source-{}", t + 1),
                         reduce(out.data[t]), &out.data[t]});
  }
  return out;
}

}  // namespace bagwise::test
