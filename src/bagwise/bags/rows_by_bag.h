// Row numbers in the order of their bags.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace bagwise {

struct RowsByBag {
  std::vector<std::size_t> row;    // by bag, and by number within a bag
  std::vector<std::size_t> start;  // where each bag begins, and the end of the last

  RowsByBag(std::span<const std::uint32_t> bag_of_row, std::size_t bags)
      : row(bag_of_row.size()), start(bags + 1, 0) {
    for (const std::uint32_t k : bag_of_row) ++start[k + std::size_t{1}];
    std::partial_sum(start.begin(), start.end(), start.begin());
    std::vector<std::size_t> next(start.begin(), start.end() - 1);
    for (std::size_t i = 0; i < row.size(); ++i) row[next[bag_of_row[i]]++] = i;
  }

  [[nodiscard]] std::size_t bags() const { return start.size() - 1; }
  [[nodiscard]] std::size_t size(std::size_t bag) const { return start[bag + 1] - start[bag]; }
  [[nodiscard]] std::span<const std::size_t> of(std::size_t bag) const {
    return std::span(row).subspan(start[bag], size(bag));
  }
};

}  // namespace bagwise
