#include "bagwise/report/training_json.h"

#include "bagwise/core/version.h"

namespace bagwise {
namespace {

Json to_json(const TaskReport& task, bool with_planes) {
  Json out = {{"name", task.name}, {"instances", task.instances}, {"bags", task.bag_names.size()}};
  if (with_planes) {
    out["norm"] = task.norm;
    out["own_norm"] = task.own_norm;
    out["shared_part"] = task.shared_part;
    out["angles"] = task.angles;
  }
  out["bag"] = task.bag_names;
  out["residual"] = task.residual;
  out["shift"] = task.shift;
  out["at_bound"] = task.at_bound;
  return out;
}

}  // namespace

std::string to_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json to_json(const OptionValue& value) {
  return std::visit(
      []<class T>(const T& v) -> Json {
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nullptr;
        } else {
          return v;
        }
      },
      value);
}

Json to_json(const std::vector<std::pair<std::string, OptionValue>>& options) {
  Json out = Json::object();
  for (const auto& [name, value] : options) out[name] = to_json(value);
  return out;
}

Json to_json(const TrainingReport& report) {
  Json out = Json::object();
  out["objective"] = report.objective;
  if (report.dual_objective) out["dual_objective"] = *report.dual_objective;
  if (report.relative_gap) out["relative_gap"] = *report.relative_gap;
  if (report.convex_objective) out["convex_objective"] = *report.convex_objective;
  out["termination"] = report.termination;
  out["rounds"] = report.rounds;
  out["objective_history"] = report.objective_history;
  out["solver_steps"] = report.solver_steps;
  out["instances"] = report.instances;
  out["features"] = report.features;
  out["bags"] = report.bags;
  out["seed"] = report.seed;
  if (report.shared_norm) out["shared_norm"] = *report.shared_norm;
  for (const StartReport& start : report.starts) {
    if (!out.contains("starts")) out["starts"] = Json::array();
    out["starts"].push_back(
        {{"init", start.init}, {"objective", start.objective}, {"machines", start.machines}});
  }
  out["tasks"] = Json::array();
  for (const TaskReport& task : report.tasks)
    out["tasks"].push_back(to_json(task, report.shared_norm.has_value()));
  out["warnings"] = report.warnings;
  out["version"] = kVersion;
  return out;
}

Json to_json(const Selection& s) {
  return {{"criterion", s.criterion}, {"combine", s.combine}, {"search", s.search},
          {"folds", s.folds},         {"repeats", s.repeats}, {"seed", s.seed},
          {"settings", s.settings},   {"best", s.best},       {"value", s.value}};
}

}  // namespace bagwise
