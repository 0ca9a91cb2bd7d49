#include "bagwise/evaluate/metrics.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <utility>

#include "bagwise/linalg/compensated.h"

namespace bagwise {
namespace {

constexpr double kClip = 1e-15;  // probabilities are kept this far from 0 and 1, so that log loss is finite
constexpr std::size_t kBins = 10;

// The share of (positive, negative) pairs ranked the right way round, ties counting half: from the sum of the
// positives' ranks, equal scores sharing the mean of their ranks.
std::optional<double> area_under_curve(std::span<const double> scores, std::span<const std::int8_t> labels) {
  std::vector<std::pair<double, bool>> order;
  std::uint64_t positives = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (labels[i] == 0) continue;
    order.emplace_back(scores[i], labels[i] > 0);
    if (labels[i] > 0) ++positives;
  }
  const std::uint64_t negatives = order.size() - positives;
  if (positives == 0 || negatives == 0) return std::nullopt;
  std::sort(order.begin(), order.end());
  // Twice the number of pairs won, in integers: 2 per negative below, 1 per negative tied.
  long double twice_won = 0;
  std::uint64_t negatives_below = 0;
  for (std::size_t from = 0; from < order.size();) {
    std::size_t to = from;
    std::uint64_t tied_positives = 0;
    while (to < order.size() && order[to].first == order[from].first) tied_positives += order[to++].second;
    const std::uint64_t tied_negatives = to - from - tied_positives;
    twice_won += static_cast<long double>(tied_positives) *
                 static_cast<long double>(2 * negatives_below + tied_negatives);
    negatives_below += tied_negatives;
    from = to;
  }
  return static_cast<double>(twice_won / 2 / static_cast<long double>(positives) /
                             static_cast<long double>(negatives));
}

}  // namespace

LabelMetrics label_metrics(std::span<const double> scores, std::span<const double> probabilities,
                           std::span<const std::int8_t> labels) {
  assert(scores.size() == labels.size() && probabilities.size() == labels.size());
  LabelMetrics out;
  std::uint64_t true_positives = 0, true_negatives = 0, predicted_positives = 0;
  CompensatedSum log_loss, brier;
  std::array<CompensatedSum, kBins> excess;  // per bin, sum of probability - outcome
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == 0) continue;
    const bool positive = labels[i] > 0, predicted = scores[i] > 0;
    ++out.rows;
    out.positives += positive;
    predicted_positives += predicted;
    true_positives += positive && predicted;
    true_negatives += !positive && !predicted;
    const double p = std::clamp(probabilities[i], kClip, 1 - kClip), outcome = positive ? 1 : 0;
    log_loss.add(positive ? -std::log(p) : -std::log1p(-p));
    const double miss = probabilities[i] - outcome;
    brier.add(miss * miss);
    const double bin = std::clamp(std::floor(probabilities[i] * kBins), 0.0, kBins - 1.0);
    excess[static_cast<std::size_t>(bin)].add(miss);
  }
  if (out.rows == 0) return out;

  const auto n = static_cast<double>(out.rows), hits = static_cast<double>(true_positives);
  const auto positives = static_cast<double>(out.positives), negatives = n - positives;
  out.accuracy = static_cast<double>(true_positives + true_negatives) / n;
  if (out.positives > 0 && out.positives < out.rows) {
    out.balanced_accuracy = (hits / positives + static_cast<double>(true_negatives) / negatives) / 2;
  }
  if (out.positives + predicted_positives > 0) {
    out.f1 = 2 * hits / static_cast<double>(out.positives + predicted_positives);
  }
  out.auc = area_under_curve(scores, labels);
  out.log_loss = log_loss.value() / n;
  out.brier = brier.value() / n;
  for (const CompensatedSum& bin : excess) out.calibration_error += std::abs(bin.value()) / n;
  return out;
}

ProportionMetrics proportion_metrics(std::vector<BagError> bags) {
  ProportionMetrics out;
  CompensatedSum hard, soft, miscount;
  for (const BagError& bag : bags) {
    hard.add(std::abs(bag.hard - bag.known));
    soft.add(std::abs(bag.soft - bag.known));
    miscount.add(static_cast<double>(bag.rows) * std::abs(bag.hard - bag.known));
  }
  if (!bags.empty()) {
    out.mean_error = hard.value() / static_cast<double>(bags.size());
    out.mean_soft_error = soft.value() / static_cast<double>(bags.size());
    out.miscount = miscount.value();
  }
  out.bags = std::move(bags);
  return out;
}

std::vector<BagError> bag_errors(std::span<const double> scores, std::span<const double> probabilities,
                                 std::span<const std::uint32_t> bag_of_row, std::span<const double> known) {
  assert(scores.size() == bag_of_row.size());
  assert(probabilities.empty() || probabilities.size() == scores.size());
  std::vector<BagError> out(known.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    BagError& bag = out[bag_of_row[i]];
    ++bag.rows;
    bag.hard += scores[i] > 0 ? 1 : 0;
    if (!probabilities.empty()) bag.soft += probabilities[i];
  }
  for (std::size_t k = 0; k < out.size(); ++k) {
    out[k].known = known[k];
    if (out[k].rows == 0) continue;
    out[k].hard /= static_cast<double>(out[k].rows);
    out[k].soft /= static_cast<double>(out[k].rows);
  }
  return out;
}

}  // namespace bagwise
