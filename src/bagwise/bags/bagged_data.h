// What a training method may see: instances in bags, and each bag's share of positives. There is no label
// here.
//
// BaggedData holds every row; ReducedBags holds only sums per bag, which is all a linear method needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bagwise/bags/bag_sums.h"
#include "bagwise/bags/feature_moments.h"
#include "bagwise/data/dataset.h"

namespace bagwise {

// The bags of a task, sorted by name so that the order of the input does not matter.
struct Bags {
  std::vector<std::string> names;
  std::vector<double> proportions;  // share of positives, in [0, 1]
  std::vector<double> noise = {};   // standard deviation of the error of each proportion; empty = all exact

  [[nodiscard]] std::size_t size() const { return names.size(); }
  [[nodiscard]] double noise_of(std::size_t bag) const { return noise.empty() ? 0.0 : noise[bag]; }
};

struct BaggedData {
  Features features;
  std::vector<std::string> feature_names;
  Bags bags;
  std::vector<std::uint32_t> bag_of_row;  // into bags
  std::vector<double> bounds;             // |dx_j| <= bounds[j]; empty = 0 everywhere
};

struct ReducedBags {
  std::vector<std::string> feature_names;
  Bags bags;
  BagSums sums;             // bag k of sums is bag k of bags
  FeatureMoments moments;   // over all rows
  bool has_bounds = false;  // the rows came with bounds of their own
};

// One pass over the rows, in fixed blocks on up to `threads` threads: the bits do not depend on how many.
ReducedBags reduce(const BaggedData& data, unsigned threads = 0);

}  // namespace bagwise
