#include "bagwise/evaluate/transfer_gate.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "bagwise/evaluate/committee.h"

namespace bagwise {

double share_with_transfer(const Relatedness& related) {
  constexpr double kMostOdds = 1.5;
  return 1 / (1 + std::exp(-std::clamp(related.log_odds, -kMostOdds, kMostOdds)));
}

std::vector<double> gated_shares(std::span<const double> values, const std::vector<bool>& alone,
                                 double transfer, double tau) {
  assert(alone.size() == values.size());
  std::vector<double> out(values.size(), 0.0);
  for (const bool kind : {false, true}) {
    std::vector<double> own;
    for (std::size_t s = 0; s < values.size(); ++s) {
      if (alone[s] == kind) own.push_back(values[s]);
    }
    const bool both = !own.empty() && own.size() < values.size();
    const double share = !both ? 1 : kind ? 1 - transfer : transfer;
    const std::vector<double> weights = weights_of_values(own, tau);
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (std::size_t s = 0, i = 0; s < values.size(); ++s) {
      if (alone[s] == kind) out[s] = share * weights[i++] / sum;
    }
  }
  return out;
}

}  // namespace bagwise
