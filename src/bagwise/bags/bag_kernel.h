// The kernel between bags: the average of the kernel over all pairs of their instances.
//
//   Kbag(k, l) = 1/(|B_k| |B_l|) sum_{i in B_k, j in B_l} k(x_i, x_j)
//
// the inner product of the bags' means in the kernel's space.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bagwise/core/observer.h"
#include "bagwise/linalg/kernel_function.h"

namespace bagwise {

// Some instances and the bag of each: of one task, or of all tasks together with their bags numbered on.
struct RowsInBags {
  RowsView rows;
  std::span<const std::uint32_t> bag_of_row;
  std::size_t bags = 0;
};

// Kbag over all bags, both triangles; a bag without rows has zeros. Blocked: memory for bags x bags values
// and a few blocks, never instances x instances; on up to `threads` threads, the same bits whatever their
// number. An observer that stops leaves the rest zero (the caller asks it again).
ColMatrix bag_kernel(const KernelFunction& kernel, const RowsInBags& data, unsigned threads = 0,
                     const Observer& observer = {});

}  // namespace bagwise
