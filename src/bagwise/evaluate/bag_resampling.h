// Some bags of a task, some of them several times: what folds of bags and bootstraps over bags are made of.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/core/random.h"
#include "bagwise/methods/registry.h"

namespace bagwise {

// A fold in [0, folds) for every bag: bags by falling proportion are dealt out `folds` at a time, each such
// round in random order, so that the folds' proportions and sizes are alike.
std::vector<std::uint32_t> stratified_folds(std::span<const double> proportions, std::size_t folds, Rng& rng);

// The numbers of the bags that are in fold `fold`, or that are not.
std::vector<std::uint32_t> bags_in(std::span<const std::uint32_t> fold_of_bag, std::uint32_t fold);
std::vector<std::uint32_t> bags_outside(std::span<const std::uint32_t> fold_of_bag, std::uint32_t fold);

// As many bags as there are, drawn with replacement; ascending.
std::vector<std::uint32_t> bootstrap_bags(std::size_t bags, Rng& rng);

// The rows of these bags; `which` ascends, and a bag that stands in it twice is there twice. Bags are named
// by their places.
BaggedData pick_bags(const BaggedData& data, std::span<const std::uint32_t> which);
// The same of sums alone; without moments, which sums per bag do not tell.
ReducedBags pick_bags(const ReducedBags& data, std::span<const std::uint32_t> which);

}  // namespace bagwise
