// Numbers that leave the range of a double: found in one place, and told by what of the user's made them.
//
// A method that meets one gives overflow_error(); around every method (method_entry.h) with_cause() then
// names the feature, the bounds or the options it came from, of the tasks as they were given: what a metric
// or landmarks made of them means nothing to a user.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bagwise/comm/communicator.h"
#include "bagwise/core/result.h"
#include "bagwise/methods/registry.h"

namespace bagwise {

// The error of a method whose numbers have left their range, without its cause.
Error overflow_error();

// The same error with its cause; other errors as they are. Where bags are spread over ranks the cause may be
// among those of another.
enum class BagsSeen { kAll, kSome };
Error with_cause(Error error, std::span<const TrainingTask> tasks,
                 const std::vector<std::pair<std::string, OptionValue>>& options,
                 BagsSeen seen = BagsSeen::kAll);

// That the sums of every bag are numbers: values may be, and their sum none. The error names the feature.
Result<void> check_sums(std::span<const TrainingTask> tasks, Communicator* spread = nullptr);

// That the variance of the features, of which `gamma` = auto is made, can be computed where that is asked
// for.
Result<void> check_gamma(std::span<const TrainingTask> tasks,
                         const std::vector<std::pair<std::string, OptionValue>>& options);

// That every number of a model and its report is one, also with the scaling folded in.
Result<void> check_finite(const Model& model);

}  // namespace bagwise
