#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bagwise/core/timing.h"
#include "bagwise/methods/bag_checks.h"
#include "bagwise/methods/nystrom.h"
#include "bagwise/methods/path_state.h"
#include "bagwise/methods/per_source.h"
#include "bagwise/methods/task_reports.h"
#include "bagwise/methods/tl_llp/roads.h"

namespace bagwise {

UncertainTube tl_llp_problem(std::span<const ReducedBags* const> tasks, const DenseRows& means,
                             const Scaling& scaling, const TlLlpOptions& o) {
  UncertainTube out;
  out.problem.rows = means.view();
  out.problem.lambda = per_task(o.lambda_source, o.lambda, tasks.size());
  const auto cost = per_task(o.C_source, o.C, tasks.size());
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    append_bags(*tasks[t], {o.epsilon, o.tube, o.clip, o.bag_weight}, cost[t], static_cast<std::uint32_t>(t),
                out.problem);
    for (std::size_t k = 0; k < tasks[t]->bags.size(); ++k)
      out.bound.push_back(tl_llp::bound_of_bag(*tasks[t], k, o));
  }
  out.stretch = scaling.factor;
  return out;
}

namespace tl_llp {
namespace {

// The means of the bags of all tasks, one task after the other.
DenseRows stacked_means(const Prepared& prepared) {
  const auto& data = prepared.data;
  DenseRows out(data.back()->sums.features());
  for (const ReducedBags* task : data) {
    const DenseRows means = task->sums.means();
    std::copy_n(means.view().values, means.rows() * means.columns(), out.append(means.rows()));
  }
  return out;
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
        const double bound = bound_of_row(data, j, options_);
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

// Bags on the edge of the tube their bound widens are where rounds leave them, up to the gap of the solve:
// this share of the bound, so that a last digit does not decide.
constexpr double kAtBound = 1e-3;

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
      task.at_bound.push_back(tube.bound[i] > 0 && std::abs(shift) >= tube.bound[i] * (1 - kAtBound));
    }
  }
}

}  // namespace

// What the rounds of a fit on a path may leave to gain, as a share of the objective.
constexpr double kPathTolerance = 1e-2;

Result<Fit> fit_linear(const Prepared& prepared, const TlLlpOptions& options, const Context& context) {
  const Stopwatch watch;
  DenseRows means =
      context.path != nullptr && context.path->means ? *context.path->means : stacked_means(prepared);
  if (context.path != nullptr && !context.path->means) context.path->means = means;
  apply(prepared.scaling, means);
  const UncertainTube tube = tl_llp_problem(prepared.data, means, prepared.scaling, options);
  const RoundsOptions how{std::max(options.tolerance, context.path != nullptr ? kPathTolerance : 0.0),
                          options.max_rounds,
                          {.gap_tolerance = gap_on_path(options.gap, context), .threads = context.threads}};
  const LemmaMoves moves(prepared.tasks, tube.problem, prepared.scaling, options, context);
  const TubeSolution* start = context.path != nullptr ? context.path->start_for(tube.problem) : nullptr;
  const RoundsResult rounds = options.uncertainty == Uncertainty::kLiteral
                                  ? literal_rounds(tube, moves, how, context.observer)
                                  : exact_rounds(tube, how, context.observer, start);
  if (rounds.end == RoundsEnd::kNumericalFault) return overflow_error(prepared.data);

  Fit fit;
  fit.solve_seconds = watch.seconds();
  fit.first_solve_seconds = rounds.first_solve_seconds;
  Model& model = fit.model;
  model.method = "tl-llp";
  model.features = prepared.data.back()->feature_names;
  model.scaling = prepared.scaling;
  const TubePlanes& planes = rounds.solution.planes;
  set_planes(planes, prepared.tasks, model);
  model.options = option_values(options);
  model.training = report_rounds(rounds, rounds.solution.report, prepared, options, context);
  model.training.tasks = report_bags(prepared.tasks, prepared.data, tube.problem,
                                     values_at_means(tube.problem, planes, context.threads));
  report_shifts(tube, rounds, model.training.tasks);
  report_planes(products_of(planes), model.training);
  if (context.path != nullptr) context.path->last = rounds.solution;
  return fit;
}

// The linear problem over the landmarks' coordinates; its planes are expansions in the landmarks.
Result<Fit> fit_with_landmarks(const Prepared& given, const TlLlpOptions& options, const Context& context) {
  const Stopwatch watch;
  const KernelFunction kernel = kernel_function(options.kernel_choice(), given.moments, given.scaling);
  std::vector<RowsView> tables;
  for (const TrainingTask& task : given.tasks) tables.push_back(task.rows->features.view());
  const NystromMap map =
      fit_nystrom(kernel, tables, given.scaling, static_cast<std::size_t>(options.nystrom), context.seed);

  // In scaled units a row may move by its bound times the largest factor.
  double stretch = 1;
  if (!given.scaling.factor.empty())
    stretch = *std::max_element(given.scaling.factor.begin(), given.scaling.factor.end());
  std::vector<TrainingTask> tasks;
  for (std::size_t t = 0; t < given.tasks.size(); ++t) {
    const BaggedData& data = *given.tasks[t].rows;
    std::vector<double> bounds;
    for (std::size_t j = 0; j < data.bag_of_row.size(); ++j)
      bounds.push_back(stretch * bound_of_row(data, j, options));
    tasks.push_back({given.tasks[t].name,
                     reduce_mapped(map, given.scaling, data, bounds, context.threads, context.observer)});
  }
  if (tell(context.observer, {"mapping"}) == Next::kStop) return stopped_error();
  Prepared mapped;
  mapped.tasks = tasks;
  mapped.warnings = given.warnings;
  for (const TrainingTask& task : tasks) mapped.data.push_back(&task.reduced);
  auto fit = fit_linear(mapped, options, context);
  if (!fit) return fit;
  fit->solve_seconds = watch.seconds();
  use_landmarks(map, given.data.back()->feature_names, given.scaling, fit->model);
  return fit;
}

}  // namespace tl_llp
}  // namespace bagwise
