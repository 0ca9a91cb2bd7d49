// Parts of reports as JSON: what the model file and `train --json` both say about a training run.
//
// Internal to whoever already uses nlohmann's JSON (report, the command line); no other header includes it.
#pragma once

#include <nlohmann/json.hpp>

#include "bagwise/methods/model.h"

namespace bagwise {

using Json = nlohmann::ordered_json;

// Text for people or files: bytes that are not UTF-8 become U+FFFD, numbers keep every bit.
std::string to_text(const Json& json, int indent = -1);

Json to_json(const OptionValue& value);  // null = chosen by the method
Json to_json(const std::vector<std::pair<std::string, OptionValue>>& options);
// objective, dual_objective and relative_gap (where there are any), termination, rounds, objective_history,
// solver_steps, instances, features, bags, seed, shared_norm and starts (where there are any), tasks (each
// with its bags' residuals and shifts), warnings, version.
Json to_json(const TrainingReport& report);
// criterion, combine, search, folds, repeats, seed, settings, best, value.
Json to_json(const Selection& selection);

}  // namespace bagwise
