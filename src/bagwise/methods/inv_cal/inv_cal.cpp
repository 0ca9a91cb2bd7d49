#include "bagwise/methods/inv_cal/inv_cal.h"

#include <fmt/format.h>

#include "bagwise/core/timing.h"
#include "bagwise/methods/bag_checks.h"
#include "bagwise/methods/grids.h"
#include "bagwise/methods/mean_rows.h"
#include "bagwise/methods/method_entry.h"
#include "bagwise/methods/number_range.h"
#include "bagwise/methods/nystrom.h"
#include "bagwise/methods/path_state.h"
#include "bagwise/methods/single_rows.h"
#include "bagwise/methods/task_reports.h"
#include "bagwise/solver/tube_regression.h"

namespace bagwise {

TubeProblem inverse_calibration_problem(const ReducedBags& data, const RowsView& means,
                                        const InvCalOptions& o, Communicator* spread) {
  TubeProblem problem;
  problem.rows = means;
  append_bags(data, {o.epsilon, o.tube, o.clip, o.bag_weight}, o.C, 0, problem, spread);
  problem.comm = spread;
  return problem;
}

namespace {

Fit new_fit(const TrainingTask& target, const Scaling& scaling, const InvCalOptions& options) {
  Fit fit;
  fit.model.method = "inv-cal";
  fit.model.features = target.reduced.feature_names;
  fit.model.scaling = scaling;
  fit.model.options = option_values(options);
  return fit;
}

// On the means of `data`: of the rows, or of their images under a map.
Result<Fit> fit_means(const TrainingTask& target, const ReducedBags& data, const Scaling& scaling,
                      const InvCalOptions& options, const Context& context) {
  const ReducedBags* const all[] = {&data};
  const auto means = scaled_means(all, scaling);
  if (!means) return means.error();
  const TubeProblem problem = inverse_calibration_problem(data, means->view(), options, spread_over(context));
  const TubeOptions tube{.gap_tolerance = gap_on_path(options.gap, context), .threads = context.threads};
  const TubeSolution* start = context.path != nullptr ? context.path->start_for(problem) : nullptr;
  const TubeSolution solution = solve_tube_regression(problem, tube, start, context.observer);
  if (solution.report.termination == Termination::kNumericalFault) return overflow_error();
  Fit fit = new_fit(target, scaling, options);
  const Vector w = solution.planes.weights(0);
  fit.model.tasks = {{target.name, {w.data(), w.data() + w.size()}, solution.planes.bias[0], {}}};
  fit.model.training = convex_report(solution.report, options.gap, data, context.seed, spread_over(context));
  fit.model.training.tasks =
      report_bags({&target, 1}, all, problem, values_at_means(problem, solution.planes, context.threads),
                  spread_over(context));
  if (context.path != nullptr) context.path->last = solution;
  return fit;
}

Result<Fit> fit_landmarks(const TrainingTask& target, const Scaling& scaling, const KernelFunction& kernel,
                          const InvCalOptions& options, const Context& context) {
  const RowsView rows[] = {target.rows->features.view()};
  const NystromMap map =
      fit_nystrom(kernel, rows, scaling, static_cast<std::size_t>(options.nystrom), context.seed);
  if (map.coordinates() == 0) return overflow_error();
  const ReducedBags mapped = reduce_mapped(map, scaling, *target.rows, {}, context.threads, context.observer);
  if (tell(context.observer, {"mapping"}) == Next::kStop) return stopped_error();
  auto fit = fit_means(target, mapped, {}, options, context);
  if (fit) use_landmarks(map, target.reduced.feature_names, scaling, fit->model);
  return fit;
}

Result<Fit> fit_kernel(const TrainingTask& target, const Scaling& scaling, const KernelFunction& kernel,
                       const InvCalOptions& options, const Context& context) {
  const StackedRows rows = stack_rows({&target, 1}, scaled_tables({&target, 1}, scaling));
  KernelTubeProblem problem;
  append_bags(target.reduced, {options.epsilon, options.tube, options.clip, options.bag_weight}, options.C, 0,
              problem);
  problem.kernel = bag_kernel(kernel, rows.in_bags(), context.threads, context.observer);
  const KernelTubeOptions how{.gap_tolerance = options.gap, .threads = context.threads};
  const KernelTubeSolution solution = solve_kernel_tube(problem, how, nullptr, context.observer);
  const ReducedBags* const all[] = {&target.reduced};
  if (solution.report.termination == Termination::kNumericalFault) return overflow_error();
  Fit fit = new_fit(target, scaling, options);
  set_expansion(kernel, problem, solution, rows, {&target, 1}, fit.model);
  fit.model.training = convex_report(solution.report, options.gap, target.reduced, context.seed);
  fit.model.training.tasks = report_bags({&target, 1}, all, problem, solution.values);
  return fit;
}

}  // namespace

Result<Fit> fit_inv_cal(const TrainingTask& target, const InvCalOptions& options, const Context& context) {
  if (const auto faults = validate(options); !faults.empty())
    return Error{fmt::format("{}", fmt::join(faults, "; "))};
  const KernelChoice choice = options.kernel_choice();
  if (auto checked = check_kernel_choice(choice); !checked) return checked.error();
  const ReducedBags& data = target.reduced;
  if (auto checked = check_target_bags(data, spread_over(context)); !checked) return checked.error();
  auto scaling = fit_scaling(options.scale, data.moments, data.feature_names, context.scaling);
  if (!scaling) return scaling.error();

  const Stopwatch watch;
  Result<Fit> fit = Error{};
  if (choice.is_linear()) {
    fit = fit_means(target, data, *scaling, options, context);
  } else {
    if (auto checked = check_rows_at_hand({&target, 1}, context); !checked) return checked.error();
    if (auto fits = check_kernel_memory(choice, {&target, 1}, KernelUse::kBags); !fits) return fits.error();
    const KernelFunction kernel = kernel_function(choice, data.moments, *scaling);
    fit = choice.nystrom > 0 ? fit_landmarks(target, *scaling, kernel, options, context)
                             : fit_kernel(target, *scaling, kernel, options, context);
  }
  if (!fit) return fit;
  fit->solve_seconds = watch.seconds();
  if (auto checked = check_finite(fit->model); !checked) return checked.error();
  return fit;
}

Result<std::vector<double>> inv_cal_scores(const BaggedData& data, const InvCalOptions& options,
                                           const Context& context) {
  Context inside = context;
  inside.scaling = nullptr;  // these rows are scaled already
  return target_scores(fit_inv_cal({"target", reduce(data, context.threads), &data}, options, inside), data,
                       context.threads);
}

Method inv_cal_method() {
  return make_method<InvCalOptions>({
      .name = "inv-cal",
      .summary = "regress the inverse-calibrated proportions on the bag means (Rueping 2010)",
      .fit = [](std::span<const TrainingTask> tasks, const InvCalOptions& options,
                const Context& context) { return fit_inv_cal(tasks[0], options, context); },
      .check = [](const InvCalOptions& options) { return check_kernel_choice(options.kernel_choice()); },
      .rows_needed =
          [](const InvCalOptions& options) {
            return options.kernel_choice().is_linear() ? RowsNeeded::kNone : RowsNeeded::kAll;
          },
      .default_grid =
          [](std::size_t) {
            return cost_paths(powers_of_two(-2, 5), "epsilon", {0.01, 0.1});
          },
  });
}

}  // namespace bagwise
