// Making bags from labelled data, and guarding against labels that slip in as features.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/bags/proportions.h"
#include "bagwise/core/random.h"
#include "bagwise/core/result.h"
#include "bagwise/data/dataset.h"

namespace bagwise {

struct DealtBags {
  Dataset instances;            // the same rows in the same order, a bag named for each, labels taken out
  ProportionTable proportions;  // what the labels of each bag come to
};

// Deals rows at random into bags of `size` (a last, smaller bag takes the rest). Bags are called "1", "2",
// ..., with leading zeros so that they sort by number.
Result<DealtBags> deal_bags(Dataset labelled, std::uint64_t size, Rng& rng);

// The features whose bag means equal the bags' proportions in every bag: the label under another name.
// Values 0/1 are compared with the proportion, -1/1 with 2p - 1; to 1e-9.
std::vector<std::string> leaked_features(const ReducedBags& data);

}  // namespace bagwise
