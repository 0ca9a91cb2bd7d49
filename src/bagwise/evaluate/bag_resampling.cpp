#include "bagwise/evaluate/bag_resampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>

#include "bagwise/bags/rows_by_bag.h"

namespace bagwise {
namespace {

Bags named_by_place(const Bags& bags, std::span<const std::uint32_t> which) {
  Bags out;
  for (std::size_t i = 0; i < which.size(); ++i) {
    out.names.push_back(fmt::format("{:010}", i));
    out.proportions.push_back(bags.proportions[which[i]]);
    if (!bags.noise.empty()) out.noise.push_back(bags.noise[which[i]]);
  }
  return out;
}

}  // namespace

std::vector<std::uint32_t> stratified_folds(std::span<const double> proportions, std::size_t folds,
                                            Rng& rng) {
  assert(folds > 0);
  std::vector<std::uint32_t> order(proportions.size());
  std::iota(order.begin(), order.end(), 0U);
  shuffle(std::span(order), rng);  // bags of equal proportion in random order
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return proportions[a] > proportions[b]; });
  std::vector<std::uint32_t> out(proportions.size()), round(folds);
  std::iota(round.begin(), round.end(), 0U);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i % folds == 0) shuffle(std::span(round), rng);
    out[order[i]] = round[i % folds];
  }
  return out;
}

std::vector<std::uint32_t> bags_in(std::span<const std::uint32_t> fold_of_bag, std::uint32_t fold) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t k = 0; k < fold_of_bag.size(); ++k) {
    if (fold_of_bag[k] == fold) out.push_back(k);
  }
  return out;
}

std::vector<std::uint32_t> bags_outside(std::span<const std::uint32_t> fold_of_bag, std::uint32_t fold) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t k = 0; k < fold_of_bag.size(); ++k) {
    if (fold_of_bag[k] != fold) out.push_back(k);
  }
  return out;
}

std::vector<std::uint32_t> bootstrap_bags(std::size_t bags, Rng& rng) {
  std::vector<std::uint32_t> out(bags);
  for (std::uint32_t& k : out) k = static_cast<std::uint32_t>(rng.below(bags));
  std::sort(out.begin(), out.end());
  return out;
}

BaggedData pick_bags(const BaggedData& data, std::span<const std::uint32_t> which) {
  const RowsByBag by_bag(data.bag_of_row, data.bags.size());
  BaggedData out;
  out.feature_names = data.feature_names;
  out.bags = named_by_place(data.bags, which);
  std::vector<std::size_t> rows;
  for (std::uint32_t place = 0; place < which.size(); ++place) {
    for (const std::size_t i : by_bag.of(which[place])) {
      rows.push_back(i);
      out.bag_of_row.push_back(place);
      if (!data.bounds.empty()) out.bounds.push_back(data.bounds[i]);
    }
  }
  out.features = take_rows(data.features.view(), rows);
  return out;
}

ReducedBags pick_bags(const ReducedBags& data, std::span<const std::uint32_t> which) {
  ReducedBags out;
  out.feature_names = data.feature_names;
  out.bags = named_by_place(data.bags, which);
  out.sums = data.sums.reordered(which);
  out.has_bounds = data.has_bounds;
  return out;
}

}  // namespace bagwise
