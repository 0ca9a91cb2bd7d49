// What tl-count's solver comes to from different starts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace bagwise::bench {

// Rows with a cluster for each class (clusters.h), 640 of 20 features in bags of that size, no source: F and
// accuracy of a fit at that C, one CSV line per seed and start: starts,bag_size,seed,start,F,accuracy.
void compare_starts(std::size_t bag_size, double C, std::uint64_t first, std::uint64_t last);

}  // namespace bagwise::bench
