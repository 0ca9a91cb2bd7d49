// What can be said of a task before anything is learnt from it: its bags, its proportions, its features.
//
// Effective size. Along any direction in which the classes have variance s^2, labels on N rows give the
// difference of the class means with variance s^2 / (N pi (1 - pi)); the bags give it (least squares with
// sizes as weights, methods/mean_map) with s^2 / sum_k |B_k| (p_k - pi)^2. So the bags are worth
//
//   effective size = sum_k |B_k| (p_k - pi)^2 / (pi (1 - pi))
//
// labelled rows: all N where every bag is pure, about one per bag where rows were dealt at random. The same
// sum is Pearson's statistic for "dealt at random", chi-square with bags - 1 degrees of freedom: whether the
// proportions spread more than chance.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/evaluate/diagnosis_rows.h"
#include "bagwise/evaluate/diagnosis_signal.h"
#include "bagwise/evaluate/diagnosis_statistics.h"

namespace bagwise {

struct TaskDiagnosis {
  std::string name;
  std::uint64_t instances = 0, bags = 0, features = 0;
  Spread sizes, proportions;    // over bags
  double share = 0;             // of positives over all rows
  double chance_deviation = 0;  // of the proportions, were rows dealt at random into bags of these sizes
  double chance_tail = 1;       // how often chance alone would spread them as much
  double effective_size = 0;    // labelled rows the bags are worth
  double condition = 0;         // of the class-mean system; infinite where all proportions are alike
  std::uint64_t pure_bags = 0;  // of one class
  ClassSignal signal;           // held out: how well the classes' means tell rows apart

  Duplicates duplicates;
  std::vector<std::string> constant_features;
  std::vector<std::string> leaks;                          // bag means equal to the proportions
  std::vector<std::pair<std::string, double>> near_leaks;  // and those that nearly follow them: correlation
  FeatureScales scales;
  std::string largest_feature;  // whose scale is the largest
};

struct DiagnosisOptions {
  std::uint64_t seed = 1;
  unsigned threads = 0;  // never changes a result
  std::size_t folds = 10;
};

// `reduced` has moments and is of the rows of `data`.
TaskDiagnosis diagnose_task(const std::string& name, const BaggedData& data, const ReducedBags& reduced,
                            const DiagnosisOptions& options = {});

// The features whose bag means have a correlation with the proportions beyond 0.999, bags weighing alike;
// none where there are fewer than eight bags. Those that leaked_features() names are among them.
std::vector<std::pair<std::string, double>> nearly_leaked_features(const ReducedBags& data);

}  // namespace bagwise
