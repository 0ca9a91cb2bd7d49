#include "bagwise/report/training_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bagwise/report/model_parts.h"

namespace bagwise {
namespace {

std::uint64_t moved_bags(const TaskReport& task) {
  return static_cast<std::uint64_t>(
      std::count_if(task.shift.begin(), task.shift.end(), [](double s) { return s != 0; }));
}

std::uint64_t bags_at_bound(const TaskReport& task) {
  return static_cast<std::uint64_t>(std::count(task.at_bound.begin(), task.at_bound.end(), true));
}

std::string percent(double part) { return fmt::format("{:.0f} %", 100 * part); }
std::string degrees(double angle) { return fmt::format("{:.0f}", angle); }

double mean_residual(const TaskReport& task) {
  double sum = 0;
  for (const double r : task.residual) sum += std::abs(r);
  return sum / static_cast<double>(std::max<std::size_t>(task.residual.size(), 1));
}

// The objective of every round; of many, the first and the last ones.
std::string history(const std::vector<double>& values) {
  constexpr std::size_t kShown = 8;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values.size() > kShown && i == kShown / 2) shown.emplace_back("...");
    if (values.size() > kShown && i >= kShown / 2 && i + kShown / 2 < values.size()) continue;
    shown.push_back(fmt::format("{:.6g}", values[i]));
  }
  return fmt::format("{}", fmt::join(shown, ", "));
}

}  // namespace

std::vector<std::pair<std::string, std::string>> training_lines(const Model& model) {
  const TrainingReport& report = model.training;
  std::vector<std::pair<std::string, std::string>> out;
  out.emplace_back("data", fmt::format("{} in {}, {}", count_of(report.instances, "instance", "instances"),
                                       count_of(report.bags, "bag", "bags"),
                                       count_of(report.features, "feature", "features")));
  out.emplace_back("objective", fmt::format("{:.9g}", report.objective));
  const bool in_rounds = report.objective_history.size() > 1;
  if (report.convex_objective) {
    out.emplace_back("last convex", fmt::format("{:.9g} (the value of the last round's convex problem)",
                                                *report.convex_objective));
  }
  if (report.dual_objective) {
    out.emplace_back("lower bound",
                     fmt::format("{:.9g}{}", *report.dual_objective,
                                 in_rounds || report.convex_objective ? " (of that problem)" : ""));
  }
  if (report.relative_gap) out.emplace_back("relative gap", fmt::format("{:.2g}", *report.relative_gap));
  if (!report.objective_history.empty()) {
    out.emplace_back("rounds",
                     fmt::format("{} (objective {})", report.rounds, history(report.objective_history)));
  }
  if (const std::string line = starts_line(report); !line.empty()) out.emplace_back("starts", line);
  out.emplace_back("ended", report.termination);
  out.emplace_back("seed", fmt::format("{}", report.seed));
  if (model.selection) out.emplace_back("chosen", selection_text(*model.selection));
  if (model.metric.kind != "none") {
    out.emplace_back(
        "metric",
        fmt::format("{} ({} with {:.3g} % of the variance); lengths, angles and residuals are in it",
                    model.metric.kind, count_of(model.metric.rank, "principal axis", "principal axes"),
                    100 * model.metric.variance_kept));
  }
  return out;
}

std::string uncertainty_line(const TrainingReport& report) {
  if (report.tasks.empty() || report.tasks.back().shift.empty() || report.objective_history.size() < 2)
    return "";
  const TaskReport& target = report.tasks.back();
  return fmt::format("{} of the target's {} moved, {} as far as delta allows", moved_bags(target),
                     count_of(target.bag_names.size(), "bag", "bags"), bags_at_bound(target));
}

std::string starts_line(const TrainingReport& report) {
  if (report.starts.empty()) return "";
  const auto [low, high] = std::minmax_element(
      report.starts.begin(), report.starts.end(),
      [](const StartReport& a, const StartReport& b) { return a.objective < b.objective; });
  const std::string reached = low->objective == high->objective
                                  ? fmt::format("reached {:.6g}", low->objective)
                                  : fmt::format("reached {:.6g} ({}) to {:.6g} ({})", low->objective,
                                                printable(low->init), high->objective, printable(high->init));
  return fmt::format("{} {}", count_of(report.starts.size(), "start", "starts"), reached);
}

std::string transfer_line(const TrainingReport& report) {
  if (!report.shared_norm || report.tasks.size() < 2) return "";
  const TaskReport& target = report.tasks.back();
  std::string out = fmt::format("{} of the target's plane is shared;", percent(target.shared_part));
  for (std::size_t t = 0; t + 1 < report.tasks.size(); ++t) {
    out += fmt::format("{} {} degrees from the {}", t == 0 ? "" : ",", degrees(target.angles[t]),
                       short_name(report.tasks[t].name));
  }
  return out;
}

TextTable task_table(const TrainingReport& report) {
  const bool planes = report.shared_norm.has_value();
  std::vector<std::string> titles = {"task", ">rows", ">bags", ">mean |residual|", ">moved", ">at bound"};
  if (planes) titles.insert(titles.end(), {">|w|", ">own |v|", ">shared part", ">degrees to target"});
  TextTable table(titles);
  for (const TaskReport& task : report.tasks) {
    const bool kept = !task.bag_names.empty();  // not where bags were spread over ranks
    std::vector<std::string> cells = {short_name(task.name),
                                      fmt::format("{}", task.instances),
                                      kept ? fmt::format("{}", task.bag_names.size()) : "-",
                                      kept ? short_number(mean_residual(task)) : "-",
                                      task.shift.empty() ? "-" : fmt::format("{}", moved_bags(task)),
                                      task.shift.empty() ? "-" : fmt::format("{}", bags_at_bound(task))};
    if (planes) {
      cells.insert(cells.end(), {short_number(task.norm), short_number(task.own_norm),
                                 percent(task.shared_part), degrees(task.angles.back())});
    }
    table.add(std::move(cells));
  }
  return table;
}

}  // namespace bagwise
