// Noise put on the features of some rows on purpose, to see what a method makes of it.
//
// Noise of proportions is in bags/put_noise.h.
#pragma once

#include <cstdint>
#include <span>

#include "bagwise/data/dataset.h"

namespace bagwise {

// Feature i gets a standard deviation drawn uniformly in [0, 2 s_i], s_i its standard deviation over the rows
// of all tables; `share` of each table's rows (rounded) get normal noise of these deviations, feature by
// feature. Rows that have noise at one share have the same at every larger share of the same seed. Tables
// must have the same features; with noise they become dense.
void put_feature_noise(std::span<Dataset* const> tables, double share, std::uint64_t seed);

}  // namespace bagwise
