#include "bagwise/evaluate/diagnosis_signal.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "bagwise/bags/feature_moments.h"
#include "bagwise/evaluate/bag_resampling.h"
#include "bagwise/evaluate/diagnosis_rows.h"
#include "bagwise/linalg/compensated.h"
#include "bagwise/methods/mean_map/mean_map.h"
#include "bagwise/methods/model.h"

namespace bagwise {
namespace {

// A correlation of 1 found in a few bags does not make its error 0.
constexpr double kLeastUnexplained = 0.1;

struct MeanVariance {
  double mean = 0, variance = 0;
};
MeanVariance mean_and_variance(std::span<const double> values) {
  CompensatedSum sum, squares;
  for (const double v : values) sum.add(v);
  const auto n = static_cast<double>(std::max<std::size_t>(values.size(), 1));
  const double mean = sum.value() / n;
  for (const double v : values) squares.add((v - mean) * (v - mean));
  return {mean, squares.value() / n};
}

}  // namespace

ClassSignal class_signal(std::span<const double> scores, std::span<const std::uint32_t> bag_of_row,
                         std::span<const double> proportions) {
  assert(scores.size() == bag_of_row.size());
  std::vector<CompensatedSum> sums(proportions.size());
  std::vector<double> sizes(proportions.size(), 0.0), means(proportions.size(), 0.0);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    sums[bag_of_row[i]].add(scores[i]);
    sizes[bag_of_row[i]] += 1;
  }
  for (std::size_t k = 0; k < means.size(); ++k) means[k] = sizes[k] > 0 ? sums[k].value() / sizes[k] : 0;
  const BagLine line = line_through_bags(means, proportions, sizes);
  const double variance = mean_and_variance(scores).variance, both = line.share * (1 - line.share);
  ClassSignal out;
  double spread = 0;
  for (std::size_t k = 0; k < means.size(); ++k)
    spread += sizes[k] * (proportions[k] - line.share) * (proportions[k] - line.share);
  if (!(variance > 0) || !(spread > 0) || !(both > 0) || line.freedom < 1) return out;
  out.correlation = std::clamp(line.slope * std::sqrt(both / variance), -1.0, 1.0);
  const double left = std::max(kLeastUnexplained, 1 - out.correlation * out.correlation);
  const double excess = std::max(1.0, line.deviation / std::sqrt(left * variance));
  out.error =
      std::max(std::sqrt(left * both / spread) * excess, line.robust_error * std::sqrt(both / variance));
  const double reach = student_quantile(kConfidence, line.freedom) * out.error;
  out.interval = {std::max(-1.0, out.correlation - reach), std::min(1.0, out.correlation + reach)};
  return out;
}

Vector class_direction(const ReducedBags& data, std::span<const double> units) {
  const ClassMeans means = class_means(data.sums, data.bags.proportions);
  if (!(means.deviation > 0)) return {};
  Vector out = means.difference;
  for (Eigen::Index j = 0; j < out.size(); ++j) {
    const double unit = units[static_cast<std::size_t>(j)];
    out[j] *= unit * unit;
  }
  return out.allFinite() ? out : Vector();
}

std::vector<double> feature_units(const FeatureMoments& moments) {
  const bool unlike = feature_scales(moments).unlike();
  std::vector<double> out(moments.sum.size(), 1.0);
  for (std::size_t j = 0; unlike && j < out.size(); ++j) {
    const double variance = moments.variance(j);
    out[j] = variance > 0 && std::isfinite(variance) ? 1 / std::sqrt(variance) : 0;
  }
  return out;
}

ClassSignal held_out_signal(const BaggedData& data, const ReducedBags& reduced, std::span<const double> units,
                            std::size_t folds, Rng& rng, unsigned threads) {
  const std::size_t bags = reduced.bags.size();
  if (bags < 3) return {};
  folds = std::min(folds, bags);
  const auto fold_of_bag = stratified_folds(reduced.bags.proportions, folds, rng);
  std::vector<double> held_out(data.bag_of_row.size(), 0.0);
  for (std::uint32_t fold = 0; fold < folds; ++fold) {
    const ReducedBags rest = pick_bags(reduced, bags_outside(fold_of_bag, fold));
    const Vector direction = class_direction(rest, units);
    if (direction.size() == 0) continue;  // nothing learnt: these rows keep the score 0
    const auto f = scores({direction, 0}, data.features.view(), threads);
    const MeanVariance all = mean_and_variance(f);
    if (!(all.variance > 0)) continue;
    for (std::size_t i = 0; i < f.size(); ++i) {
      if (fold_of_bag[data.bag_of_row[i]] == fold) held_out[i] = (f[i] - all.mean) / std::sqrt(all.variance);
    }
  }
  return class_signal(held_out, data.bag_of_row, reduced.bags.proportions);
}

}  // namespace bagwise
