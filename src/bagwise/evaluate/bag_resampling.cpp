#include "bagwise/evaluate/bag_resampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>

#include "bagwise/bags/feature_moments.h"
#include "bagwise/bags/take_bags.h"

namespace bagwise {
namespace {

// Methods tell bags apart by their names, so that one that is there twice needs two.
void name_by_place(Bags& bags) {
  for (std::size_t i = 0; i < bags.names.size(); ++i) bags.names[i] = fmt::format("{:010}", i);
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
  BaggedData out = take_bags(data, which);
  name_by_place(out.bags);
  return out;
}

ReducedBags pick_bags(const ReducedBags& data, std::span<const std::uint32_t> which) {
  ReducedBags out = take_bags(data, which);
  name_by_place(out.bags);
  out.moments = FeatureMoments();
  return out;
}

}  // namespace bagwise
