#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "bagwise/bags/memory_rows.h"
#include "bagwise/comm/agree.h"
#include "bagwise/core/hash.h"
#include "bagwise/core/timing.h"
#include "bagwise/methods/bag_checks.h"
#include "bagwise/methods/mean_rows.h"
#include "bagwise/methods/number_range.h"
#include "bagwise/methods/nystrom.h"
#include "bagwise/methods/path_state.h"
#include "bagwise/methods/per_source.h"
#include "bagwise/methods/saved_state.h"
#include "bagwise/methods/task_reports.h"
#include "bagwise/methods/tl_llp/roads.h"
#include "bagwise/methods/tl_llp/rounds_state.h"

namespace bagwise {

UncertainTube tl_llp_problem(std::span<const ReducedBags* const> tasks, const RowsView& means,
                             const Scaling& scaling, const TlLlpOptions& o, Communicator* spread) {
  UncertainTube out;
  out.problem.rows = means;
  out.problem.lambda = per_task(o.lambda_source, o.lambda, tasks.size());
  const auto cost = per_task(o.C_source, o.C, tasks.size());
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    append_bags(*tasks[t], {o.epsilon, o.tube, o.clip, o.bag_weight}, cost[t], static_cast<std::uint32_t>(t),
                out.problem, spread);
    for (std::size_t k = 0; k < tasks[t]->bags.size(); ++k)
      out.bound.push_back(tl_llp::bound_of_bag(*tasks[t], k, o));
  }
  out.stretch = scaling.factor;
  out.problem.comm = spread;
  return out;
}

namespace tl_llp {
namespace {

// The scaled means of the bags of all tasks. A path keeps dense ones, not yet scaled, for its next fit.
Result<Features> means_for(const Prepared& prepared, const Context& context) {
  if (context.path == nullptr || any_sparse(prepared.data))
    return scaled_means(prepared.data, prepared.scaling);
  if (!context.path->means) {
    if (auto fits = check_means(prepared.data); !fits) return fits.error();
    context.path->means = dense_means(prepared.data);
  }
  DenseRows means = *context.path->means;
  apply(prepared.scaling, means);
  return Features(std::move(means));
}

// Lemma 3: every row outside its bag's tube moves by its full bound towards it, along the plane's normal.
// Gives per bag the mean of its rows' signed moves: one pass over the rows, which ranks may share.
class LemmaMoves {
 public:
  LemmaMoves(const Prepared& prepared, const TubeTerms& terms, const TlLlpOptions& options,
             const Context& context)
      : prepared_(prepared), terms_(terms), options_(options), context_(context) {}

  Result<std::vector<double>> operator()(const TubePlanes& planes) const {
    std::vector<double> moves;  // of the rows of each bag, added up
    Result<void> passed;
    for (std::size_t t = 0; t < prepared_.tasks.size(); ++t) {
      auto sums =
          passed ? moves_of_task(t, planes, moves.size()) : Result<std::vector<double>>(passed.error());
      if (!sums) {
        passed = sums.error();
        break;
      }
      moves.insert(moves.end(), sums->begin(), sums->end());
    }
    if (context_.comm != nullptr) {
      if (auto agreed = agree(*context_.comm, passed); !agreed) return agreed.error();
      context_.comm->sum(moves);
    }
    if (!passed) return passed.error();
    std::size_t at = 0;
    for (const ReducedBags* data : prepared_.data) {
      for (std::size_t k = 0; k < data->bags.size(); ++k, ++at)
        moves[at] /= std::max(1.0, static_cast<double>(data->sums.count(k)));
    }
    return moves;
  }

 private:
  [[nodiscard]] Result<std::vector<double>> moves_of_task(std::size_t t, const TubePlanes& planes,
                                                          std::size_t first) const {
    const TrainingTask& task = prepared_.tasks[t];
    const Vector w = planes.weights(t);
    const Plane plane = raw_plane(prepared_.scaling, {w.data(), w.data() + w.size()}, planes.bias[t]);
    // Only bags that a block has rows of: there may be many bags, and many blocks.
    using Move = std::pair<std::uint32_t, double>;
    const auto work = [&](const RowBlock& block, std::vector<Move>& part) {
      const std::vector<double> f = scores(plane, block.rows, 1);
      for (std::size_t j = 0; j < f.size(); ++j) {
        const std::uint32_t bag = block.bag_of_row[j];
        const double r = f[j] - terms_.target[first + bag];
        if (!(std::abs(r) > terms_.tube[first + bag])) continue;
        const double bound = block.bounds.empty() ? options_.delta.value_or(kDefaultDelta) : block.bounds[j];
        if (part.empty() || part.back().first != bag) part.emplace_back(bag, 0.0);
        part.back().second -= std::copysign(bound, r);
      }
    };
    std::vector<double> sums(task.reduced.bags.size(), 0.0);
    const auto add = [&](std::vector<Move>&, const std::vector<Move>& part) {
      for (const auto& [bag, move] : part) sums[bag] += move;
    };
    std::optional<MemoryRows> memory;
    if (task.stream == nullptr) memory.emplace(*task.rows);
    RowStream& rows = memory ? static_cast<RowStream&>(*memory) : *task.stream;
    auto passed = sum_over_blocks(rows, std::vector<Move>(), work, add, context_.threads, context_.observer);
    if (!passed) return passed.error();
    return sums;
  }

