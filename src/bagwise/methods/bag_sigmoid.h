// How scores become probabilities where only the shares of bags are known.
//
//   max over slope > 0 and offset of
//     sum_k |B_k| (t_k log q_k + (1 - t_k) log(1 - q_k)) - 1/2 (slope spread / 10)^2
//   q_k    = mean over bag k of 1/(1 + exp(-(slope f + offset)))
//   t_k    = p_k t_+ + (1 - p_k) t_-,  t_+ = (N_+ + 1)/(N_+ + 2),  t_- = 1/(N_- + 2)
//   N_+    = sum_k |B_k| p_k, N_- = sum_k |B_k| (1 - p_k);  spread = mean |f - mean f|
//
// The targets are Platt's, bag by bag: with bags of one they are his, so that pure bags and separable scores
// give finite values. Bags that the scores sort perfectly would still pull the slope to infinity, and bags
// that say nothing leave it open: the last term, a weak prior on the slope in units of the scores' spread,
// settles both. Where the bags speak against the scores the slope ends at its least value, 0.001 / spread.
//
// The offset is free: held at 0, every probability would be wrong by the same odds wherever the plane's bias
// was not fitted as a likelihood (hinge loss, no bias at all). So a probability of 0.5 and a score of 0,
// where labels change, need not coincide; `predict --threshold 0.5` labels by the probability instead.
//
// See  Platt (1999), Probabilistic outputs for support vector machines; Lin, Lin, Weng (2007), a note on it.
#pragma once

#include <cstddef>
#include <span>

#include "bagwise/methods/model.h"

namespace bagwise {

// The sigmoid of the problem above. `bag_start` says where each bag's scores begin, and the end of the last:
// rows of a bag stand together. Bags may be empty, scores must be finite; without rows the sigmoid of {1, 0}.
// Not convex where bags are larger than one: the best of a few fixed starts. The result is always finite.
Probability fit_bag_sigmoid(std::span<const double> scores, std::span<const std::size_t> bag_start,
                            std::span<const double> proportions);

}  // namespace bagwise
