#include "bagwise/methods/calibration.h"

#include <algorithm>
#include <cmath>

#include "bagwise/comm/over_ranks.h"

namespace bagwise {

double clipped_proportion(double p, std::uint64_t size, std::optional<double> clip) {
  const double c = clip.value_or(1 / (2 * static_cast<double>(size) + 2));
  return std::clamp(p, c, 1 - c);
}

double inverse_calibration(double p) { return -std::log(1 / p - 1); }

double inverse_calibration(double p, std::uint64_t size, std::optional<double> clip) {
  return p <= 0.5 ? inverse_calibration(clipped_proportion(p, size, clip))
                  : -inverse_calibration(clipped_proportion(1 - p, size, clip));
}

double tube_width(Tube tube, double epsilon, double p) {
  return tube == Tube::kConstant ? epsilon : epsilon / (p * (1 - p));
}

std::vector<double> bag_weights(const BagSums& sums, BagWeight weight, Communicator* spread) {
  std::vector<double> out(sums.bags(), 1.0);
  if (weight == BagWeight::kNone) return out;
  double rows = 0;
  for (std::size_t k = 0; k < sums.bags(); ++k) rows += static_cast<double>(sums.count(k));
  const double mean = sum_over_ranks(spread, rows) / static_cast<double>(sum_over_ranks(spread, sums.bags()));
  for (std::size_t k = 0; k < sums.bags(); ++k) out[k] = static_cast<double>(sums.count(k)) / mean;
  return out;
}

std::vector<NoiseTerms> noise_terms(const ReducedBags& data, std::optional<double> clip,
                                    Communicator* spread) {
  std::vector<NoiseTerms> out(data.bags.size());
  if (!any_over_ranks(spread, !data.bags.noise.empty())) return out;
  constexpr double kPartOfDeviation = 0.4;  // by which the tube widens: 0.3 to 0.5 came out alike
  constexpr double kMost = 100;             // more noise tells as little, and its square stays finite
  double rows = 0, positives = 0;
  for (std::size_t k = 0; k < out.size(); ++k) {
    rows += static_cast<double>(data.sums.count(k));
    positives += static_cast<double>(data.sums.count(k)) * data.bags.proportions[k];
  }
  const double pi = sum_over_ranks(spread, positives) / sum_over_ranks(spread, rows);
  double sum = 0;
  for (std::size_t k = 0; k < out.size(); ++k) {
    const std::uint64_t size = data.sums.count(k);
    const double noise = std::min(data.bags.noise_of(k), kMost);
    const auto logit = [&](double p) { return inverse_calibration(p, size, clip); };
    const double share = clipped_proportion(pi, size, clip);
    const double variance = share * (1 - share) / std::max(1.0, static_cast<double>(size));
    out[k].weight = variance / (variance + noise * noise);
    out[k].widening = kPartOfDeviation * (logit(pi + noise) - logit(pi - noise)) / 2;
    sum += out[k].weight;
  }
  const double mean = sum_over_ranks(spread, sum) / static_cast<double>(sum_over_ranks(spread, out.size()));
  for (NoiseTerms& bag : out) bag.weight /= mean;
  return out;
}

void append_bags(const ReducedBags& data, const Calibration& how, double cost, std::uint32_t task,
                 TubeTerms& terms, Communicator* spread) {
  std::vector<double> weight = bag_weights(data.sums, how.bag_weight, spread);
  const std::vector<NoiseTerms> noise = noise_terms(data, how.clip, spread);
  for (std::size_t k = 0; k < data.bags.size(); ++k) {
    const double p = data.bags.proportions[k];
    const std::uint64_t size = data.sums.count(k);
    const double rarer = clipped_proportion(std::min(p, 1 - p), size, how.clip);
    terms.task.push_back(task);
    terms.target.push_back(inverse_calibration(p, size, how.clip));
    terms.tube.push_back(tube_width(how.tube, how.epsilon, rarer) + noise[k].widening);
    weight[k] *= noise[k].weight;
    terms.cost_above.push_back(cost * weight[k]);
    terms.cost_below.push_back(cost * weight[k]);
  }
}

}  // namespace bagwise
