// Grid files.
#include "bagwise/report/grid_file.h"

#include "harness.h"

namespace bagwise::fuzz {

// A grid has at most 100,000 settings, each a small map: a hundred bytes can ask for as many.
const Bound kBound{.fixed = 192 * kMiB, .per_byte = 2048};

void fuzz_one(std::string_view input) {
  const auto grid = grid_from_json(input, "grid.json");
  if (!grid) return require_error(grid.error());
  require(!grid->by_method.empty(), "there is a grid");
}

}  // namespace bagwise::fuzz
