// The command line's entry.
#include <fmt/core.h>

#include "bagwise/core/version.h"

int main() {
  fmt::print("bagwise {}\n", bagwise::kVersion);
  return 0;
}
