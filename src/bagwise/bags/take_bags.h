// Some of the bags of a task as a task of their own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bagwise/bags/bagged_data.h"

namespace bagwise {

// The bags of the given numbers, in that order; a bag may be named several times.
Bags take_bags(const Bags& bags, std::span<const std::uint32_t> which);
// Moments stay those of all rows: what is fitted without proportions (scaling) is not fitted anew.
ReducedBags take_bags(const ReducedBags& data, std::span<const std::uint32_t> which);
// The rows bag by bag, within a bag in their order.
BaggedData take_bags(const BaggedData& data, std::span<const std::uint32_t> which);

// The numbers from 0 to bags - 1 that `left_out` does not have.
std::vector<std::uint32_t> other_bags(std::size_t bags, std::span<const std::uint32_t> left_out);

}  // namespace bagwise
