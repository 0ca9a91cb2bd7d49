// One cell of the study: bags to learn from, labelled rows to look at afterwards, and the rules compared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/data/dataset.h"

namespace bagwise::bench {

struct Cell {
  BaggedData source, target;
  Dataset test;  // with labels, which no rule sees but those called oracle
};

struct Outcome {
  std::string method, metric, rule;
  double accuracy = 0;
};

// For InvCal and TL-LLP, each with the metrics none and pca: every setting of the default grid on five folds
// of bags, then what each rule makes of the same fits.
std::vector<Outcome> compare_rules(const Cell& cell, std::uint64_t seed, unsigned threads);

}  // namespace bagwise::bench
