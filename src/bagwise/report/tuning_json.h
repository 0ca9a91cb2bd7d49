// What a tuning found, as JSON and in the order people read it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bagwise/evaluate/tuning.h"
#include "bagwise/report/training_json.h"

namespace bagwise {

// The settings tried, the best first: those on all folds, then by how many they were tried on.
std::vector<std::size_t> best_first(const Tuned& tuned);

// method, selection, transfer (where it was in question), table (the settings in this order), and what
// training reports of the model.
Json to_json(const Tuned& tuned, std::span<const Arm> arms, std::span<const std::size_t> order);

}  // namespace bagwise
