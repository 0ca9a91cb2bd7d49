#include "bagwise/methods/bag_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bagwise/methods/over_ranks.h"

namespace bagwise {

Result<void> check_target_bags(const ReducedBags& data) {
  const auto& p = data.bags.proportions;
  if (data.sums.features() == 0)
    return Error{"the target has no features; expected at least one numeric column"};
  if (p.size() < 2) {
    return Error{
        fmt::format("the target has {} bag; expected at least two bags of different proportions", p.size())};
  }
  if (std::all_of(p.begin(), p.end(), [&](double v) { return v == p[0]; })) {
    return Error{
        fmt::format("all {} bags of the target have the proportion {}; expected at least two different "
                    "proportions, else there is nothing to learn from",
                    p.size(), p[0])};
  }
  return {};
}

const ReducedBags& over_all_ranks(const ReducedBags& data, Communicator* comm, ReducedBags& storage) {
  if (comm == nullptr || comm->size() == 1) return data;
  storage = data;
  sum_over_ranks(storage, *comm);
  return storage;
}

Result<void> check_source_bags(const TrainingTask& source, const ReducedBags& data, const ReducedBags& target,
                               std::vector<std::string>& warnings) {
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
  const auto& p = data.bags.proportions;
  if (p.size() < 2) {
    return Error{fmt::format("the {} has {} bag; expected at least two bags of different proportions",
                             source.name, p.size()),
                 source.origin};
  }
  if (std::all_of(p.begin(), p.end(), [&](double v) { return v == p[0]; })) {
    warnings.push_back(
        fmt::format("all {} bags of the {} have the proportion {}: there is nothing to learn from it",
                    p.size(), source.name, p[0]));
  }
  return {};
}

Error overflow_error(std::span<const ReducedBags* const> tasks) {
  std::string worst;
  double largest = 0;
  for (const ReducedBags* data : tasks) {
    const DenseRows means = data->sums.means();
    for (std::size_t k = 0; k < means.rows(); ++k) {
      for (std::size_t j = 0; j < means.columns(); ++j) {
        if (std::abs(means(k, j)) <= largest) continue;
        worst = data->feature_names[j];
        largest = std::abs(means(k, j));
      }
    }
  }
  constexpr double kLarge = 1e50;
  if (largest < kLarge) {
    return {fmt::format(
        "the numbers are too large to compute with, though the data are not (the largest bag mean is "
        "{:.3g}): expected options of a more usual size (C, lambda, delta, gamma, degree)",
        largest)};
  }
  return {
      fmt::format("the numbers are too large to compute with: feature \"{}\" has a bag mean of {}; give it a "
                  "smaller unit or scale the features (scale standard or maxabs)",
                  worst, largest)};
}

Result<void> check_finite(const Model& model, std::span<const ReducedBags* const> tasks) {
  const auto finite = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
  };
  const TrainingReport& report = model.training;
  bool fine = std::isfinite(report.objective) && std::isfinite(report.shared_norm.value_or(0)) &&
              finite(report.objective_history) && finite(model.shared_weights);
  for (const TaskModel& task : model.tasks) fine = fine && finite(task.weights) && std::isfinite(task.bias);
  for (const TaskReport& task : report.tasks) {
    fine = fine && finite(task.residual) && finite(task.shift) && finite(task.angles) &&
           std::isfinite(task.norm) && std::isfinite(task.own_norm) && std::isfinite(task.shared_part);
  }
  return fine ? Result<void>() : overflow_error(tasks);
}

void warn_if_one_class(std::span<const double> scores, std::vector<std::string>& warnings) {
  const auto positive =
      static_cast<std::size_t>(std::count_if(scores.begin(), scores.end(), [](double f) { return f > 0; }));
  if (scores.empty() || (positive > 0 && positive < scores.size())) return;
  // First: the last warning is the one that says why a fit ended early.
  warnings.insert(warnings.begin(), fmt::format("the model predicts the {} class for every one of the {} "
                                                "training rows; try other costs (C, lambda), "
                                                "--scale standard, or bags whose proportions differ more",
                                                positive > 0 ? "positive" : "negative", scores.size()));
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

TrainingReport report_of_data(const ReducedBags& data, std::uint64_t seed) {
  TrainingReport out;
  for (std::size_t k = 0; k < data.sums.bags(); ++k) out.instances += data.sums.count(k);
  out.features = data.sums.features();
  out.bags = data.bags.size();
  out.seed = seed;
  const auto& p = data.bags.proportions;
  if (std::all_of(p.begin(), p.end(), [](double v) { return v == 0 || v == 1; })) {
    out.warnings.emplace_back("every bag is pure (all its rows of one class): this is supervised data");
  }
  return out;
}

TrainingReport convex_report(const SolveReport& solve, double gap_asked, const ReducedBags& data,
                             std::uint64_t seed) {
  TrainingReport out = report_of_data(data, seed);
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
