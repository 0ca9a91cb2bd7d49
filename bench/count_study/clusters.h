// Rows with and without clusters, of which a plane can tell the classes apart equally well.
#pragma once

#include <cstdint>
#include <string_view>

#include "bagwise/core/random.h"
#include "bagwise/data/dataset.h"

namespace bagwise::bench {

// Whatever the clusters, the sign of the first feature is right for nine rows in ten.
//   classes   two clusters along the first feature, one per class
//   none      one normal cloud; the class is drawn with a probability that rises along the first feature
//   across    two clusters along the second feature; the class as in `none`
// The first two features vary more than the others, by as much as clusters would make them; `white` rows are
// scaled so that all features vary alike, and only the shape of the cloud tells of the clusters.
enum class Clusters { kClasses, kNone, kAcross };
Dataset clustered_rows(Clusters clusters, bool white, std::size_t rows, std::size_t features, Rng& rng);

}  // namespace bagwise::bench
