#include "bagwise/methods/plane_weights.h"

#include <catch2/catch.hpp>

namespace bagwise {
namespace {

TEST_CASE("plane_weights: the largest come first, equal ones in their order", "[methods][plane_weights]") {
  const Plane plane{(Vector(5) << 1, -3, 0, 3, -2).finished(), 7};
  using Order = std::vector<std::size_t>;
  CHECK(largest_weights(plane, 10) == Order{1, 3, 4, 0, 2});
  CHECK(largest_weights(plane, 2) == Order{1, 3});
  CHECK(largest_weights(plane, 0).empty());
  CHECK(largest_weights({}, 3).empty());
}

}  // namespace
}  // namespace bagwise
