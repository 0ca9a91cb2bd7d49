// The means of bags one by one, without the table of bags x features that sparse sums have no room for.
#pragma once

#include <cstddef>

#include "bagwise/bags/bag_sums.h"

namespace bagwise {

// visit(bag, feature, mean) for every mean that is stored, bag by bag: of sparse sums all others are 0. Bags
// without rows have none.
template <class Visit>
void visit_means(const BagSums& sums, const Visit& visit) {
  for (std::size_t k = 0; k < sums.bags(); ++k) {
    if (sums.count(k) == 0) continue;
    const auto n = static_cast<double>(sums.count(k));
    if (sums.layout() == BagSums::Layout::kSparse) {
      for (const BagSums::Entry& entry : sums.sparse_bag(k).entries)
        visit(k, std::size_t{entry.feature}, (entry.high + entry.low) / n);
      continue;
    }
    for (std::size_t j = 0; j < sums.features(); ++j) visit(k, j, sums.sum(k, j) / n);
  }
}

}  // namespace bagwise
