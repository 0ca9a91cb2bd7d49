#include "bagwise/methods/tl_llp/tl_llp.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <list>

#include "bagwise/core/timing.h"
#include "bagwise/methods/bag_checks.h"
#include "bagwise/methods/task_reports.h"

namespace bagwise {
namespace {

using Tasks = std::vector<const ReducedBags*>;

// One value for all sources or one for each, then the target's.
std::vector<double> per_task(const std::vector<double>& sources, double target, std::size_t tasks) {
  std::vector<double> out(tasks, target);
  for (std::size_t t = 0; t + 1 < tasks; ++t) out[t] = sources.size() == 1 ? sources[0] : sources[t];
  return out;
}

Result<void> check_counts(const char* option, const std::vector<double>& values, std::size_t sources) {
  if (values.size() == 1 || values.size() == sources) return {};
  return Error{fmt::format("{} = {} has {} values, but there {}; expected one for all, or one per source",
                           option, fmt::join(values, ","), values.size(),
                           sources == 1 ? "is 1 source" : fmt::format("are {} sources", sources))};
}

Result<void> check_options(std::span<const TrainingTask> tasks, const TlLlpOptions& options) {
  if (const auto faults = validate(options); !faults.empty())
    return Error{fmt::format("{}", fmt::join(faults, "; "))};
  const std::size_t sources = tasks.size() - 1;
  if (auto checked = check_counts("C-source", options.C_source, sources); !checked) return checked;
  if (auto checked = check_counts("lambda-source", options.lambda_source, sources); !checked) return checked;
  for (const TrainingTask& task : tasks) {
    if (!options.delta || !task.reduced.has_bounds) continue;
    return Error{fmt::format("delta = {} is given, but the {} has a delta column{}; expected one of the two",
                             *options.delta, task.name,
                             task.origin.empty() ? "" : fmt::format(" ({})", task.origin))};
  }
  return {};
}

// The mean bound of a bag's rows.
double bound_of(const ReducedBags& data, std::size_t bag, const TlLlpOptions& options) {
  if (options.uncertainty == Uncertainty::kOff) return 0;
  return data.has_bounds ? data.sums.mean_bound(bag) : options.delta.value_or(kDefaultDelta);
}

// Root mean square distance of the rows from their mean.
double spread_of(const DenseRows& rows) {
  const auto m = rows.view().matrix();
  return std::sqrt((m.rowwise() - m.colwise().mean()).squaredNorm() / static_cast<double>(m.rows()));
}

void warn_of_large_bounds(const TrainingTask& task, const ReducedBags& data, const DenseRows& means,
                          const TlLlpOptions& options, std::vector<std::string>& warnings) {
  double bound = 0;
  for (std::size_t k = 0; k < data.bags.size(); ++k)
    bound += bound_of(data, k, options) / static_cast<double>(data.bags.size());
  const double spread = spread_of(means);
  if (!(bound > spread)) return;
  warnings.push_back(fmt::format(
      "the rows of the {} may be off by {:.3g} (delta), but its bag means are only {:.3g} apart: such "
      "uncertainty explains any proportion; expected a delta well below that",
      task.name, bound, spread));
}

// The means of the bags of all tasks, one task after the other.
DenseRows stacked_means(std::span<const TrainingTask> tasks, const Tasks& data, const TlLlpOptions& options,
                        std::vector<std::string>& warnings) {
  DenseRows out(data.back()->sums.features());
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const DenseRows means = data[t]->sums.means();
    warn_of_large_bounds(tasks[t], *data[t], means, options, warnings);
    std::copy_n(means.view().values, means.rows() * means.columns(), out.append(means.rows()));
  }
  return out;
}

Result<Scaling> fit_scaling_of_all(const Tasks& data, Scale scale) {
  FeatureMoments moments(data.back()->sums.features());
  if (scale != Scale::kNone) {
    for (const ReducedBags* task : data) moments.merge(task->moments);
  }
  return fit_scaling(scale, moments, data.back()->feature_names);
}

// Lemma 3: every row outside its bag's tube moves by its full bound towards it, along the plane's normal.
// Returns per bag the mean of its rows' signed moves.
class LemmaMoves {
 public:
  LemmaMoves(std::span<const TrainingTask> tasks, const TubeTerms& terms, const Scaling& scaling,
             const TlLlpOptions& options, const Context& context)
      : tasks_(tasks), terms_(terms), scaling_(scaling), options_(options), context_(context) {}

