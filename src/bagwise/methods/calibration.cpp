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

void append_bags(const ReducedBags& data, const Calibration& how, double cost, std::uint32_t task,
                 TubeTerms& terms) {
  const std::vector<double> weight = bag_weights(data.sums, how.bag_weight);
  for (std::size_t k = 0; k < data.bags.size(); ++k) {
    const double p = clipped_proportion(data.bags.proportions[k], data.sums.count(k), how.clip);
    terms.task.push_back(task);
    terms.target.push_back(inverse_calibration(p));
    terms.tube.push_back(tube_width(how.tube, how.epsilon, p));
    terms.cost_above.push_back(cost * weight[k]);
    terms.cost_below.push_back(cost * weight[k]);
  }
}

}  // namespace bagwise
