#include "bagwise/methods/tl_count/tl_count.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <utility>

#include "bagwise/bags/rows_by_bag.h"
#include "bagwise/core/timing.h"
#include "bagwise/methods/bag_checks.h"
#include "bagwise/methods/grids.h"
#include "bagwise/methods/method_entry.h"
#include "bagwise/methods/number_range.h"
#include "bagwise/methods/nystrom.h"
#include "bagwise/methods/path_state.h"
#include "bagwise/methods/per_source.h"
#include "bagwise/methods/single_rows.h"
#include "bagwise/methods/task_reports.h"
#include "bagwise/methods/tl_llp/tl_llp.h"
#include "bagwise/solver/count_regression.h"

namespace bagwise {
namespace {

using Tasks = std::span<const TrainingTask>;

Result<void> check_kernel(const TlCountOptions& options) {
  if (options.kernel == KernelKind::kLinear || options.nystrom > 0)
    return check_kernel_choice(options.kernel_choice());
  return Error{fmt::format(
      "kernel = {} without nystrom: tl-count has kernels by landmarks only; expected nystrom = M, "
      "a number of rows, such as 500",
      options.kernel == KernelKind::kRbf ? "rbf" : "poly")};
}

Result<void> check_sources(const TlCountOptions& options, std::size_t sources) {
  if (auto checked = check_per_source("C-source", options.costs_of_sources(), sources); !checked)
    return checked;
  return check_per_source("lambda-source", options.lambdas_of_sources(), sources);
}

// The problem of all tasks, and the order of rows it refers to.
struct Posed {
  CountProblem problem;
  std::list<RowsByBag> order;
};
Posed pose(Tasks tasks, const TlCountOptions& options, const Scaling& scaling) {
  Posed out;
  out.problem.exact_up_to = static_cast<std::size_t>(options.exact_up_to);
  out.problem.shift = scaling.shift;
  out.problem.factor = scaling.factor;
  const auto cost = per_task(options.costs_of_sources(), options.C, tasks.size());
  const auto lambda = per_task(options.lambdas_of_sources(), options.lambda, tasks.size());
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const BaggedData& data = *tasks[t].rows;
    const RowsByBag& order = out.order.emplace_back(data.bag_of_row, data.bags.size());
    CountTask task{data.features.view(), order.row, order.start, {}, {}, lambda[t]};
    for (std::size_t k = 0; k < data.bags.size(); ++k)
      task.seen.push_back(count_seen(data.bags.proportions[k], data.bags.noise_of(k), order.size(k)));
    task.cost.assign(data.bags.size(), cost[t]);
    out.problem.tasks.push_back(std::move(task));
  }
  return out;
}

// The planes of TL-LLP that shares as much. Its cost is that of InvCal at C = 2, whatever lambda is: what one
// task would pay is C (1 + lambda)/lambda.
Result<TubePlanes> tl_llp_planes(Tasks tasks, const TlCountOptions& options, const Scaling& scaling,
                                 const Context& context) {
  constexpr double kCost = 2;
  // Any start will do: where options are at the ends of their range it must only be one.
  const auto within = [](double size) { return std::clamp(size, 1e-300, 1e300); };
  TlLlpOptions start;
  start.C = within(kCost / (1 + 1 / options.lambda));
  for (double& cost : start.C_source = options.costs_of_sources())
    cost = within(cost / within(options.C) * start.C);
  start.lambda = within(options.lambda);
  for (double& lambda : start.lambda_source = options.lambdas_of_sources()) lambda = within(lambda);
  start.uncertainty = Uncertainty::kOff;
  start.gap = kPathGap;
  Context inside = context;
  inside.scaling = &scaling;
  inside.path = nullptr;
  const auto fit = fit_tl_llp(tasks, start, inside);
  if (!fit) return fit.error();
  const auto vector = [](const std::vector<double>& v) {
    return Eigen::Map<const Vector>(v.data(), static_cast<Eigen::Index>(v.size()));
  };
  TubePlanes out;
  out.shared = vector(fit->model.shared_weights);
  for (const TaskModel& task : fit->model.tasks) {
    out.own.emplace_back(vector(task.weights) - out.shared);
    out.bias.push_back(task.bias);
  }
  return out;
}

// Every row has the odds of its task's share.
TubePlanes flat_planes(Tasks tasks) {
  TubePlanes out;
  out.shared = Vector::Zero(static_cast<Eigen::Index>(tasks.back().reduced.sums.features()));
  for (const TrainingTask& task : tasks) {
    double rows = 0, positives = 0;
    for (std::size_t k = 0; k < task.reduced.bags.size(); ++k) {
      const auto size = static_cast<double>(task.reduced.sums.count(k));
      rows += size;
      positives += size * task.reduced.bags.proportions[k];
    }
    out.own.push_back(out.shared);
    out.bias.push_back(std::log((positives + 1) / (rows - positives + 1)));
  }
  return out;
}

// Per task its bags, each with its mean probability less its share.
std::vector<TaskReport> report_tasks(Tasks tasks, const Model& model, unsigned threads,
                                     std::vector<std::string>& warnings) {
  std::vector<TaskReport> out;
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const BaggedData& data = *tasks[t].rows;
    const auto f = scores(raw_plane(model, t), data.features.view(), threads);
    TaskReport report;
    report.name = tasks[t].name;
    report.instances = f.size();
    report.bag_names = data.bags.names;
    report.residual.assign(data.bags.size(), 0);
    for (std::size_t j = 0; j < f.size(); ++j)
      report.residual[data.bag_of_row[j]] += model.tasks[t].probability.of(f[j]);
    for (std::size_t k = 0; k < data.bags.size(); ++k) {
      report.residual[k] =
          report.residual[k] / static_cast<double>(tasks[t].reduced.sums.count(k)) - data.bags.proportions[k];
    }
    out.push_back(std::move(report));
    if (t + 1 == tasks.size()) warn_if_one_class(f, warnings);
  }
  return out;
}

