#include "bagwise/methods/alter_psvm/alter_psvm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bagwise/core/parallel.h"
#include "bagwise/core/random.h"
#include "bagwise/core/timing.h"
#include "bagwise/methods/alter_psvm/alternation.h"
#include "bagwise/methods/bag_checks.h"
#include "bagwise/methods/bag_sigmoid.h"
#include "bagwise/methods/grouped_rows.h"
#include "bagwise/methods/inv_cal/inv_cal.h"
#include "bagwise/methods/method_entry.h"
#include "bagwise/methods/nystrom.h"
#include "bagwise/methods/scorer.h"

namespace bagwise {
namespace {

using alter_psvm::Answer;
using alter_psvm::End;

// The rows as the machines see them, by bag.
struct Rows {
  BaggedData data;  // as scaled, the rows of a bag together, in an order that is not the input's
  std::vector<std::size_t> bag_start;
  KernelFunction kernel;
  std::optional<NystromMap> map;  // with landmarks
  RowMatrix mapped;               // the rows in the map's coordinates

  [[nodiscard]] RowsView view() const {
    if (!map) return data.features.view();
    return DenseView{mapped.data(), static_cast<std::size_t>(mapped.rows()),
                     static_cast<std::size_t>(mapped.cols())};
  }
};

Rows rows_of(const BaggedData& data, const Scaling& scaling) {
  Rows out;
  GroupedRows grouped = group_rows(data, scaling);
  out.data.features = std::move(grouped.rows);
  out.data.feature_names = data.feature_names;
  out.data.bags = data.bags;
  for (std::size_t k = 0; k < grouped.bags(); ++k)
    out.data.bag_of_row.insert(out.data.bag_of_row.end(), grouped.size(k), static_cast<std::uint32_t>(k));
  out.bag_start = std::move(grouped.bag_start);
  return out;
}

// In every bag as many positives, taken at random, as come nearest to its proportion.
Labels random_labels(const Rows& rows, Rng& rng) {
  Labels out(rows.data.bag_of_row.size(), -1);
  for (std::size_t k = 0; k + 1 < rows.bag_start.size(); ++k) {
    const std::size_t size = rows.bag_start[k + 1] - rows.bag_start[k];
    const std::size_t positives = feasible_counts(size, rows.data.bags.proportions[k], 0).least;
    std::vector<std::size_t> order(size);
    std::iota(order.begin(), order.end(), rows.bag_start[k]);
    shuffle(std::span(order), rng);
    for (std::size_t i = 0; i < positives; ++i) out[order[i]] = 1;
  }
  return out;
}

// In every bag the rows that InvCal scores highest.
Result<Labels> inv_cal_labels(const Rows& rows, const AlterPsvmOptions& options, const Context& context) {
  InvCalOptions how;
  how.kernel = options.kernel;
  how.degree = options.degree;
  how.nystrom = options.nystrom;
  if (!options.kernel_choice().is_linear()) how.gamma = rows.kernel.gamma;
  const TrainingTask task{"target", reduce(rows.data, context.threads), &rows.data};
  const auto fit = fit_inv_cal(task, how, context);
  if (!fit) return fit.error();
  const std::vector<double> f = Scorer(fit->model, 0).scores(rows.data.features.view(), context.threads);
  Labels out(f.size());
  for (std::size_t k = 0; k + 1 < rows.bag_start.size(); ++k) {
    const std::size_t from = rows.bag_start[k], size = rows.bag_start[k + 1] - from;
    label_bag(
        std::span(f).subspan(from, size), feasible_counts(size, rows.data.bags.proportions[k], 0),
        [](std::size_t) { return 0.0; }, std::span(out).subspan(from, size));
  }
  return out;
}

// Labels to start from, and where they come from.
struct NamedStart {
  std::string name;
  Labels labels;
};
Result<std::vector<NamedStart>> make_starts(const Rows& rows, const AlterPsvmOptions& options,
                                            const Context& context) {
  std::vector<NamedStart> out;
  if (options.init != Init::kRandom) {
    auto labels = inv_cal_labels(rows, options, context);
    if (!labels) return labels.error();
    out.push_back({"inv-cal", std::move(*labels)});
  }
  for (int r = 0; options.init != Init::kInvCal && r < options.restarts; ++r) {
    Rng rng(context.seed, static_cast<std::uint64_t>(r));
    out.push_back({"random", random_labels(rows, rng)});
  }
  return out;
}

// Runs the alternation from several starts side by side. Each has the same bits on any thread.
class Runner {
 public:
  Runner(const Rows& rows, const AlterPsvmOptions& options, const Context& context)
      : rows_(rows),
        problem_{rows.bag_start, rows.data.bags.proportions, options.C, options.C_p, options.epsilon},
        schedule_{.gap = options.gap, .max_rounds = options.max_rounds},
        observer_(context.observer),
        threads_(context.threads == 0 ? default_threads() : context.threads) {
    if (rows.map || rows.kernel.kind == KernelKind::kLinear) return;
    cache_ = std::make_shared<KernelCache>(rows.kernel, rows.view(),
                                           static_cast<std::size_t>(1e6 * options.cache));
  }

