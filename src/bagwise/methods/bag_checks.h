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

// The target can be learnt from: features, at least two bags, not all of one proportion.
Result<void> check_target_bags(const ReducedBags& data);

// A source can be learnt from: at least two bags, and the target's features in the target's order. One whose
// bags all have the same proportion can teach nothing: that is added to `warnings`.
Result<void> check_source_bags(const TrainingTask& source, const ReducedBags& data, const ReducedBags& target,
                               std::vector<std::string>& warnings);

// The data as it is, or, where there are several ranks, its sum over them, kept in `storage`.
const ReducedBags& over_all_ranks(const ReducedBags& data, Communicator* comm, ReducedBags& storage);

// The error for numbers that drove a solve out of their range: names the largest feature, or the options
// where no feature is large.
Error overflow_error(std::span<const ReducedBags* const> tasks);

// That every number of a model is one: else the overflow error of its tasks.
Result<void> check_finite(const Model& model, std::span<const ReducedBags* const> tasks);

// Adds a warning with advice where f has one sign on every row: a model that tells the rows nothing apart.
void warn_if_one_class(std::span<const double> scores, std::vector<std::string>& warnings);

// Adds a warning of a method that takes noisy proportions for exact ones.
void warn_if_noise_ignored(const Bags& bags, std::string_view method, std::vector<std::string>& warnings);

// The error of a fit that an observer stopped before there was any model.
Error stopped_error();

// A training report of the data alone: its size, and remarks on it.
TrainingReport report_of_data(const ReducedBags& data, std::uint64_t seed);

// The training report of a convex solve, with remarks on the data and on a gap that was not reached.
TrainingReport convex_report(const SolveReport& solve, double gap_asked, const ReducedBags& data,
                             std::uint64_t seed);

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
