#include "bagwise/methods/alter_psvm/starts.h"

#include <numeric>
#include <span>
#include <vector>

namespace bagwise::alter_psvm {
namespace {

// Where two numbers are equally near, the lower.
std::size_t nearest_count(const GroupedRows& rows, std::size_t bag) {
  return feasible_counts(rows.size(bag), rows.proportions()[bag], 0).least;
}

}  // namespace

Labels random_labels(const GroupedRows& rows, Rng& rng) {
  Labels out(rows.data.bag_of_row.size(), -1);
  for (std::size_t k = 0; k < rows.bags(); ++k) {
    std::vector<std::size_t> order(rows.size(k));
    std::iota(order.begin(), order.end(), rows.bag_start[k]);
    shuffle(std::span(order), rng);
    const std::size_t positives = nearest_count(rows, k);
    for (std::size_t i = 0; i < positives; ++i) out[order[i]] = 1;
  }
  return out;
}

Labels labels_by_score(const GroupedRows& rows, std::span<const double> scores) {
  Labels out(scores.size());
  for (std::size_t k = 0; k < rows.bags(); ++k) {
    const std::size_t positives = nearest_count(rows, k);
    label_bag(
        scores.subspan(rows.bag_start[k], rows.size(k)), {positives, positives},
        [](std::size_t) { return 0.0; }, std::span(out).subspan(rows.bag_start[k], rows.size(k)));
  }
  return out;
}

}  // namespace bagwise::alter_psvm
