#include "bagwise/methods/alter_psvm/starts.h"

#include <numeric>

#include "bagwise/methods/grouped_rows.h"
#include "bagwise/methods/scorer.h"

namespace bagwise::alter_psvm {
namespace {

// Of bag k of so many rows; where two numbers are equally near, the lower.
std::size_t nearest_count(const GroupedBags& bags, std::size_t k, std::size_t size) {
  return feasible_counts(size, bags.data.bags.proportions[k], 0).least;
}

}  // namespace

GroupedBags group(const BaggedData& data, const Scaling& scaling) {
  GroupedBags out;
  GroupedRows grouped = group_rows(data, scaling);
  out.data.features = std::move(grouped.rows);
  out.data.feature_names = data.feature_names;
  out.data.bags = data.bags;
  for (std::size_t k = 0; k < grouped.bags(); ++k)
    out.data.bag_of_row.insert(out.data.bag_of_row.end(), grouped.size(k), static_cast<std::uint32_t>(k));
  out.bag_start = std::move(grouped.bag_start);
  return out;
}

Labels random_labels(const GroupedBags& bags, Rng& rng) {
  Labels out(bags.data.bag_of_row.size(), -1);
  for (std::size_t k = 0; k < bags.data.bags.size(); ++k) {
    std::vector<std::size_t> order(bags.bag_start[k + 1] - bags.bag_start[k]);
    std::iota(order.begin(), order.end(), bags.bag_start[k]);
    shuffle(std::span(order), rng);
    const std::size_t positives = nearest_count(bags, k, order.size());
    for (std::size_t i = 0; i < positives; ++i) out[order[i]] = 1;
  }
  return out;
}

Result<Labels> inv_cal_labels(const GroupedBags& bags, const InvCalOptions& options, const Context& context) {
  const TrainingTask task{"target", reduce(bags.data, context.threads), &bags.data};
  const auto fit = fit_inv_cal(task, options, context);
  if (!fit) return fit.error();
  const std::vector<double> f = Scorer(fit->model, 0).scores(bags.data.features.view(), context.threads);
  Labels out(f.size());
  for (std::size_t k = 0; k < bags.data.bags.size(); ++k) {
    const std::size_t from = bags.bag_start[k], size = bags.bag_start[k + 1] - from;
    const std::size_t positives = nearest_count(bags, k, size);
    label_bag(
        std::span(f).subspan(from, size), {positives, positives}, [](std::size_t) { return 0.0; },
        std::span(out).subspan(from, size));
  }
  return out;
}

}  // namespace bagwise::alter_psvm
