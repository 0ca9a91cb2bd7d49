// What every method asks of the bags it is given, and what every convex method reports of its solve.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/comm/communicator.h"
#include "bagwise/core/result.h"
#include "bagwise/methods/registry.h"
#include "bagwise/solver/solve_report.h"

namespace bagwise {

// The bags of a task over all ranks among which they are spread; null: these are all.
struct BagCensus {
  std::size_t bags = 0;
  std::uint64_t rows = 0;
  double least = 0, most = 0;  // of their proportions
  bool pure = true;            // all their proportions are 0 or 1

  [[nodiscard]] bool alike() const { return least == most; }
};
BagCensus census_of(const ReducedBags& data, Communicator* spread = nullptr);

// The target can be learnt from: features, at least two bags, not all of one proportion.
Result<void> check_target_bags(const ReducedBags& data, Communicator* spread = nullptr);

// A source can be learnt from: at least two bags, and the target's features in the target's order. One whose
// bags all have the same proportion can teach nothing: that is added to `warnings`.
Result<void> check_source_bags(const TrainingTask& source, const ReducedBags& data, const ReducedBags& target,
                               std::vector<std::string>& warnings, Communicator* spread = nullptr);

// Adds a warning with advice where f has one sign on every row: a model that tells the rows nothing apart.
void warn_if_one_class(std::span<const double> scores, std::vector<std::string>& warnings);
void warn_if_one_class(std::size_t positive, std::size_t rows, std::vector<std::string>& warnings);

// Adds a warning of a method that takes noisy proportions for exact ones.
void warn_if_noise_ignored(const Bags& bags, std::string_view method, std::vector<std::string>& warnings);

// The error of a fit that an observer stopped before there was any model.
Error stopped_error();

// A training report of the data alone: its size, and remarks on it.
TrainingReport report_of_data(const ReducedBags& data, std::uint64_t seed, Communicator* spread = nullptr);

// The training report of a convex solve, with remarks on the data and on a gap that was not reached.
TrainingReport convex_report(const SolveReport& solve, double gap_asked, const ReducedBags& data,
                             std::uint64_t seed, Communicator* spread = nullptr);

// Options from texts by name; the first fault is the error.
template <class Options>
Result<Options> parse_options(const OptionTexts& texts) {
  Options options;
  for (const auto& [name, text] : texts) {
    if (auto set = set_option(options, name, text); !set) return set.error();
  }
  return options;
}

}  // namespace bagwise
