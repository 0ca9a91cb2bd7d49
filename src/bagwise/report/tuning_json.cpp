#include "bagwise/report/tuning_json.h"

#include <algorithm>
#include <utility>

namespace bagwise {

std::vector<std::size_t> best_first(const Tuned& tuned) {
  std::vector<std::size_t> out(tuned.tried.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = i;
  std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
    const Tried &x = tuned.tried[a], &y = tuned.tried[b];
    return x.folds != y.folds ? x.folds > y.folds : x.value < y.value;
  });
  return out;
}

Json to_json(const Tuned& tuned, std::span<const Arm> arms, std::span<const std::size_t> order) {
  const Model& model = tuned.fit.model;
  Json out = Json::object();
  out["method"] = model.method;
  out["selection"] = to_json(*model.selection);
  out["selection"]["members"] = tuned.members;
  if (tuned.related) {
    out["transfer"] = {{"target_correlation", tuned.related->target},
                       {"source_correlation", tuned.related->source},
                       {"log_odds", tuned.related->log_odds},
                       {"share", tuned.transfer_share}};
  }
  out["table"] = Json::array();
  for (const std::size_t i : order) {
    const Tried& tried = tuned.tried[i];
    Json options = Json::object();
    for (const auto& [name, text] : tried.setting) options[name] = text;
    out["table"].push_back({{"method", arms[tried.arm].method->name},
                            {"metric", arms[tried.arm].metric},
                            {"options", std::move(options)},
                            {"value", tried.value},
                            {"folds", tried.folds}});
  }
  out.update(to_json(model.training));
  out["options"] = to_json(model.options);
  return out;
}

}  // namespace bagwise