  std::vector<double> operator()(const TubePlanes& planes) const {
    std::vector<double> moves(terms_.size() * 2, 0.0);  // sums, then counts
    std::size_t first = 0;
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      const Vector w = planes.weights(t);
      const Plane plane = raw_plane(scaling_, {w.data(), w.data() + w.size()}, planes.bias[t]);
      const BaggedData& data = *tasks_[t].rows;
      const auto f = scores(plane, data.features.view(), context_.threads);
      for (std::size_t j = 0; j < f.size(); ++j) {
        const std::size_t bag = first + data.bag_of_row[j];
        const double r = f[j] - terms_.target[bag];
        const double bound = data.bounds.empty() ? options_.delta.value_or(kDefaultDelta) : data.bounds[j];
        if (std::abs(r) > terms_.tube[bag]) moves[bag] -= std::copysign(bound, r);
        moves[terms_.size() + bag] += 1;
      }
      first += data.bags.size();
    }
    if (context_.comm != nullptr) context_.comm->sum(moves);
    for (std::size_t i = 0; i < terms_.size(); ++i) moves[i] /= std::max(1.0, moves[terms_.size() + i]);
    moves.resize(terms_.size());
    return moves;
  }

 private:
  std::span<const TrainingTask> tasks_;
  const TubeTerms& terms_;
  const Scaling& scaling_;
  const TlLlpOptions& options_;
  const Context& context_;
};

