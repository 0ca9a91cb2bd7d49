#include "bagwise/methods/bag_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bagwise/comm/over_ranks.h"

namespace bagwise {

BagCensus census_of(const ReducedBags& data, Communicator* spread) {
  BagCensus mine;
  mine.bags = data.bags.size();
  for (std::size_t k = 0; k < data.sums.bags(); ++k) mine.rows += data.sums.count(k);
  const auto& p = data.bags.proportions;
  if (!p.empty()) {
    const auto [least, most] = std::minmax_element(p.begin(), p.end());
    mine.least = *least;
    mine.most = *most;
  }
  mine.pure = std::all_of(p.begin(), p.end(), [](double v) { return v == 0 || v == 1; });
  BagCensus out;
  for (const BagCensus& part : gather_over_ranks(spread, std::vector<BagCensus>{mine})) {
    out.pure = out.pure && part.pure;
    if (part.bags == 0) continue;
    out.least = out.bags == 0 ? part.least : std::min(out.least, part.least);
    out.most = out.bags == 0 ? part.most : std::max(out.most, part.most);
    out.bags += part.bags;
    out.rows += part.rows;
  }
  return out;
}

Result<void> check_target_bags(const ReducedBags& data, Communicator* spread) {
  const BagCensus all = census_of(data, spread);
  if (data.sums.features() == 0)
    return Error{"the target has no features; expected at least one numeric column"};
  if (all.bags < 2) {
    return Error{
        fmt::format("the target has {} bag; expected at least two bags of different proportions", all.bags)};
  }
  if (all.alike()) {
    return Error{
        fmt::format("all {} bags of the target have the proportion {}; expected at least two different "
                    "proportions, else there is nothing to learn from",
                    all.bags, all.least)};
  }
  return {};
}

Result<void> check_source_bags(const TrainingTask& source, const ReducedBags& data, const ReducedBags& target,
                               std::vector<std::string>& warnings, Communicator* spread) {
  if (data.feature_names != target.feature_names) {
    const std::size_t both = std::min(data.feature_names.size(), target.feature_names.size());
    std::size_t j = 0;
    while (j < both && data.feature_names[j] == target.feature_names[j]) ++j;
    const auto name = [&](const ReducedBags& of) {
      return j < of.feature_names.size() ? fmt::format("\"{}\"", of.feature_names[j]) : "nothing";
    };
    return Error{
        fmt::format("the {} has {} as feature {}, the target has {}; expected the same features in the "
                    "same order",
                    source.name, name(data), j + 1, name(target)),
        source.origin};
  }
  const BagCensus all = census_of(data, spread);
  if (all.bags < 2) {
    return Error{fmt::format("the {} has {} bag; expected at least two bags of different proportions",
                             source.name, all.bags),
                 source.origin};
  }
  if (all.alike()) {
    warnings.push_back(
        fmt::format("all {} bags of the {} have the proportion {}: there is nothing to learn from it",
                    all.bags, source.name, all.least));
  }
  return {};
}

void warn_if_one_class(std::span<const double> scores, std::vector<std::string>& warnings) {
  const auto positive =
      static_cast<std::size_t>(std::count_if(scores.begin(), scores.end(), [](double f) { return f > 0; }));
  warn_if_one_class(positive, scores.size(), warnings);
}

void warn_if_one_class(std::size_t positive, std::size_t rows, std::vector<std::string>& warnings) {
  if (rows == 0 || (positive > 0 && positive < rows)) return;
  // First: the last warning is the one that says why a fit ended early.
  warnings.insert(warnings.begin(), fmt::format("the model predicts the {} class for every one of the {} "
                                                "training rows; try other costs (C, lambda), "
                                                "--scale standard, or bags whose proportions differ more",
                                                positive > 0 ? "positive" : "negative", rows));
}

void warn_if_noise_ignored(const Bags& bags, std::string_view method, std::vector<std::string>& warnings) {
  const auto noisy = std::ranges::count_if(bags.noise, [](double s) { return s > 0; });
  if (noisy == 0) return;
  warnings.insert(
      warnings.begin(),
      fmt::format("{} of {} proportions are noisy, and {} takes them for exact; inv-cal, tl-llp and "
                  "tl-count weigh them by their noise",
                  noisy, bags.size(), method));
}

Error stopped_error() { return {"stopped before a first model was found"}; }

TrainingReport report_of_data(const ReducedBags& data, std::uint64_t seed, Communicator* spread) {
  const BagCensus all = census_of(data, spread);
  TrainingReport out;
  out.instances = all.rows;
  out.features = data.sums.features();
  out.bags = all.bags;
  out.seed = seed;
  if (all.pure) {
    out.warnings.emplace_back("every bag is pure (all its rows of one class): this is supervised data");
  }
  return out;
}

TrainingReport convex_report(const SolveReport& solve, double gap_asked, const ReducedBags& data,
                             std::uint64_t seed, Communicator* spread) {
  TrainingReport out = report_of_data(data, seed, spread);
  out.objective = solve.primal;
  out.dual_objective = solve.dual;
  out.relative_gap = solve.relative_gap();
  out.termination = to_string(solve.termination);
  if (solve.termination != Termination::kConverged) {
    out.warnings.push_back(fmt::format(
        "the relative gap is {:.3g}, {:.3g} was asked for{}", solve.relative_gap(), gap_asked,
        solve.termination == Termination::kStopped
            ? ""
            : "; features of very different or very large size make this hard: try scale standard"));
  }
  return out;
}

}  // namespace bagwise
