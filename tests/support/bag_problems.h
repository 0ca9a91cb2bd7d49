// Random bags for tests: rows from two clusters, each bag with a true share of positives.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/core/random.h"

namespace bagwise::test {

struct LabelledBags {
  BaggedData data;
  std::vector<std::int8_t> labels;  // for the test alone
};

// Bags of 1 to `largest` rows, each with its own share of positives; class means 2 apart along (1, 1, ...).
inline LabelledBags random_labelled_bags(Rng& rng, std::size_t bags, std::size_t features,
                                         std::uint64_t largest = 9) {
  LabelledBags out;
  BaggedData& data = out.data;
  DenseRows rows(features);
  for (std::size_t j = 0; j < features; ++j) data.feature_names.push_back(fmt::format("x{}", j));
  for (std::size_t k = 0; k < bags; ++k) {
    const std::uint64_t size = 1 + rng.below(largest);
    const double share = rng.uniform();
    std::uint64_t positives = 0;
    for (std::uint64_t i = 0; i < size; ++i) {
      const bool positive = rng.uniform() < share;
      positives += positive ? 1 : 0;
      double* row = rows.append(1);
      for (std::size_t j = 0; j < features; ++j) row[j] = (positive ? 1.0 : -1.0) + 2 * rng.normal();
      data.bag_of_row.push_back(static_cast<std::uint32_t>(k));
      out.labels.push_back(positive ? 1 : -1);
    }
    data.bags.names.push_back(fmt::format("bag{:05}", k));
    data.bags.proportions.push_back(static_cast<double>(positives) / static_cast<double>(size));
  }
  if (bags > 1) data.bags.proportions[0] = data.bags.proportions[1] > 0.5 ? 0.0 : 1.0;  // never all alike
  data.features = Features(std::move(rows));
  return out;
}

inline BaggedData random_bags(Rng& rng, std::size_t bags, std::size_t features, std::uint64_t largest = 9) {
  return random_labelled_bags(rng, bags, features, largest).data;
}

}  // namespace bagwise::test
