// Making bags from labelled data.
//
// Guarding against labels that slip in as features is in leak_guard.h.
#pragma once

#include <cstdint>

#include "bagwise/bags/leak_guard.h"
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
// ..., with leading zeros so that they sort by number. Bags and proportions the table had are replaced.
// Errors: no rows, no labels, a row without label, size 0.
Result<DealtBags> deal_bags(Dataset labelled, std::uint64_t size, Rng& rng);

}  // namespace bagwise
