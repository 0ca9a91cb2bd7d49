// Inverse calibration: from a bag's proportion to the real target of its mean, with its tube and cost.
//
// Shared by the methods that regress logits of proportions; the regression itself is
// solver/tube_regression.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/comm/communicator.h"
#include "bagwise/solver/tube_problem.h"

namespace bagwise {

enum class Tube { kConstant, kCalibrated };
inline std::vector<std::pair<std::string_view, Tube>> names(Tube) {
  return {{"constant", Tube::kConstant}, {"calibrated", Tube::kCalibrated}};
}

enum class BagWeight { kNone, kSize };
inline std::vector<std::pair<std::string_view, BagWeight>> names(BagWeight) {
  return {{"none", BagWeight::kNone}, {"size", BagWeight::kSize}};
}

// p clipped to [c, 1 - c]; c = 1/(2 size + 2) unless given.
double clipped_proportion(double p, std::uint64_t size, std::optional<double> clip);

// y = -log(1/p - 1), for p in (0, 1).
double inverse_calibration(double p);
// The same of the clipped p, from the side where it has its digits: p and 1 - p have opposite targets.
double inverse_calibration(double p, std::uint64_t size, std::optional<double> clip);

// eps, or eps / (p (1 - p)) for the clipped p.
double tube_width(Tube tube, double epsilon, double p);

// How proportions become targets: the options that methods of this kind share.
struct Calibration {
  double epsilon = 0.1;
  Tube tube = Tube::kConstant;
  std::optional<double> clip = {};
  BagWeight bag_weight = BagWeight::kNone;
};

// What the noise of its proportion makes of a bag: {1, 0} where there is none.
//
//   rho_k    = v_k / (v_k + noise_k^2), v_k = pi (1 - pi) / |B_k|
//   weight   = rho_k over the mean of rho, which multiplies the cost
//   widening = 0.4 (y(pi + noise_k) - y(pi - noise_k)) / 2, which is added to the tube
//
// with pi the share of positives over all bags and y the logit of the share clipped as the bag's own. The
// derivation, and what was tried besides, are in docs/methods/inv-cal.md.
struct NoiseTerms {
  double weight = 1, widening = 0;
};
// Means are over the bags of all ranks among which they are spread.
std::vector<NoiseTerms> noise_terms(const ReducedBags& data, std::optional<double> clip,
                                    Communicator* spread = nullptr);

// Appends target, tube and cost of every bag of a task to the terms of a regression.
void append_bags(const ReducedBags& data, const Calibration& how, double cost, std::uint32_t task,
                 TubeTerms& terms, Communicator* spread = nullptr);

// What multiplies the cost of each bag: 1, or its size over the mean size.
std::vector<double> bag_weights(const BagSums& sums, BagWeight weight, Communicator* spread = nullptr);

}  // namespace bagwise
