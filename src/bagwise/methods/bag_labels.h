// Labels for the rows of a bag where only the number of positives is bound: the best ones, exactly.
//
// Among all labelings with m positives the best takes the m rows of largest gain; so one sort and one running
// sum decide over all 2^n labelings. Test: bag_labels_test.cpp tries every labeling of bags up to 12 rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace bagwise {

using Labels = std::vector<std::int8_t>;  // -1 or +1, one per row

// How many positives a bag may have: least, least + 1, ..., most.
struct CountRange {
  std::size_t least = 0, most = 0;
};

// The numbers m with |m/size - p| <= epsilon; where there is none, the number nearest to p size (both
// neighbours if it lies half way between them).
CountRange feasible_counts(std::size_t size, double p, double epsilon);

// Sets `labels` to those that minimise  cost(m) - sum of gain_j over the m rows labelled +1,  m in `range`,
// and returns the least value. Rows of equal gain are taken in their order; of equally good m the least.
template <class Cost>
double label_bag(std::span<const double> gain, CountRange range, const Cost& cost,
                 std::span<std::int8_t> labels) {
  std::vector<std::uint32_t> order(gain.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return gain[a] > gain[b] || (gain[a] == gain[b] && a < b);
  });
  double gained = 0;
  for (std::size_t m = 0; m < range.least; ++m) gained += gain[order[m]];
  double best = cost(range.least) - gained;
  std::size_t positives = range.least;
  for (std::size_t m = range.least + 1; m <= range.most; ++m) {
    gained += gain[order[m - 1]];
    if (const double value = cost(m) - gained; value < best) {
      best = value;
      positives = m;
    }
  }
  for (std::size_t m = 0; m < order.size(); ++m) labels[order[m]] = m < positives ? 1 : -1;
  return best;
}

}  // namespace bagwise
