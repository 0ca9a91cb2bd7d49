// The gate between settings that transfer and settings that learn alone: how much either kind weighs.
//
// How related the sources look is relatedness.h's to say; what a value is worth within a kind, committee.h's.
#pragma once

#include <span>
#include <vector>

#include "bagwise/evaluate/relatedness.h"

namespace bagwise {

// What share the settings with transfer have together: 1/(1 + exp(-log odds)), the odds kept within
// exp(+-1.5), as that is how far few bags may be trusted to tell of a source.
double share_with_transfer(const Relatedness& related);

// Shares of settings, which add up to 1: those that learn alone have 1 - transfer together, the others
// transfer, each kind as its values say. Where all are of one kind, it has all.
std::vector<double> gated_shares(std::span<const double> values, const std::vector<bool>& alone,
                                 double transfer, double tau);

}  // namespace bagwise
