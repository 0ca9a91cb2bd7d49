// TL-LLP with a kernel: solve for the bags where their rows stand, move the rows, and so on.
//
// The functions live in the kernel's space; a round solves the problem of docs/methods/tl-llp.md for the rows
// as moved (solver/kernel_tube.h on the averaged kernel), then moves rows while the functions stay
// (methods/kernel_shifts.h). `exact` moves a bag only where that lowers its slack, so the objective never
// rises.
#include <algorithm>
#include <cmath>

#include "bagwise/core/timing.h"
#include "bagwise/methods/bag_checks.h"
#include "bagwise/methods/kernel_shifts.h"
#include "bagwise/methods/number_range.h"
#include "bagwise/methods/per_source.h"
#include "bagwise/methods/task_reports.h"
#include "bagwise/methods/tl_llp/roads.h"

namespace bagwise::tl_llp {
namespace {

// Where a round stands: the rows, the kernel between bags there, and the functions found.
struct Round {
  StackedRows rows;
  std::vector<MovedRows> moved;  // per task; empty where nothing can move
  KernelTubeProblem problem;
  KernelTubeSolution solution;
};

class KernelRounds {
 public:
  KernelRounds(const Prepared& prepared, const TlLlpOptions& options, const Context& context)
      : prepared_(prepared),
        options_(options),
        context_(context),
        kernel_(kernel_function(options.kernel_choice(), prepared.moments, prepared.scaling)),
        tables_(scaled_tables(prepared.tasks, prepared.scaling)),
        observed_(stack_rows(prepared.tasks, tables_)) {
    terms_.lambda = per_task(options.lambda_source, options.lambda, prepared.tasks.size());
    const auto cost = per_task(options.C_source, options.C, prepared.tasks.size());
    for (std::size_t t = 0; t < prepared.tasks.size(); ++t) {
      append_bags(*prepared.data[t], {options.epsilon, options.tube, options.clip, options.bag_weight},
                  cost[t], static_cast<std::uint32_t>(t), terms_);
      const BaggedData& data = *prepared.tasks[t].rows;
      bounds_.emplace_back();
      for (std::size_t j = 0; j < data.bag_of_row.size(); ++j)
        bounds_.back().push_back(bound_of_row(data, j, options));
    }
  }

  [[nodiscard]] const KernelFunction& kernel() const { return kernel_; }
  [[nodiscard]] bool certain() const {
    return std::all_of(bounds_.begin(), bounds_.end(), [](const auto& task) {
      return std::all_of(task.begin(), task.end(), [](double b) { return b == 0; });
    });
  }

  [[nodiscard]] bool stopped() const { return tell(context_.observer, {"moving"}) == Next::kStop; }

  // The first round: every row where it was observed.
  Result<Round> first() const {
    Round out{observed_, {}, {}, {}};
    const bool can_move = !certain();
    for (std::size_t t = 0; t < tables_.size() && can_move; ++t) {
      auto rows = unmoved_rows(uncertain_rows(t));
      if (!rows) return rows.error();
      out.moved.push_back(std::move(*rows));
    }
    solve(out, nullptr);
    return out;
  }

  // The next one, from moved rows; nothing if no bag moves, or if the observer stops.
  [[nodiscard]] std::optional<Round> after(const Round& now) const {
    Round next;
    std::vector<const DenseRows*> tables;
    std::size_t bags_moved = 0;
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      const auto weights = row_weights(now.problem, now.solution, now.rows, t);
      const KernelSum f{kernel_, now.rows.rows.view(), weights, now.solution.bias[t], &context_.observer};
      next.moved.push_back(options_.uncertainty == Uncertainty::kLiteral
                               ? move_literal(f, uncertain_rows(t), now.moved[t], context_.threads)
                               : move_exact(f, uncertain_rows(t), now.moved[t], context_.threads));
      bags_moved += next.moved.back().bags_moved;
    }
    if (bags_moved == 0 || stopped()) return {};
    for (const MovedRows& task : next.moved) tables.push_back(&task.rows);
    next.rows = with_rows(observed_, tables);
    solve(next, &now.solution);
    return next;
  }

  // f at the observed rows' mean of every bag.
  [[nodiscard]] std::vector<double> observed_values(const Round& round) const {
    std::vector<double> out;
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      const auto weights = row_weights(round.problem, round.solution, round.rows, t);
      const KernelSum f{kernel_, round.rows.rows.view(), weights, round.solution.bias[t], &context_.observer};
      const UncertainRows rows = uncertain_rows(t);
      const auto residual = bag_residuals(f, rows, tables_[t].view(), context_.threads);
      for (std::size_t k = 0; k < residual.size(); ++k) out.push_back(residual[k] + rows.target[k]);
    }
    return out;
  }

  [[nodiscard]] const std::vector<double>& bounds(std::size_t t) const { return bounds_[t]; }

 private:
  [[nodiscard]] UncertainRows uncertain_rows(std::size_t t) const {
    std::size_t first = 0;
    for (std::size_t s = 0; s < t; ++s) first += prepared_.data[s]->bags.size();
    const std::size_t bags = prepared_.data[t]->bags.size();
    return {tables_[t].view(),
            prepared_.tasks[t].rows->bag_of_row,
            bounds_[t],
            std::span(terms_.target).subspan(first, bags),
            std::span(terms_.tube).subspan(first, bags),
            prepared_.scaling.factor};
  }