TrainingReport report_of(const CountSolution& solution, const TlCountOptions& options,
                         const ReducedBags& target, std::uint64_t seed) {
  TrainingReport out = report_of_data(target, seed);
  out.objective = solution.objective;
  out.termination = to_string(solution.termination);
  out.rounds = solution.steps();
  out.objective_history = solution.history;
  if (solution.termination == Termination::kStopped) {
    out.warnings.push_back(
        fmt::format("stopped: the next step would have gained {:.2g} per bag", solution.decrement));
  } else if (solution.termination == Termination::kIterationLimit) {
    out.warnings.push_back(fmt::format(
        "after {} steps the next is still expected to gain {:.2g} per bag, {:.2g} was asked for (tolerance); "
        "features of very different or very large size make this hard: try scale standard",
        solution.steps(), solution.decrement, options.tolerance));
  }
  return out;
}

// On a path steps end when they no longer matter for choosing among settings.
constexpr double kPathTolerance = 1e-4;

// Planes found in one space are no start in another.
std::string coordinates_of(Tasks tasks, const TlCountOptions& options, const Scaling& scaling) {
  return fmt::format("{} features of {} tasks, scale {} {}, kernel {} {} {} {}",
                     tasks.back().reduced.sums.features(), tasks.size(), static_cast<int>(options.scale),
                     scaling.kind, static_cast<int>(options.kernel), options.gamma.value_or(0),
                     options.degree, options.nystrom);
}

Result<Fit> fit_linear(Tasks tasks, const TlCountOptions& options, const Scaling& scaling,
                       const Context& context) {
  const Stopwatch watch;
  const Posed posed = pose(tasks, options, scaling);
  CountOptions how{options.tolerance, options.max_steps, false, context.threads};
  TubePlanes start;
  const std::string coordinates = coordinates_of(tasks, options, scaling);
  // On a path costs rise on from where the last setting left them.
  const auto* last = context.path != nullptr && context.path->counted ? &*context.path->counted : nullptr;
  if (last != nullptr && last->coordinates == coordinates && last->cost <= options.C) {
    start = last->planes;
  } else if (options.init == CountStart::kTlLlp) {
    auto planes = tl_llp_planes(tasks, options, scaling, context);
    if (!planes) return planes.error();
    start = std::move(*planes);
  } else {
    start = flat_planes(tasks);
    how.anneal = true;
  }
  Fit fit;
  fit.first_solve_seconds = watch.seconds();
  if (context.path != nullptr) how.tolerance = std::max(how.tolerance, kPathTolerance);
  const CountSolution solution = solve_counts(posed.problem, start, how, context.observer);
  if (solution.termination == Termination::kNumericalFault) return overflow_error();
  if (context.path != nullptr) context.path->counted = {solution.planes, options.C, coordinates};
  fit.solve_seconds = watch.seconds();

  Model& model = fit.model;
  model.method = "tl-count";
  model.options = option_values(options);
  model.features = tasks.back().reduced.feature_names;
  model.scaling = scaling;
  set_planes(solution.planes, tasks, model);
  model.training = report_of(solution, options, tasks.back().reduced, context.seed);
  model.training.tasks = report_tasks(tasks, model, context.threads, model.training.warnings);
  report_planes(products_of(solution.planes), model.training);
  return fit;
}

