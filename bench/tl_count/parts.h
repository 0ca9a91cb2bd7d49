// The parts of the benchmark of tl-count; each prints a table, and compares answers before it tells times.
#pragma once

#include <cstddef>

namespace bagwise::bench {

// One fit beside one of TL-LLP on the same bags.
void against_tl_llp();

// A fit as rows grow up to so many.
void scaling_with_rows(std::size_t most);

// The exact form of the likelihood beside the normal one by the size of bags; `csv` is a file, or empty.
void exact_against_normal(const char* csv);

}  // namespace bagwise::bench