  void solve(Round& round, const KernelTubeSolution* start) const {
    static_cast<TubeTerms&>(round.problem) = terms_;
    round.problem.kernel = bag_kernel(kernel_, round.rows.in_bags(), context_.threads, context_.observer);
    const KernelTubeOptions how{.gap_tolerance = options_.gap, .threads = context_.threads};
    round.solution = solve_kernel_tube(round.problem, how, start, context_.observer);
  }

  const Prepared& prepared_;
  const TlLlpOptions& options_;
  const Context& context_;
  KernelFunction kernel_;
  std::vector<Features> tables_;  // per task, as scaled
  StackedRows observed_;
  std::vector<std::vector<double>> bounds_;  // per task, per row, before scaling
  TubeTerms terms_;
};

// Whether an objective was met before, other than in the round just gone.
bool is_cycle(const std::vector<double>& history, double value) {
  for (std::size_t i = 0; i + 1 < history.size(); ++i) {
    if (is_small_change(history[i], value, 1e-9)) return true;
  }
  return false;
}

// Solves and moves until the objective settles; `best` is the round that is returned.
RoundsCourse run_rounds(const KernelRounds& rounds, const TlLlpOptions& options, Round& best) {
  const bool literal = options.uncertainty == Uncertainty::kLiteral;
  RoundsCourse out;
  out.objective = best.solution.report.primal;
  out.history = {out.objective};
  out.steps = {best.solution.report.iterations};
  out.end = rounds.certain() ? RoundsEnd::kConverged : RoundsEnd::kRoundLimit;
  if (ends_rounds(best.solution.report.termination, out.end)) return out;
  Round now = best;
  while (out.end == RoundsEnd::kRoundLimit && static_cast<int>(out.history.size()) < options.max_rounds) {
    auto next = rounds.after(now);
    if (!next) {
      out.end = rounds.stopped() ? RoundsEnd::kStopped : RoundsEnd::kConverged;
      break;
    }
    const double value = next->solution.report.primal;
    out.steps.push_back(next->solution.report.iterations);
    if (ends_rounds(next->solution.report.termination, out.end)) break;
    if (!literal && !(value < out.objective)) {  // what is left to gain is below the gap of the solves
      out.history.push_back(out.objective);
      out.end = RoundsEnd::kConverged;
      break;
    }
    if (is_small_change(out.history.back(), value, options.tolerance)) {
      out.end = RoundsEnd::kConverged;
    } else if (literal && is_cycle(out.history, value)) {
      out.end = RoundsEnd::kCycle;
    }
    out.history.push_back(value);
    if (value < out.objective) {
      out.objective = value;
      best = *next;
    }
    now = std::move(*next);
  }
  out.end = with_gap(out.end, best.solution.report);
  return out;
}

// Per bag, how far its rows moved on the mean, towards its tube.
void report_shifts(const KernelRounds& rounds, const Round& best, const Prepared& prepared,
                   std::vector<TaskReport>& tasks) {
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const std::size_t bags = tasks[t].residual.size();
    std::vector<double> bound(bags, 0), size(bags, 0);
    const auto& bag_of_row = prepared.tasks[t].rows->bag_of_row;
    for (std::size_t j = 0; j < bag_of_row.size(); ++j) {
      bound[bag_of_row[j]] += rounds.bounds(t)[j];
      size[bag_of_row[j]] += 1;
    }
    for (std::size_t k = 0; k < bags; ++k) {
      const double theta = best.moved.empty() ? 0 : best.moved[t].theta[k];
      const double shift = size[k] > 0 ? theta * bound[k] / size[k] : 0;
      tasks[t].shift.push_back(shift == 0 ? 0 : -std::copysign(shift, tasks[t].residual[k]));
      tasks[t].at_bound.push_back(theta == 1 && bound[k] > 0);
    }
  }
}

}  // namespace

Result<Fit> fit_with_kernel(const Prepared& prepared, const TlLlpOptions& options, const Context& context) {
  const Stopwatch watch;
  const KernelRounds rounds(prepared, options, context);
  const Stopwatch first;
  auto best = rounds.first();
  if (!best) return best.error();
  Fit fit;
  fit.first_solve_seconds = first.seconds();
  const RoundsCourse course = run_rounds(rounds, options, *best);
  if (course.end == RoundsEnd::kNumericalFault) return overflow_error();
  fit.solve_seconds = watch.seconds();

  Model& model = fit.model;
  model.method = "tl-llp";
  model.features = prepared.data.back()->feature_names;
  model.scaling = prepared.scaling;
  set_expansion(rounds.kernel(), best->problem, best->solution, best->rows, prepared.tasks, model);
  model.options = option_values(options);
  model.training = report_rounds(course, best->solution.report, prepared, options, context);
  // Who stops does not want to wait for one more pass over all pairs of rows.
  const auto values =
      course.end == RoundsEnd::kStopped ? best->solution.values : rounds.observed_values(*best);
  model.training.tasks = report_bags(prepared.tasks, prepared.data, best->problem, values);
  report_shifts(rounds, *best, prepared, model.training.tasks);
  report_planes(products_of(best->problem, best->solution), model.training);
  return fit;
}

}  // namespace bagwise::tl_llp
