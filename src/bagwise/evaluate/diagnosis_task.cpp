#include "bagwise/evaluate/diagnosis_task.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bagwise/bags/leak_guard.h"
#include "bagwise/methods/mean_map/mean_map.h"

namespace bagwise {
namespace {

// Sizes, proportions and what follows from them alone.
void look_at_bags(const ReducedBags& data, TaskDiagnosis& out) {
  std::vector<double> sizes;
  double inverse = 0;
  for (std::size_t k = 0; k < data.bags.size(); ++k) {
    const auto size = static_cast<double>(data.sums.count(k));
    const double p = data.bags.proportions[k];
    out.instances += data.sums.count(k);
    sizes.push_back(size);
    if (size > 0) inverse += 1 / size;
    out.pure_bags += p == 0 || p == 1 ? 1 : 0;
  }
  out.sizes = spread_of(sizes);
  out.proportions = spread_of(data.bags.proportions);
  const ClassMeans means = class_means(data.sums, data.bags.proportions);
  const double both = means.share * (1 - means.share), n = static_cast<double>(means.rows);
  out.share = means.share;
  out.condition = means.deviation > 0 ? means.condition : std::numeric_limits<double>::infinity();
  out.chance_deviation =
      std::sqrt(both * inverse / static_cast<double>(std::max<std::size_t>(1, sizes.size())));
  if (!(both > 0)) return;
  out.effective_size = n * means.deviation * means.deviation / both;
  if (data.bags.size() > 1)
    out.chance_tail = chi_square_tail(out.effective_size, static_cast<double>(data.bags.size() - 1));
}

}  // namespace

std::vector<std::pair<std::string, double>> nearly_leaked_features(const ReducedBags& data) {
  constexpr std::size_t kFewestBags = 8;  // with fewer, chance alone comes near 1
  constexpr double kNear = 0.999;
  std::vector<std::pair<std::string, double>> out;
  const std::size_t bags = data.bags.size();
  const Spread p = spread_of(data.bags.proportions);
  if (bags < kFewestBags || !(p.deviation > 0)) return out;
  const DenseRows means = data.sums.means();
  for (std::size_t j = 0; j < data.feature_names.size(); ++j) {
    // In units of the largest mean, so that no square leaves the range of numbers.
    double largest = 0, mean = 0;
    for (std::size_t k = 0; k < bags; ++k) largest = std::max(largest, std::abs(means(k, j)));
    if (!(largest > 0) || !std::isfinite(largest)) continue;
    for (std::size_t k = 0; k < bags; ++k) mean += means(k, j) / largest / static_cast<double>(bags);
    double along = 0, square = 0;
    for (std::size_t k = 0; k < bags; ++k) {
      const double off = means(k, j) / largest - mean;
      along += off * (data.bags.proportions[k] - p.mean);
      square += off * off;
    }
    if (!(square > 0)) continue;
    const double correlation = along / (std::sqrt(square * static_cast<double>(bags)) * p.deviation);
    if (std::abs(correlation) > kNear) out.emplace_back(data.feature_names[j], correlation);
  }
  return out;
}

TaskDiagnosis diagnose_task(const std::string& name, const BaggedData& data, const ReducedBags& reduced,
                            const DiagnosisOptions& options) {
  TaskDiagnosis out;
  out.name = name;
  out.bags = reduced.bags.size();
  out.features = reduced.feature_names.size();
  look_at_bags(reduced, out);
  const RowsView rows = data.features.view();
  out.duplicates = find_duplicates(rows, data.bag_of_row, options.threads);
  for (const std::size_t j : constant_columns(rows)) out.constant_features.push_back(data.feature_names[j]);
  out.leaks = leaked_features(reduced);
  for (auto& near : nearly_leaked_features(reduced)) {
    if (std::find(out.leaks.begin(), out.leaks.end(), near.first) == out.leaks.end())
      out.near_leaks.push_back(std::move(near));
  }
  out.scales = feature_scales(reduced.moments);
  if (out.scales.largest > 0) out.largest_feature = reduced.feature_names[out.scales.feature];
  Rng rng(options.seed, 1);
  out.signal =
      held_out_signal(data, reduced, feature_units(reduced.moments), options.folds, rng, options.threads);
  return out;
}

}  // namespace bagwise
