// tl-count beside TL-LLP, as rows grow, and the two forms of its likelihood.
#include <cstdlib>
#include <string_view>

#include "tl_count/parts.h"

int main(int argc, char** argv) {
  using namespace bagwise::bench;
  const std::string_view part = argc > 1 ? argv[1] : "all";
  if (part == "all" || part == "fit") against_tl_llp();
  if (part == "all" || part == "forms") exact_against_normal(argc > 2 ? argv[2] : "");
  // All of it wants 6 GB; one tenth of that is enough to see the growth.
  const auto most = argc > 2 ? static_cast<std::size_t>(std::atoll(argv[2])) : std::size_t{1'000'000};
  if (part == "all" || part == "rows") scaling_with_rows(part == "all" ? 1'000'000 : most);
  return 0;
}
