#include "bagwise/methods/plane_weights.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bagwise {

std::vector<std::size_t> largest_weights(const Plane& plane, std::size_t count) {
  std::vector<std::size_t> order(static_cast<std::size_t>(plane.weights.size()));
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto size = [&](std::size_t j) { return std::abs(plane.weights[static_cast<Eigen::Index>(j)]); };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
  order.resize(std::min(order.size(), count));
  return order;
}

}  // namespace bagwise
