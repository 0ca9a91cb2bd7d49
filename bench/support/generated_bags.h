// Generated data in bags, for the benchmarks; what cannot fail for them ends the program.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "bagwise/bags/deal.h"
#include "bagwise/bags/proportions.h"
#include "bagwise/core/random.h"
#include "bagwise/data/generate.h"

namespace bagwise::bench {

inline GeneratedData generated(const GeneratorOptions& options) {
  auto data = generate(options);
  if (!data) std::abort();
  return std::move(*data);
}

// A source of 2,000 rows and a target of 640 that is related to it: what fits are timed on.
inline GeneratedData timed_data(GeneratorKind kind) {
  GeneratorOptions options = generator_preset(kind, GeneratorPreset::kRelated, 1);
  options.source_rows = 2000;
  options.target_rows = 640;
  options.test_rows = 2;
  return generated(options);
}

// The rows dealt into bags of that size, their labels left behind as shares.
inline BaggedData in_bags(Dataset data, std::size_t bag_size, Rng& rng) {
  auto dealt = deal_bags(std::move(data), bag_size, rng);
  if (!dealt) std::abort();
  auto bagged = attach_proportions(std::move(dealt->instances), "generated", &dealt->proportions);
  if (!bagged) std::abort();
  return std::move(*bagged);
}

}  // namespace bagwise::bench
