// Noise put on known proportions on purpose: to publish counts in private, or to see what a method makes of
// it.
#pragma once

#include "bagwise/bags/proportions.h"
#include "bagwise/core/random.h"

namespace bagwise {

// Adds a normal error of that standard deviation to every share, and notes it as its standard error. Shares
// may leave [0, 1]: reading clips them.
void put_normal_noise(ProportionTable& table, double deviation, Rng& rng);

// Adds Laplace noise of scale 1/epsilon_dp to every number of positives, and notes the epsilon: the counts
// are then epsilon_dp-differentially private. Every bag's size must be known.
void put_private_noise(ProportionTable& table, double epsilon_dp, Rng& rng);

}  // namespace bagwise
