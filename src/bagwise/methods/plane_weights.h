// The features that matter most to a plane.
#pragma once

#include <cstddef>
#include <vector>

#include "bagwise/methods/model.h"

namespace bagwise {

// The features by falling size of their weight, `count` of them at most; equal weights in their order.
std::vector<std::size_t> largest_weights(const Plane& plane, std::size_t count);

}  // namespace bagwise
