// Where the alternation starts: labels drawn at random, or those of InvCal.
#pragma once

#include <cstddef>
#include <vector>

#include "bagwise/core/random.h"
#include "bagwise/methods/bag_labels.h"
#include "bagwise/methods/inv_cal/inv_cal.h"
#include "bagwise/methods/registry.h"

namespace bagwise::alter_psvm {

// The rows as scaled, those of a bag together, in an order that is not the input's (grouped_rows.h).
struct GroupedBags {
  BaggedData data;
  std::vector<std::size_t> bag_start;  // where each bag begins, and the end of the last
};
GroupedBags group(const BaggedData& data, const Scaling& scaling);

// In every bag as many positives, taken at random, as come nearest to its proportion.
Labels random_labels(const GroupedBags& bags, Rng& rng);

// In every bag that many again: the rows that InvCal scores highest.
Result<Labels> inv_cal_labels(const GroupedBags& bags, const InvCalOptions& options, const Context& context);

}  // namespace bagwise::alter_psvm
