#include "bagwise/methods/inv_cal/inv_cal.h"

#include <fmt/format.h>

#include "bagwise/core/timing.h"
#include "bagwise/methods/bag_checks.h"
#include "bagwise/methods/task_reports.h"
#include "bagwise/solver/tube_regression.h"

namespace bagwise {

TubeProblem inverse_calibration_problem(const ReducedBags& data, const DenseRows& means,
                                        const InvCalOptions& o) {
  TubeProblem problem;
  problem.rows = means.view();
  append_bags(data, {o.epsilon, o.tube, o.clip, o.bag_weight}, o.C, 0, problem);
  return problem;
}

Result<Fit> fit_inv_cal(const TrainingTask& target, const InvCalOptions& options, const Context& context) {
  if (const auto faults = validate(options); !faults.empty())
    return Error{fmt::format("{}", fmt::join(faults, "; "))};
  ReducedBags storage;
  const ReducedBags& data = over_all_ranks(target.reduced, context.comm, storage);
  if (auto checked = check_target_bags(data); !checked) return checked.error();
  auto scaling = fit_scaling(options.scale, data.moments, data.feature_names);
  if (!scaling) return scaling.error();

  const Stopwatch watch;
  DenseRows means = data.sums.means();
  apply(*scaling, means);
  const TubeProblem problem = inverse_calibration_problem(data, means, options);
  const TubeOptions tube{.gap_tolerance = options.gap, .threads = context.threads};
  const TubeSolution solution = solve_tube_regression(problem, tube, nullptr, context.observer);
  const ReducedBags* const all[] = {&data};
  if (solution.report.termination == Termination::kNumericalFault) return overflow_error(all);

  Fit fit;
  fit.solve_seconds = watch.seconds();
  Model& model = fit.model;
  model.method = "inv-cal";
  model.features = data.feature_names;
  model.scaling = std::move(*scaling);
  const Vector w = solution.planes.weights(0);
  model.tasks = {{"target", {w.data(), w.data() + w.size()}, solution.planes.bias[0], {}}};
  model.options = option_values(options);
  model.training = convex_report(solution.report, options.gap, data, context.seed);
  model.training.tasks =
      report_bags({&target, 1}, all, problem, values_at_means(problem, solution.planes, context.threads));
  return fit;
}

Method inv_cal_method() {
  return {
      .name = "inv-cal",
      .summary = "regress the inverse-calibrated proportions on the bag means (Rueping 2010)",
      .uses_sources = false,
      .options = list_options<InvCalOptions>(),
      .fit = [](std::span<const TrainingTask> tasks, const OptionTexts& texts,
                const Context& context) -> Result<Fit> {
        if (tasks.size() != 1) return Error{"inv-cal learns from the target alone and takes no source"};
        auto options = parse_options<InvCalOptions>(texts);
        if (!options) return options.error();
        return fit_inv_cal(tasks[0], *options, context);
      },
      .check = [](const OptionTexts& texts) -> Result<void> {
        auto options = parse_options<InvCalOptions>(texts);
        return options ? Result<void>() : options.error();
      },
  };
}

}  // namespace bagwise
