#include "bagwise/bags/folds.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace bagwise {

std::vector<std::vector<std::uint32_t>> bag_folds(std::span<const std::uint64_t> sizes,
                                                  std::span<const double> proportions, std::size_t folds,
                                                  Rng& rng) {
  assert(sizes.size() == proportions.size() && folds >= 1 && folds <= sizes.size());
  std::vector<std::uint32_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0U);
  shuffle(std::span(order), rng);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return proportions[a] < proportions[b]; });

  std::vector<std::vector<std::uint32_t>> out(folds);
  std::vector<std::uint64_t> rows(folds, 0);
  for (std::size_t from = 0; from < order.size(); from += folds) {
    const std::size_t count = std::min(folds, order.size() - from);
    const auto layer = std::span(order).subspan(from, count);
    shuffle(layer, rng);
    std::stable_sort(layer.begin(), layer.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return sizes[a] > sizes[b]; });
    std::vector<std::size_t> free(folds);
    std::iota(free.begin(), free.end(), std::size_t{0});
    shuffle(std::span(free), rng);
    std::stable_sort(free.begin(), free.end(),
                     [&](std::size_t a, std::size_t b) { return rows[a] < rows[b]; });
    for (std::size_t i = 0; i < count; ++i) {
      out[free[i]].push_back(layer[i]);
      rows[free[i]] += sizes[layer[i]];
    }
  }
  for (auto& fold : out) std::sort(fold.begin(), fold.end());
  return out;
}

}  // namespace bagwise
