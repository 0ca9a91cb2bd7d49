// Criteria: how well scores agree with the known shares of bags that were held out. None sees a label.
//
//   miscount     sum_k u_k |B_k| |share of f > 0 - p_k|            rows whose count is wrong
//   soft-error   sum_k u_k |B_k| |mean probability - p_k|
//   likelihood   sum_k u_k |B_k| (p_k log(p_k / q_k) + (1 - p_k) log((1 - p_k) / (1 - q_k)))
//                q_k the mean probability by a sigmoid refitted to these very bags (methods/bag_sigmoid.h)
//
// Each is a sum over bags, 0 where the scores agree with every bag, and smaller is better. u_k is 1 for a
// proportion known exactly; one with noise of standard deviation s_k tells less, and counts as
// u_k = v_k / (v_k + s_k^2), v_k = p_k (1 - p_k) / |B_k| for the p_k clipped by 1/(2 |B_k| + 2): the part of
// what a bag's share varies by that is not noise.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/methods/model.h"

namespace bagwise {

enum class Criterion { kMiscount, kSoftError, kLikelihood };
inline std::vector<std::pair<std::string_view, Criterion>> names(Criterion) {
  return {{"miscount", Criterion::kMiscount},
          {"soft-error", Criterion::kSoftError},
          {"likelihood", Criterion::kLikelihood}};
}

// u_k of a bag.
double bag_trust(double proportion, std::size_t size, double noise);

// Scores bag by bag: those of bag k of `bags` begin at bag_start[k], and the last entry is their end.
double criterion_value(Criterion criterion, std::span<const double> scores, const Probability& probability,
                       std::span<const std::size_t> bag_start, const Bags& bags);

}  // namespace bagwise
