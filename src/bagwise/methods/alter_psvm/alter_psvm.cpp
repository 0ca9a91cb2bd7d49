#include "bagwise/methods/alter_psvm/alter_psvm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bagwise/core/parallel.h"
#include "bagwise/core/timing.h"
#include "bagwise/methods/alter_psvm/runner.h"
#include "bagwise/methods/alter_psvm/starts.h"
#include "bagwise/methods/bag_checks.h"
#include "bagwise/methods/bag_sigmoid.h"
#include "bagwise/methods/grids.h"
#include "bagwise/methods/inv_cal/inv_cal.h"
#include "bagwise/methods/method_entry.h"
#include "bagwise/methods/number_range.h"
#include "bagwise/methods/nystrom.h"
#include "bagwise/methods/path_state.h"
#include "bagwise/methods/single_rows.h"
#include "bagwise/methods/tl_llp/start.h"

namespace bagwise {
namespace {

using alter_psvm::Answer;
using alter_psvm::End;

// The rows as the machines see them, by bag.
struct Rows : GroupedRows {
  KernelFunction kernel;
  std::optional<NystromMap> map;  // with landmarks
  RowMatrix mapped;               // the rows in the map's coordinates

  [[nodiscard]] RowsView view() const {
    if (!map) return data.features.view();
    return DenseView{mapped.data(), static_cast<std::size_t>(mapped.rows()),
                     static_cast<std::size_t>(mapped.cols())};
  }
  [[nodiscard]] bool linear() const { return map || kernel.kind == KernelKind::kLinear; }
};

Result<Rows> make_rows(const BaggedData& data, const PreparedRows& prepared, const KernelChoice& choice,
                       const Context& context) {
  Rows out{group_rows(data, prepared.scaling),
           kernel_function(choice, prepared.moments, prepared.scaling),
           {},
           {}};
  if (choice.nystrom > 0) {
    const RowsView views[] = {out.data.features.view()};
    out.map = fit_nystrom(out.kernel, views, {}, static_cast<std::size_t>(choice.nystrom), context.seed);
    if (out.map->coordinates() == 0) return overflow_error();
    out.mapped = map_rows(*out.map, {}, views[0], context.threads);
    if (!out.mapped.allFinite()) return overflow_error();
  }
  return out;
}

// Sources are looked at by the start that transfers and by nothing else.
Result<void> check_sources(const AlterPsvmOptions& options) {
  if (options.init == Init::kTlLlp || options.init == Init::kBoth) return {};
  return Error{fmt::format("init = {} uses no source; expected tl-llp or both where there are sources",
                           name_of(options.init))};
}

// The start that is not drawn; none: all are.
std::optional<Init> settled_start(Init init, bool sources) {
  if (init == Init::kRandom) return {};
  if (init == Init::kBoth) return sources ? Init::kTlLlp : Init::kInvCal;
  return init;
}

// Another method's labels, of the same kernel, at its default costs. Rows of sources are seen as the target's
// are, and in an order of their own.
Result<Labels> labels_of(Init init, const Rows& rows, std::span<const TrainingTask> sources,
                         const Scaling& scaling, const KernelChoice& choice, const Context& context) {
  Result<std::vector<double>> scores = Error{};
  if (init == Init::kInvCal) {
    scores = inv_cal_scores(rows.data, with_kernel<InvCalOptions>(choice, rows.kernel), context);
  } else {
    std::vector<BaggedData> grouped;
    for (const TrainingTask& source : sources) grouped.push_back(group_rows(*source.rows, scaling).data);
    std::vector<const BaggedData*> tasks;
    for (const BaggedData& source : grouped) tasks.push_back(&source);
    tasks.push_back(&rows.data);
    scores = tl_llp_scores(tasks, tl_llp_start(choice, rows.kernel), context);
  }
  if (!scores) return scores.error();
  return alter_psvm::labels_by_score(rows, *scores);
}

// Labels to start from, and where they come from.
struct NamedStart {
  std::string name;
  alter_psvm::Start start;
};
Result<std::vector<NamedStart>> make_starts(const Rows& rows, std::span<const TrainingTask> sources,
                                            const Scaling& scaling, const AlterPsvmOptions& options,
                                            const Context& context) {
  // On a path C rises on from where the last setting left it.
  if (context.path != nullptr && context.path->labelled) {
    const PathState::Labelled& last = *context.path->labelled;
    if (last.labels.size() == rows.data.features.rows() && last.init == name_of(options.init) &&
        last.cost < options.C)
      return std::vector<NamedStart>{{"path", {last.labels, last.cost / options.C, last.machine}}};
  }
  std::vector<NamedStart> out;
  if (const auto settled = settled_start(options.init, !sources.empty())) {
    auto labels = labels_of(*settled, rows, sources, scaling, options.kernel_choice(), context);
    if (!labels) return labels.error();
    out.push_back({name_of(*settled), {std::move(*labels)}});
  }
  const bool drawn = options.init == Init::kRandom || options.init == Init::kBoth;
  for (int r = 0; drawn && r < options.restarts; ++r) {
    Rng rng(context.seed, static_cast<std::uint64_t>(r));
    out.push_back({"random", {alter_psvm::random_labels(rows, rng)}});
  }
  return out;
}

// The answer of the best start, reheated if that is asked for; what each start came to goes to `reports`.
Answer find_best(const Rows& rows, std::vector<NamedStart> starts, const AlterPsvmOptions& options,
                 const Context& context, std::vector<StartReport>& reports) {
  const alter_psvm::Problem problem{rows.bag_start, rows.proportions(), options.C, options.C_p,
                                    options.epsilon};
  const unsigned threads = context.threads == 0 ? default_threads() : context.threads;
  const auto within = static_cast<unsigned>(std::max<std::size_t>(1, threads / starts.size()));
  std::shared_ptr<KernelCache> cache;
  if (!rows.linear()) {
    constexpr double kMost = 1e18;  // of bytes, which no memory has
    cache = std::make_shared<KernelCache>(rows.kernel, rows.view(),
                                          static_cast<std::size_t>(std::min(1e6 * options.cache, kMost)));
  }
  const alter_psvm::Runner runner(
      problem, {.gap = gap_on_path(options.gap, context), .max_rounds = options.max_rounds},
      [&] { return cache ? make_kernel_svm(cache) : make_linear_svm(rows.view(), within); }, threads,
      context.observer);
  std::vector<alter_psvm::Start> from;
  for (NamedStart& start : starts) from.push_back(std::move(start.start));
  std::vector<Answer> answers =
      runner.run(std::move(from), "alternating", starts.size() * alter_psvm::kCosts);
  for (std::size_t s = 0; s < answers.size(); ++s) {
    if (usable(answers[s])) reports.push_back({starts[s].name, answers[s].objective, answers[s].machines});
  }
  Answer best = take_best(std::move(answers));
  return options.reheat && usable(best) ? reheat(runner, std::move(best)) : std::move(best);
}

const char* end_name(End end) {
  switch (end) {
    case End::kConverged:
      return "converged";
    case End::kRoundLimit:
      return "round-limit";
    case End::kStopped:
      return "stopped";
    case End::kNumericalFault:
      break;
  }
  return "numerical-fault";
}

void set_plane(const Rows& rows, const SvmSolution& machine, const std::string& name, Model& model) {
  TaskModel task{name, {}, machine.bias, {}};
  if (rows.linear()) {
    task.weights.assign(machine.weights.data(), machine.weights.data() + machine.weights.size());
    model.tasks = {std::move(task)};
  } else {
    set_row_weights(rows.kernel, rows.view(), machine.beta, std::move(task), model);
  }
}

TrainingReport report_of(const Answer& answer, const AlterPsvmOptions& options, const ReducedBags& data,
                         std::uint64_t seed) {
  TrainingReport out = convex_report(answer.machine.report, options.gap, data, seed);
  out.convex_objective = out.objective;
  out.objective = answer.objective;
  out.termination = answer.end == End::kConverged ? out.termination : end_name(answer.end);
  out.rounds = static_cast<int>(answer.history.size());
  out.objective_history = answer.history;
  out.solver_steps = answer.steps;
  if (answer.end == End::kStopped) {
    out.warnings.emplace_back("stopped before every start had run to its end");
  } else if (answer.end == End::kRoundLimit) {
    out.warnings.push_back(fmt::format("labels still changed after max-rounds = {}", options.max_rounds));
  }
  return out;
}

}  // namespace

Result<Fit> fit_alter_psvm(std::span<const TrainingTask> tasks, const AlterPsvmOptions& options,
                           const Context& context) {
  const auto prepared = check_and_scale(tasks, options, context);
  if (!prepared) return prepared.error();
  const auto sources = tasks.first(tasks.size() - 1);
  if (!sources.empty()) {
    if (auto checked = check_sources(options); !checked) return checked.error();
  }
  const TrainingTask& target = tasks.back();
  const ReducedBags& data = target.reduced;
  const Scaling& scaling = prepared->scaling;

  if (auto fits = check_kernel_memory(options.kernel_choice(), {&target, 1}, KernelUse::kColumns); !fits)
    return fits.error();
  const Stopwatch watch;
  const auto made = make_rows(*target.rows, *prepared, options.kernel_choice(), context);
  if (!made) return made.error();
  const Rows& rows = *made;
  auto starts = make_starts(rows, sources, scaling, options, context);
  if (!starts) return starts.error();
  std::vector<StartReport> reports;
  const Answer best = find_best(rows, std::move(*starts), options, context, reports);
  const SvmSolution& machine = best.machine;
  if (!usable(best)) return overflow_error();
  if (context.path != nullptr)
    context.path->labelled = {best.labels, machine, options.C, name_of(options.init)};

  Fit fit;
  fit.model.method = "alter-psvm";
  fit.model.options = option_values(options);
  fit.model.training = report_of(best, options, data, context.seed);
  auto& warnings = fit.model.training.warnings;
  warnings.insert(warnings.begin(), prepared->warnings.begin(), prepared->warnings.end());
  fit.model.training.starts = std::move(reports);
  warn_if_one_class(machine.values, warnings);
  warn_if_noise_ignored(data.bags, "alter-psvm", warnings);
  set_plane(rows, machine, target.name, fit.model);
  fit.model.features = data.feature_names;
  fit.model.scaling = scaling;
  if (rows.map) use_landmarks(*rows.map, data.feature_names, scaling, fit.model);
  fit.model.tasks[0].probability = fit_bag_sigmoid(machine.values, rows.bag_start, rows.proportions());
  fit.solve_seconds = watch.seconds();
  return fit;
}

namespace {

// Where there are sources, settings of either start: which to trust is for the bags to tell.
std::vector<SettingsPath> alter_psvm_grid(std::size_t sources) {
  std::vector<SettingsPath> paths = cost_paths(powers_of_two(-2, 5), "C-p", powers_of_two(-2, 7));
  if (sources == 0) return paths;
  std::vector<SettingsPath> out;
  for (const Init init : {Init::kInvCal, Init::kTlLlp}) {
    for (SettingsPath path : paths) {
      for (OptionTexts& setting : path) setting["init"] = name_of(init);
      out.push_back(std::move(path));
    }
  }
  return out;
}

}  // namespace

Method alter_psvm_method() {
  return make_method<AlterPsvmOptions>({
      .name = "alter-psvm",
      .summary = "labels and a large-margin plane by turns, from several starts (Yu et al. 2013)",
      .uses_sources = true,
      .fit = fit_alter_psvm,
      .check = [](const AlterPsvmOptions& options) { return check_kernel_choice(options.kernel_choice()); },
      .rows_needed = [](const AlterPsvmOptions&) { return RowsNeeded::kAll; },
      .default_grid = alter_psvm_grid,
      .check_sources = check_sources,
      .learns_alone = [](const AlterPsvmOptions& options) { return !check_sources(options); },
      .on_path =
          [](std::size_t sources) {
            return OptionTexts{{"init", name_of(*settled_start(Init::kBoth, sources > 0))},
                               {"reheat", "false"}};
          },
  });
}

}  // namespace bagwise
