#include "bagwise/methods/tl_llp/tl_llp.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bagwise/bags/feature_moments.h"
#include "bagwise/bags/visit_means.h"
#include "bagwise/comm/over_ranks.h"
#include "bagwise/methods/bag_checks.h"
#include "bagwise/methods/grids.h"
#include "bagwise/methods/method_entry.h"
#include "bagwise/methods/number_range.h"
#include "bagwise/methods/per_source.h"
#include "bagwise/methods/tl_llp/roads.h"

namespace bagwise {
namespace {

Result<void> check_options(std::span<const TrainingTask> tasks, const TlLlpOptions& options) {
  if (const auto faults = validate(options); !faults.empty())
    return Error{fmt::format("{}", fmt::join(faults, "; "))};
  if (auto checked = check_kernel_choice(options.kernel_choice()); !checked) return checked;
  if (options.nystrom > 0 && options.uncertainty == Uncertainty::kLiteral) {
    return Error{fmt::format("nystrom = {} does not go with uncertainty literal; expected exact or off",
                             options.nystrom)};
  }
  const std::size_t sources = tasks.size() - 1;
  if (auto checked = check_per_source("C-source", options.C_source, sources); !checked) return checked;
  if (auto checked = check_per_source("lambda-source", options.lambda_source, sources); !checked)
    return checked;
  for (const TrainingTask& task : tasks) {
    if (!options.delta || !task.reduced.has_bounds) continue;
    return Error{fmt::format("delta = {} is given, but the {} has a delta column{}; expected one of the two",
                             *options.delta, task.name,
                             task.origin.empty() ? "" : fmt::format(" ({})", task.origin))};
  }
  return {};
}

// Root mean square distance of the rows of all ranks from their mean.
double spread_of(const DenseRows& rows, Communicator* spread) {
  const auto m = rows.view().matrix();
  const auto n = static_cast<double>(sum_over_ranks(spread, rows.rows()));
  Eigen::RowVectorXd mean = m.colwise().sum();
  sum_over_ranks(spread, {mean.data(), rows.columns()});
  mean /= n;
  return std::sqrt(sum_over_ranks(spread, (m.rowwise() - mean).squaredNorm()) / n);
}

// The same of the means of sparse sums, of which only those other than 0 are stored.
double spread_of_sparse(const BagSums& sums, Communicator* spread) {
  const auto n = static_cast<double>(sum_over_ranks(spread, sums.bags()));
  std::vector<double> mean(sums.features(), 0.0), zeros(sums.features(), static_cast<double>(sums.bags()));
  visit_means(sums, [&](std::size_t, std::size_t j, double value) { mean[j] += value / n, zeros[j] -= 1; });
  sum_over_ranks(spread, mean);
  double squares = 0;
  visit_means(sums, [&](std::size_t, std::size_t j, double value) {
    squares += (value - mean[j]) * (value - mean[j]);
  });
  for (std::size_t j = 0; j < mean.size(); ++j) squares += zeros[j] * mean[j] * mean[j];
  return std::sqrt(sum_over_ranks(spread, squares) / n);
}

void warn_of_large_bounds(tl_llp::Prepared& prepared, const TlLlpOptions& options, Communicator* spread) {
  for (std::size_t t = 0; t < prepared.tasks.size(); ++t) {
    const ReducedBags& data = *prepared.data[t];
    const auto bags = static_cast<double>(sum_over_ranks(spread, data.bags.size()));
    double bound = 0;
    for (std::size_t k = 0; k < data.bags.size(); ++k) bound += tl_llp::bound_of_bag(data, k, options) / bags;
    bound = sum_over_ranks(spread, bound);
    if (bound == 0) continue;
    const double apart = data.sums.layout() == BagSums::Layout::kSparse
                             ? spread_of_sparse(data.sums, spread)
                             : spread_of(data.sums.means(), spread);
    if (!(bound > apart)) continue;
    prepared.warnings.push_back(fmt::format(
        "the rows of the {} may be off by {:.3g} (delta), but its bag means are only {:.3g} apart: such "
        "uncertainty explains any proportion; expected a delta well below that",
        prepared.tasks[t].name, bound, apart));
  }
}

std::string end_name(RoundsEnd end) {
  switch (end) {
    case RoundsEnd::kConverged:
      return "converged";
    case RoundsEnd::kRoundLimit:
      return "round-limit";
    case RoundsEnd::kCycle:
      return "cycle";
    case RoundsEnd::kStopped:
      return "stopped";
    case RoundsEnd::kSolveLimit:
    case RoundsEnd::kNumericalFault:
      break;
  }
  return "iteration-limit";
}

void warn_of_end(const RoundsCourse& rounds, const TlLlpOptions& options,
                 std::vector<std::string>& warnings) {
  if (rounds.end == RoundsEnd::kRoundLimit) {
    warnings.push_back(
        fmt::format("the objective may still change by more than {} after round {} (max-rounds)",
                    options.tolerance, options.max_rounds));
  }
  if (rounds.end == RoundsEnd::kCycle) {
    warnings.push_back(
        fmt::format("the literal alternation came back to an earlier position in round {}: this is "
                    "the best of its rounds; uncertainty exact always descends",
                    rounds.history.size()));
  }
}

}  // namespace

namespace tl_llp {

double bound_of_row(const BaggedData& data, std::size_t row, const TlLlpOptions& options) {
  if (options.uncertainty == Uncertainty::kOff) return 0;
  return data.bounds.empty() ? options.delta.value_or(kDefaultDelta) : data.bounds[row];
}

double bound_of_bag(const ReducedBags& data, std::size_t bag, const TlLlpOptions& options) {
  if (options.uncertainty == Uncertainty::kOff) return 0;
  return data.has_bounds ? data.sums.mean_bound(bag) : options.delta.value_or(kDefaultDelta);
}

TrainingReport report_rounds(const RoundsCourse& rounds, const SolveReport& last, const Prepared& prepared,
                             const TlLlpOptions& options, const Context& context) {
  TrainingReport report =
      convex_report(last, options.gap, *prepared.data.back(), context.seed, spread_over(context));
  report.convex_objective = last.primal;
  report.objective = rounds.objective;
  report.termination = end_name(rounds.end);
  report.rounds = static_cast<int>(rounds.history.size());
  report.objective_history = rounds.history;
  report.solver_steps = rounds.steps;
  report.warnings.insert(report.warnings.begin(), prepared.warnings.begin(), prepared.warnings.end());
  warn_of_end(rounds, options, report.warnings);
  return report;
}

}  // namespace tl_llp

Result<Fit> fit_tl_llp(std::span<const TrainingTask> tasks, const TlLlpOptions& options,
                       const Context& context) {
  if (auto checked = check_options(tasks, options); !checked) return checked.error();
  tl_llp::Prepared prepared{.tasks = tasks};
  for (const TrainingTask& task : tasks) prepared.data.push_back(&task.reduced);
  const ReducedBags& target = *prepared.data.back();
  if (auto checked = check_target_bags(target, spread_over(context)); !checked) return checked.error();
  for (std::size_t t = 0; t + 1 < tasks.size(); ++t) {
    if (auto checked =
            check_source_bags(tasks[t], *prepared.data[t], target, prepared.warnings, spread_over(context));
        !checked)
      return checked.error();
  }
  prepared.moments = FeatureMoments(target.sums.features());
  if (options.scale != Scale::kNone || options.kernel != KernelKind::kLinear) {  // whole on every rank
    const auto has_moments = [&](const ReducedBags* task) {
      return task->moments.sum.size() == target.sums.features();
    };
    if (std::all_of(prepared.data.begin(), prepared.data.end(), has_moments)) {
      for (const ReducedBags* task : prepared.data) prepared.moments.merge(task->moments);
    }
  }
  auto scaling = fit_scaling(options.scale, prepared.moments, target.feature_names, context.scaling);
  if (!scaling) return scaling.error();
  prepared.scaling = std::move(*scaling);

  if (context.path == nullptr) warn_of_large_bounds(prepared, options, spread_over(context));

  Result<Fit> fit = Error{};
  if (options.kernel == KernelKind::kLinear) {
    fit = fit_linear(prepared, options, context);
  } else {
    if (auto checked = check_rows_at_hand(tasks, context); !checked) return checked.error();
    if (auto fits = check_kernel_memory(options.kernel_choice(), tasks, KernelUse::kBags); !fits)
      return fits.error();
    fit = options.nystrom > 0 ? fit_with_landmarks(prepared, options, context)
                              : fit_with_kernel(prepared, options, context);
  }
  if (!fit) return fit;
  if (auto checked = check_finite(fit->model); !checked) return checked.error();
  return fit;
}

namespace {

// Settings by what InvCal would pay: c_t = C_t (1 + lambda_t)/lambda_t, so that a path changes how well bags
// are fitted and not how much is shared. Lambda 1e-6 is no transfer at all. Costs in steps of 4 and 8: an
// average over settings gains nothing from closer ones (docs/design/selection.md).
OptionTexts setting(double lambda, double lambda_source, double cost, double cost_source, double epsilon) {
  const auto text = [](double v) { return to_text(OptionValue(v)); };
  return {{"C", text(cost * lambda / (1 + lambda))},
          {"C-source", text(cost_source * lambda_source / (1 + lambda_source))},
          {"lambda", text(lambda)},
          {"lambda-source", text(lambda_source)},
          {"epsilon", text(epsilon)}};
}

std::vector<SettingsPath> tl_llp_grid(std::size_t sources) {
  constexpr double kNoTransfer = 1e-6;
  const std::vector<double> costs = powers_of_two(-2, 7, 2), costs_source = powers_of_two(-2, 7, 3);
  std::vector<SettingsPath> out;
  for (const double epsilon : {0.01, 0.1}) {
    SettingsPath alone;
    for (const double cost : costs) {
      alone.push_back(setting(kNoTransfer, kNoTransfer, cost, 1, epsilon));
      if (sources > 0) continue;
      alone.back().erase("C-source");
      alone.back().erase("lambda-source");
    }
    out.push_back(std::move(alone));
    for (const double lambda : {0.1, 1.0, 10.0}) {
      SettingsPath path;
      bool up = true;  // there and back, so that every setting is next to the one before it
      for (const double cost_source : costs_source) {
        for (std::size_t i = 0; i < costs.size(); ++i)
          path.push_back(
              setting(lambda, 10 * lambda, costs[up ? i : costs.size() - 1 - i], cost_source, epsilon));
        up = !up;
      }
      if (sources > 0) out.push_back(std::move(path));
    }
  }
  return out;
}

}  // namespace

Method tl_llp_method() {
  return make_method<TlLlpOptions>({
      .name = "tl-llp",
      .summary = "large margins on bag means, with transfer from source tasks, under uncertain rows",
      .uses_sources = true,
      .fit = fit_tl_llp,
      .check = [](const TlLlpOptions& options) { return check_kernel_choice(options.kernel_choice()); },
      .rows_needed =
          [](const TlLlpOptions& options) {
            if (options.kernel != KernelKind::kLinear) return RowsNeeded::kAll;
            return options.uncertainty == Uncertainty::kLiteral ? RowsNeeded::kPasses : RowsNeeded::kNone;
          },
      .default_grid = tl_llp_grid,
      .learns_alone =
          [](const TlLlpOptions& options) {
            return nothing_is_shared(options.lambda, options.lambda_source);
          },
  });
}

}  // namespace bagwise
