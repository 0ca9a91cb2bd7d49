// Folds of bags: what cross validation holds out where only proportions are known.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bagwise/core/random.h"

namespace bagwise {

// Deals bags into `folds` folds that are alike: bags are taken by their proportion, `folds` at a time, and
// each of those goes to another fold, the largest to the fold that has the fewest rows so far; equal
// proportions and equal sizes are in an order that `rng` draws. Bags are numbers into `sizes`, ascending
// within a fold; the numbers of bags of two folds differ by one at most. 1 <= folds <= bags.
std::vector<std::vector<std::uint32_t>> bag_folds(std::span<const std::uint64_t> sizes,
                                                  std::span<const double> proportions, std::size_t folds,
                                                  Rng& rng);

}  // namespace bagwise
