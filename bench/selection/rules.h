// The rules of choosing that are compared on one cell of the study.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/cells.h"

namespace bagwise::bench {

struct Outcome {
  std::string method, metric, rule;
  double accuracy = 0;
};

// For InvCal and TL-LLP, each with the metrics none and pca: every setting of the default grid on five folds
// of bags, then what each rule makes of the same fits.
std::vector<Outcome> compare_rules(const Cell& cell, std::uint64_t seed, unsigned threads);

}  // namespace bagwise::bench
