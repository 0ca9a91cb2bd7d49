// Rows with and without clusters, of which a plane can tell the classes apart equally well.
#pragma once

#include <cstdint>
#include <string_view>

#include "bagwise/core/random.h"
#include "bagwise/data/dataset.h"

namespace bagwise::bench {

// All have the same mean and covariance, and the sign of the first feature is right for the same share of
// rows: 0.9.
//   classes   two clusters along the first feature, one per class
//   none      one normal cloud; the class is drawn with a probability that rises along the first feature
//   across    two clusters along the second feature; the class as in `none`
enum class Clusters { kClasses, kNone, kAcross };
Dataset clustered_rows(Clusters clusters, std::size_t rows, std::size_t features, Rng& rng);

}  // namespace bagwise::bench
