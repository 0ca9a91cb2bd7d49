// Random bags of several tasks for tests of methods that transfer.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
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

// The value of source t of an option that is given once for all sources or once for each.
inline double at(const std::vector<double>& values, std::size_t t) {
  return values.size() == 1 ? values[0] : values[t];
}

// Distance between two planes, relative to the second.
inline double distance(const TaskModel& a, const TaskModel& b) {
  double square = (a.bias - b.bias) * (a.bias - b.bias), size = b.bias * b.bias;
  for (std::size_t j = 0; j < a.weights.size(); ++j) {
    square += (a.weights[j] - b.weights[j]) * (a.weights[j] - b.weights[j]);
    size += b.weights[j] * b.weights[j];
  }
  return std::sqrt(square / size);
}

}  // namespace bagwise::test
