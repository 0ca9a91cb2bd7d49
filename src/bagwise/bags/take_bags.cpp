#include "bagwise/bags/take_bags.h"

#include "bagwise/bags/rows_by_bag.h"

namespace bagwise {

Bags take_bags(const Bags& bags, std::span<const std::uint32_t> which) {
  Bags out;
  for (const std::uint32_t k : which) {
    out.names.push_back(bags.names[k]);
    out.proportions.push_back(bags.proportions[k]);
    if (!bags.noise.empty()) out.noise.push_back(bags.noise[k]);
  }
  return out;
}

ReducedBags take_bags(const ReducedBags& data, std::span<const std::uint32_t> which) {
  return {data.feature_names, take_bags(data.bags, which), data.sums.reordered(which), data.moments,
          data.has_bounds};
}

BaggedData take_bags(const BaggedData& data, std::span<const std::uint32_t> which) {
  const RowsByBag rows(data.bag_of_row, data.bags.size());
  BaggedData out;
  std::vector<std::size_t> taken;
  for (std::size_t k = 0; k < which.size(); ++k) {
    for (const std::size_t i : rows.of(which[k])) {
      taken.push_back(i);
      out.bag_of_row.push_back(static_cast<std::uint32_t>(k));
      if (!data.bounds.empty()) out.bounds.push_back(data.bounds[i]);
    }
  }
  out.features = take_rows(data.features.view(), taken);
  out.feature_names = data.feature_names;
  out.bags = take_bags(data.bags, which);
  return out;
}

std::vector<std::uint32_t> other_bags(std::size_t bags, std::span<const std::uint32_t> left_out) {
  std::vector<bool> out_of_it(bags, false);
  for (const std::uint32_t k : left_out) out_of_it[k] = true;
  std::vector<std::uint32_t> out;
  for (std::uint32_t k = 0; k < bags; ++k) {
    if (!out_of_it[k]) out.push_back(k);
  }
  return out;
}

}  // namespace bagwise