  std::vector<Answer> run(std::vector<alter_psvm::Start> starts, std::string_view phase, std::size_t steps) {
    std::vector<Answer> out(starts.size());
    const auto within = static_cast<unsigned>(std::max<std::size_t>(1, threads_ / starts.size()));
    watched_for(starts.size(), threads_, phase, steps, observer_, [&](std::size_t s, Watched& watched) {
      const auto machine = cache_ ? make_kernel_svm(cache_) : make_linear_svm(rows_.view(), within);
      out[s] = alternate(problem_, *machine, std::move(starts[s]), schedule_, watched);
    });
    return out;
  }

 private:
  const Rows& rows_;
  alter_psvm::Problem problem_;
  alter_psvm::Schedule schedule_;
  const Observer& observer_;
  unsigned threads_;
  std::shared_ptr<KernelCache> cache_;
};

bool usable(const Answer& answer) {
  return answer.end != End::kNumericalFault && std::isfinite(answer.objective);
}
bool lower(const Answer& a, const Answer& b) {
  return usable(a) && (!usable(b) || a.objective < b.objective);
}

// The first of the lowest. Where one was stopped, which might have become the lowest, so was the choice.
Answer take_best(std::vector<Answer> answers) {
  std::size_t best = 0;
  bool stopped = false;
  for (std::size_t s = 0; s < answers.size(); ++s) {
    if (lower(answers[s], answers[best])) best = s;
    stopped = stopped || answers[s].end == End::kStopped;
  }
  if (stopped) answers[best].end = End::kStopped;
  return std::move(answers[best]);
}

// Lowers C to several shares of itself and lets it rise again, always from the best labels so far, for as
// long as that lowers the objective.
Answer reheated(Runner& runner, Answer best) {
  constexpr double kShares[] = {0.3, 0.1, 0.03, 0.01};
  constexpr int kMostSweeps = 20;
  for (int sweep = 0; sweep < kMostSweeps && best.end == End::kConverged; ++sweep) {
    std::vector<alter_psvm::Start> starts;
    for (const double share : kShares) starts.push_back({best.labels, share, best.machine});
    Answer found = take_best(runner.run(std::move(starts), "reheating", 0));
    const bool stopped = found.end == End::kStopped;
    if (!(found.objective < best.objective * (1 - 1e-6))) {
      if (stopped) best.end = End::kStopped;
      break;
    }
    best = std::move(found);
  }
  return best;
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
  if (machine.weights.size() > 0 || rows.map || rows.kernel.kind == KernelKind::kLinear) {
    task.weights.assign(machine.weights.data(), machine.weights.data() + machine.weights.size());
  } else {
    std::vector<std::size_t> support;
    for (std::size_t i = 0; i < machine.beta.size(); ++i) {
      if (machine.beta[i] == 0) continue;
      support.push_back(i);
      task.weights.push_back(machine.beta[i]);
    }
    model.expansion = Expansion{rows.kernel, take_rows(rows.view(), support)};
  }
  model.tasks = {std::move(task)};
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

Result<Fit> fit_alter_psvm(const TrainingTask& target, const AlterPsvmOptions& options,
                           const Context& context) {
  if (const auto faults = validate(options); !faults.empty())
    return Error{fmt::format("{}", fmt::join(faults, "; "))};
  const KernelChoice choice = options.kernel_choice();
  if (auto checked = check_kernel_choice(choice); !checked) return checked.error();
  if (auto checked = check_rows_at_hand({&target, 1}, context); !checked) return checked.error();
  const ReducedBags& data = target.reduced;
  if (auto checked = check_target_bags(data); !checked) return checked.error();
  auto scaling = fit_scaling(options.scale, data.moments, data.feature_names);
  if (!scaling) return scaling.error();

  const Stopwatch watch;
  Rows rows = rows_of(*target.rows, *scaling);
  rows.kernel = kernel_function(choice, data.moments, *scaling);
  if (choice.nystrom > 0) {
    const RowsView views[] = {rows.data.features.view()};
    rows.map = fit_nystrom(rows.kernel, views, {}, static_cast<std::size_t>(choice.nystrom), context.seed);
    rows.mapped = map_rows(*rows.map, {}, views[0], context.threads);
  }
  auto starts = make_starts(rows, options, context);
  if (!starts) return starts.error();
  Fit fit;
  Runner runner(rows, options, context);
  std::vector<alter_psvm::Start> from;
  for (NamedStart& start : *starts) from.push_back({std::move(start.labels)});
  std::vector<Answer> answers =
      runner.run(std::move(from), "alternating", starts->size() * alter_psvm::kCosts);
  for (std::size_t s = 0; s < answers.size(); ++s) {
    if (usable(answers[s]))
      fit.model.training.starts.push_back({(*starts)[s].name, answers[s].objective, answers[s].machines});
  }
  Answer best = take_best(std::move(answers));
  if (options.reheat) best = reheated(runner, std::move(best));
  const SvmSolution& machine = best.machine;
  const ReducedBags* const all[] = {&data};
  if (!usable(best)) return overflow_error(all);

  fit.model.method = "alter-psvm";
  fit.model.options = option_values(options);
  TrainingReport report = report_of(best, options, data, context.seed);
  report.starts = std::move(fit.model.training.starts);
  fit.model.training = std::move(report);
  warn_if_one_class(machine.values, fit.model.training.warnings);
  set_plane(rows, machine, target.name, fit.model);
  fit.model.features = data.feature_names;
  fit.model.scaling = *scaling;
  if (rows.map) use_landmarks(*rows.map, data.feature_names, *scaling, fit.model);
  fit.model.tasks[0].probability =
      fit_bag_sigmoid(machine.values, rows.bag_start, rows.data.bags.proportions);
  fit.solve_seconds = watch.seconds();
  if (auto checked = check_finite(fit.model, all); !checked) return checked.error();
  return fit;
}

Method alter_psvm_method() {
  return make_method<AlterPsvmOptions>({
      .name = "alter-psvm",
      .summary = "labels and a large-margin plane by turns, from several starts (Yu et al. 2013)",
      .fit = [](std::span<const TrainingTask> tasks, const AlterPsvmOptions& options,
                const Context& context) { return fit_alter_psvm(tasks[0], options, context); },
      .check = [](const AlterPsvmOptions& options) { return check_kernel_choice(options.kernel_choice()); },
      .needs_instances = [](const AlterPsvmOptions&) { return true; },
  });
}

}  // namespace bagwise
