// Guarding against labels that slip in as features.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/core/result.h"

namespace bagwise {

// The features whose bag means equal the bags' proportions in every bag: the label under another name.
// Values 0/1 are compared with the proportion p, -1/1 with 2p - 1, and the opposite class's with 1 - p and
// 1 - 2p; to 1e-9. In their order. None where all bags have the same proportion.
std::vector<std::string> leaked_features(const ReducedBags& data);

// That there is none; else an error that names the first of them and says what to do, which `ways_out` knows.
Result<void> check_leaks(const ReducedBags& data, const std::string& file,
                         const std::function<std::string(const std::string& feature)>& ways_out);

}  // namespace bagwise
