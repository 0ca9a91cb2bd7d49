#include "bagwise/methods/calibration.h"

#include <algorithm>
#include <cmath>

namespace bagwise {

double clipped_proportion(double p, std::uint64_t size, std::optional<double> clip) {
  const double c = clip.value_or(1 / (2 * static_cast<double>(size) + 2));
  return std::clamp(p, c, 1 - c);
}

double inverse_calibration(double p) { return -std::log(1 / p - 1); }

double tube_width(Tube tube, double epsilon, double p) {
  return tube == Tube::kConstant ? epsilon : epsilon / (p * (1 - p));
}

std::vector<double> bag_weights(const BagSums& sums, BagWeight weight) {
  std::vector<double> out(sums.bags(), 1.0);
  if (weight == BagWeight::kNone) return out;
  double rows = 0;
  for (std::size_t k = 0; k < sums.bags(); ++k) rows += static_cast<double>(sums.count(k));
  const double mean = rows / static_cast<double>(sums.bags());
  for (std::size_t k = 0; k < sums.bags(); ++k) out[k] = static_cast<double>(sums.count(k)) / mean;
  return out;
}

std::vector<NoiseTerms> noise_terms(const ReducedBags& data, std::optional<double> clip) {
  std::vector<NoiseTerms> out(data.bags.size());
  if (data.bags.noise.empty()) return out;
  constexpr double kPartOfDeviation = 0.4;  // by which the tube widens: 0.3 to 0.5 came out alike
  constexpr double kMost = 100;             // more noise tells as little, and its square stays finite
  double rows = 0, positives = 0;
  for (std::size_t k = 0; k < out.size(); ++k) {
    rows += static_cast<double>(data.sums.count(k));
    positives += static_cast<double>(data.sums.count(k)) * data.bags.proportions[k];
  }
  const double pi = positives / rows;
  double sum = 0;
  for (std::size_t k = 0; k < out.size(); ++k) {
    const std::uint64_t size = data.sums.count(k);
    const double noise = std::min(data.bags.noise[k], kMost);
    const auto logit = [&](double p) { return inverse_calibration(clipped_proportion(p, size, clip)); };
    const double share = clipped_proportion(pi, size, clip);
    const double variance = share * (1 - share) / std::max(1.0, static_cast<double>(size));
    out[k].weight = variance / (variance + noise * noise);
    out[k].widening = kPartOfDeviation * (logit(pi + noise) - logit(pi - noise)) / 2;
    sum += out[k].weight;
  }
  const double mean = sum / static_cast<double>(out.size());
  for (NoiseTerms& bag : out) bag.weight /= mean;
  return out;
}

void append_bags(const ReducedBags& data, const Calibration& how, double cost, std::uint32_t task,
                 TubeTerms& terms) {
  std::vector<double> weight = bag_weights(data.sums, how.bag_weight);
  const std::vector<NoiseTerms> noise = noise_terms(data, how.clip);
  for (std::size_t k = 0; k < data.bags.size(); ++k) {
    const double p = clipped_proportion(data.bags.proportions[k], data.sums.count(k), how.clip);
    terms.task.push_back(task);
    terms.target.push_back(inverse_calibration(p));
    terms.tube.push_back(tube_width(how.tube, how.epsilon, p) + noise[k].widening);
    weight[k] *= noise[k].weight;
    terms.cost_above.push_back(cost * weight[k]);
    terms.cost_below.push_back(cost * weight[k]);
  }
}

}  // namespace bagwise