// The linear problem over the landmarks' coordinates; its planes are expansions in the landmarks.
Result<Fit> fit_with_landmarks(Tasks given, const TlCountOptions& options, const PreparedRows& prepared,
                               const Context& context) {
  if (auto fits = check_kernel_memory(options.kernel_choice(), given, KernelUse::kColumns); !fits)
    return fits.error();
  const Stopwatch watch;
  const Scaling& scaling = prepared.scaling;
  std::vector<RowsView> tables;
  for (const TrainingTask& task : given) tables.push_back(task.rows->features.view());
  const NystromMap map =
      fit_nystrom(kernel_function(options.kernel_choice(), prepared.moments, scaling), tables, scaling,
                  static_cast<std::size_t>(options.nystrom), context.seed);
  if (map.coordinates() == 0) return overflow_error();
  std::list<BaggedData> mapped;
  std::vector<TrainingTask> tasks;
  for (const TrainingTask& task : given) {
    if (tell(context.observer, {"mapping"}) == Next::kStop) return stopped_error();
    BaggedData& data = mapped.emplace_back(map_bags(map, scaling, *task.rows, context.threads));
    tasks.push_back({task.name, reduce(data, context.threads), &data, task.origin});
  }
  auto fit = fit_linear(tasks, options, {}, context);
  if (!fit) return fit;
  fit->solve_seconds = watch.seconds();
  use_landmarks(map, given.back().reduced.feature_names, scaling, fit->model);
  return fit;
}

}  // namespace

Result<Fit> fit_tl_count(Tasks tasks, const TlCountOptions& options, const Context& context) {
  const auto prepared = check_and_scale(tasks, options, context);
  if (!prepared) return prepared.error();
  if (auto checked = check_kernel(options); !checked) return checked.error();
  if (auto checked = check_sources(options, tasks.size() - 1); !checked) return checked.error();
  auto fit = options.kernel == KernelKind::kLinear ? fit_linear(tasks, options, prepared->scaling, context)
                                                   : fit_with_landmarks(tasks, options, *prepared, context);
  if (!fit) return fit;
  auto& told = fit->model.training.warnings;
  told.insert(told.begin(), prepared->warnings.begin(), prepared->warnings.end());
  return fit;
}

namespace {

// Settings by what one task alone would pay, c = C (1 + lambda)/lambda, so that a path changes how well bags
// are fitted and not how much is shared. Lambda 1e-6 is no transfer at all.
std::vector<SettingsPath> tl_count_grid(std::size_t sources) {
  constexpr double kNoTransfer = 1e-6;
  const auto text = [](double v) { return to_text(OptionValue(v)); };
  std::vector<double> lambdas = {kNoTransfer};
  if (sources > 0) lambdas.insert(lambdas.end(), {0.1, 1.0});
  std::vector<SettingsPath> out;
  for (const double lambda : lambdas) {
    SettingsPath path;
    for (const double paid : powers_of_two(-4, 8, 2))
      path.push_back({{"C", text(paid * lambda / (1 + lambda))}, {"lambda", text(lambda)}});
    out.push_back(std::move(path));
  }
  return out;
}

}  // namespace

Method tl_count_method() {
  return make_method<TlCountOptions>({
      .name = "tl-count",
      .summary = "likely numbers of positives in every bag, with transfer from source tasks",
      .uses_sources = true,
      .fit = fit_tl_count,
      .check = check_kernel,
      .rows_needed = [](const TlCountOptions&) { return RowsNeeded::kAll; },
      .default_grid = tl_count_grid,
      .learns_alone =
          [](const TlCountOptions& options) {
            return nothing_is_shared(options.lambda, options.lambdas_of_sources());
          },
  });
}

}  // namespace bagwise
