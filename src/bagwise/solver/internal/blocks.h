// Work on long arrays in fixed blocks: on several threads, with the same bits whatever their number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "bagwise/core/parallel.h"

namespace bagwise::internal {

constexpr std::size_t kBlockSize = 8192;  // a block of a few arrays fits the second-level cache

// Calls work(from, to) for every block of [0, n).
template <class Work>
void over_blocks(std::size_t n, unsigned threads, const Work& work) {
  parallel_for((n + kBlockSize - 1) / kBlockSize, threads,
               [&](std::size_t block) { work(block * kBlockSize, std::min(n, (block + 1) * kBlockSize)); });
}

// What work(from, to, part) makes of every block, each part starting as `zero`; in the order of the blocks.
template <class Part, class Work>
std::vector<Part> parts_of_blocks(std::size_t n, unsigned threads, const Part& zero, const Work& work) {
  std::vector<Part> parts((n + kBlockSize - 1) / kBlockSize, zero);
  over_blocks(n, threads,
              [&](std::size_t from, std::size_t to) { work(from, to, parts[from / kBlockSize]); });
  return parts;
}

// The sum of term(from, to) over all blocks, added in their order.
template <class Term>
double sum_blocks(std::size_t n, unsigned threads, const Term& term) {
  double sum = 0;
  const auto add = [&](std::size_t from, std::size_t to, double& part) { part = term(from, to); };
  for (const double part : parts_of_blocks(n, threads, 0.0, add)) sum += part;
  return sum;
}

}  // namespace bagwise::internal
