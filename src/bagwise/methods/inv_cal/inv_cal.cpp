#include "bagwise/methods/inv_cal/inv_cal.h"

#include <fmt/format.h>

#include "bagwise/core/timing.h"
#include "bagwise/methods/bag_checks.h"
#include "bagwise/solver/tube_regression.h"

namespace bagwise {

TubeProblem inverse_calibration_problem(const ReducedBags& data, const DenseRows& means,
                                        const InvCalOptions& o) {
  TubeProblem problem;
  problem.rows = means.view();
  const std::vector<double> weight = bag_weights(data.sums, o.bag_weight);
  for (std::size_t k = 0; k < data.bags.size(); ++k) {
    const double p = clipped_proportion(data.bags.proportions[k], data.sums.count(k), o.clip);
    problem.target.push_back(inverse_calibration(p));
    problem.tube.push_back(tube_width(o.tube, o.epsilon, p));
    problem.cost_above.push_back(o.C * weight[k]);
  }
  problem.cost_below = problem.cost_above;
  return problem;
}

Result<Fit> fit_inv_cal(const ReducedBags& given, const InvCalOptions& options, const Context& context) {
  if (const auto faults = validate(options); !faults.empty())
    return Error{fmt::format("{}", fmt::join(faults, "; "))};
  ReducedBags storage;
  const ReducedBags& data = over_all_ranks(given, context.comm, storage);
  if (auto checked = check_target_bags(data); !checked) return checked.error();
  auto scaling = fit_scaling(options.scale, data.moments, data.feature_names);
  if (!scaling) return scaling.error();

  const Stopwatch watch;
  DenseRows means = data.sums.means();
  apply(*scaling, means);
  const TubeProblem problem = inverse_calibration_problem(data, means, options);
  const TubeOptions tube{.gap_tolerance = options.gap, .threads = context.threads};
  const TubeSolution solution = solve_tube_regression(problem, tube, nullptr, context.observer);
  if (solution.report.termination == Termination::kNumericalFault) return overflow_error(data);

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
        return fit_inv_cal(tasks[0].reduced, *options, context);
      },
      .check = [](const OptionTexts& texts) -> Result<void> {
        auto options = parse_options<InvCalOptions>(texts);
        return options ? Result<void>() : options.error();
      },
  };
}

}  // namespace bagwise