  const Prepared& prepared_;
  const TubeTerms& terms_;
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

namespace {

constexpr std::string_view kStateKind = "bagwise tl-llp rounds 1";

// Stands for a problem and the options of its rounds.
std::uint64_t mark_of(const UncertainTube& tube, const TlLlpOptions& options) {
  Fnv1a hash;
  for (const auto& [name, value] : option_values(options)) hash.add(name).add(to_text(value));
  const TubeProblem& p = tube.problem;
  for (const auto* values : {&p.target, &p.tube, &p.cost_above, &p.lambda, &tube.bound, &tube.stretch})
    hash.add(static_cast<std::uint64_t>(values->size())).add(std::span<const double>(*values));
  hash.add(stored_values(p.rows));
  return hash.value();
}

}  // namespace

// What the rounds of a fit on a path may leave to gain, as a share of the objective.
constexpr double kPathTolerance = 1e-2;

Result<Fit> fit_linear(const Prepared& prepared, const TlLlpOptions& options, const Context& context) {
  if (options.uncertainty == Uncertainty::kLiteral) {
    if (context.spread_bags)
      return Error{"uncertainty literal moves the rows of all bags: expected their sums on every rank"};
    for (const TrainingTask& task : prepared.tasks) {
      if (task.rows != nullptr || task.stream != nullptr) continue;
      return Error{
          fmt::format("the {} is given by sums per bag only; uncertainty literal needs its rows", task.name)};
    }
  }
  const Stopwatch watch;
  const auto means = means_for(prepared, context);
  if (!means) return means.error();
  const UncertainTube tube =
      tl_llp_problem(prepared.data, means->view(), prepared.scaling, options, spread_over(context));
  RoundsOptions how{std::max(options.tolerance, context.path != nullptr ? kPathTolerance : 0.0),
                    options.max_rounds,
                    {.gap_tolerance = gap_on_path(options.gap, context), .threads = context.threads}};
  const LemmaMoves moves(prepared, tube.problem, options, context);
  const TubeSolution* start = context.path != nullptr ? context.path->start_for(tube.problem) : nullptr;
  // Rounds of a path are short, and begin elsewhere.
  Checkpoint* const checkpoint = context.path == nullptr ? context.checkpoint : nullptr;
  const std::uint64_t mark = mark_of(tube, options);
  auto left = load_state<RoundsState>(
      checkpoint, context.comm, kStateKind, mark,
      [](std::string_view bytes) { return RoundsState::from_bytes(bytes); },
      [](const RoundsState& state) { return state.rounds(); });
  if (!left) return left.error();
  if (*left) how.from = &**left;
  Result<void> saved;
  if (checkpoint != nullptr) {
    how.after_round = [&](const RoundsState& state) {
      saved = checkpoint->save(with_mark(kStateKind, mark, state.to_bytes()));
      if (context.comm != nullptr) saved = agree(*context.comm, saved);
      return saved ? Next::kContinue : Next::kStop;
    };
  }
  Result<RoundsResult> fitted = options.uncertainty == Uncertainty::kLiteral
                                    ? literal_rounds(tube, moves, how, context.observer)
                                    : exact_rounds(tube, how, context.observer, start);
  if (!saved) return saved.error();
  if (!fitted) return fitted.error();
  const RoundsResult& rounds = *fitted;
  if (rounds.end == RoundsEnd::kNumericalFault) return overflow_error();

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
  model.training.tasks =
      report_bags(prepared.tasks, prepared.data, tube.problem,
                  values_at_means(tube.problem, planes, context.threads), spread_over(context));
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
  if (map.coordinates() == 0) return overflow_error();

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
