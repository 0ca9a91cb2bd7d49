#include "bagwise/report/training_json.h"

#include "bagwise/core/version.h"

namespace bagwise {

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
  Json out;
  out["objective"] = report.objective;
  if (report.dual_objective) out["dual_objective"] = *report.dual_objective;
  if (report.relative_gap) out["relative_gap"] = *report.relative_gap;
  out["termination"] = report.termination;
  out["rounds"] = report.rounds;
  out["objective_history"] = report.objective_history;
  out["instances"] = report.instances;
  out["features"] = report.features;
  out["bags"] = report.bags;
  out["seed"] = report.seed;
  out["warnings"] = report.warnings;
  out["version"] = kVersion;
  return out;
}

}  // namespace bagwise
