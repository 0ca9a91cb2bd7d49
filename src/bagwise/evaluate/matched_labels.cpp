#include "bagwise/evaluate/matched_labels.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace bagwise {

std::vector<bool> matched_labels(std::span<const double> scores, std::span<const std::uint32_t> bag_of_row,
                                 std::span<const double> shares) {
  assert(scores.size() == bag_of_row.size());
  std::vector<std::int64_t> left(shares.size(), 0);  // positives still to give, per bag
  for (const std::uint32_t bag : bag_of_row) ++left[bag];
  for (std::size_t k = 0; k < shares.size(); ++k)
    left[k] = std::llround(shares[k] * static_cast<double>(left[k]));
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
  });
  std::vector<bool> out(scores.size());
  for (const std::size_t i : order) out[i] = left[bag_of_row[i]]-- > 0;
  return out;
}

double accuracy_of(const std::vector<bool>& labels, std::span<const std::int8_t> truth) {
  assert(labels.size() == truth.size());
  std::uint64_t known = 0, right = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (truth[i] == 0) continue;
    ++known;
    right += labels[i] == (truth[i] > 0) ? 1 : 0;
  }
  return known == 0 ? 0 : static_cast<double>(right) / static_cast<double>(known);
}

}  // namespace bagwise