// Per bag, how far its mean stands moved: as the literal rounds left it, or the least that brings it into its
// tube as far as its bound allows.
void report_shifts(const UncertainTube& tube, const RoundsResult& rounds, std::vector<TaskReport>& tasks) {
  std::size_t i = 0;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    TaskReport& task = tasks[t];
    const double reach = stretched_norm(tube.stretch, rounds.solution.planes.weights(t));
    for (std::size_t k = 0; k < task.residual.size(); ++k, ++i) {
      double shift = rounds.move.empty() ? 0 : rounds.move[i];
      if (rounds.move.empty() && reach > 0) {
        const double needed = std::max(0.0, std::abs(task.residual[k]) - tube.problem.tube[i]) / reach;
        shift = -std::copysign(std::min(needed, tube.bound[i]), task.residual[k]);
      }
      task.shift.push_back(shift == 0 ? 0 : shift);  // never -0
      task.at_bound.push_back(tube.bound[i] > 0 && std::abs(shift) >= tube.bound[i] * (1 - 1e-12));
    }
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

void warn_of_end(const RoundsResult& rounds, const TlLlpOptions& options,
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

UncertainTube tl_llp_problem(std::span<const ReducedBags* const> tasks, const DenseRows& means,
                             const Scaling& scaling, const TlLlpOptions& o) {
  UncertainTube out;
  out.problem.rows = means.view();
  out.problem.lambda = per_task(o.lambda_source, o.lambda, tasks.size());
  const auto cost = per_task(o.C_source, o.C, tasks.size());
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    append_bags(*tasks[t], {o.epsilon, o.tube, o.clip, o.bag_weight}, cost[t], static_cast<std::uint32_t>(t),
                out.problem);
    for (std::size_t k = 0; k < tasks[t]->bags.size(); ++k) out.bound.push_back(bound_of(*tasks[t], k, o));
  }
  out.stretch = scaling.factor;
  return out;
}

Result<Fit> fit_tl_llp(std::span<const TrainingTask> tasks, const TlLlpOptions& options,
                       const Context& context) {
  if (auto checked = check_options(tasks, options); !checked) return checked.error();
  std::list<ReducedBags> storage(tasks.size());
  Tasks data;
  for (auto place = storage.begin(); const TrainingTask& task : tasks)
    data.push_back(&over_all_ranks(task.reduced, context.comm, *place++));
  if (auto checked = check_target_bags(*data.back()); !checked) return checked.error();
  std::vector<std::string> warnings;
  for (std::size_t t = 0; t + 1 < tasks.size(); ++t) {
    if (auto checked = check_source_bags(tasks[t], *data[t], *data.back(), warnings); !checked)
      return checked.error();
  }
  auto scaling = fit_scaling_of_all(data, options.scale);
  if (!scaling) return scaling.error();

  const Stopwatch watch;
  DenseRows means = stacked_means(tasks, data, options, warnings);
  apply(*scaling, means);
  const UncertainTube tube = tl_llp_problem(data, means, *scaling, options);
  const RoundsOptions how{
      options.tolerance, options.max_rounds, {.gap_tolerance = options.gap, .threads = context.threads}};
  const RoundsResult rounds =
      options.uncertainty == Uncertainty::kLiteral
          ? literal_rounds(tube, LemmaMoves(tasks, tube.problem, *scaling, options, context), how,
                           context.observer)
          : exact_rounds(tube, how, context.observer);
  if (rounds.end == RoundsEnd::kNumericalFault) return overflow_error(data);

  Fit fit;
  fit.solve_seconds = watch.seconds();
  fit.first_solve_seconds = rounds.first_solve_seconds;
  Model& model = fit.model;
  model.method = "tl-llp";
  model.features = data.back()->feature_names;
  model.scaling = std::move(*scaling);
  const TubePlanes& planes = rounds.solution.planes;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const Vector w = planes.weights(t);
    model.tasks.push_back({tasks[t].name, {w.data(), w.data() + w.size()}, planes.bias[t], {}});
  }
  model.shared_weights = {planes.shared.data(), planes.shared.data() + planes.shared.size()};
  model.options = option_values(options);

  TrainingReport& report = model.training;
  report = convex_report(rounds.solution.report, options.gap, *data.back(), context.seed);
  report.convex_objective = rounds.solution.report.primal;
  report.objective = rounds.objective;
  report.termination = end_name(rounds.end);
  report.rounds = static_cast<int>(rounds.history.size());
  report.objective_history = rounds.history;
  report.solver_steps = rounds.steps;
  report.tasks =
      report_bags(tasks, data, tube.problem, values_at_means(tube.problem, planes, context.threads));
  report_shifts(tube, rounds, report.tasks);
  report_planes(products_of(planes), report);
  report.warnings.insert(report.warnings.begin(), warnings.begin(), warnings.end());
  warn_of_end(rounds, options, report.warnings);
  return fit;
}

Method tl_llp_method() {
  return {
      .name = "tl-llp",
      .summary = "large margins on bag means, with transfer from source tasks, under uncertain rows",
      .uses_sources = true,
      .options = list_options<TlLlpOptions>(),
      .fit = [](std::span<const TrainingTask> tasks, const OptionTexts& texts,
                const Context& context) -> Result<Fit> {
        auto options = parse_options<TlLlpOptions>(texts);
        if (!options) return options.error();
        return fit_tl_llp(tasks, *options, context);
      },
      .check = [](const OptionTexts& texts) -> Result<void> {
        auto options = parse_options<TlLlpOptions>(texts);
        return options ? Result<void>() : options.error();
      },
      .needs_instances =
          [](const OptionTexts& texts) {
            const auto options = parse_options<TlLlpOptions>(texts);
            return options && options->uncertainty == Uncertainty::kLiteral;
          },
  };
}

}  // namespace bagwise
