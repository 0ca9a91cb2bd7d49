// What a training report says, for people: what `train`, `inspect` and a model's page show.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bagwise/methods/model.h"
#include "bagwise/report/table.h"

namespace bagwise {

// How the fit went, line by line: a name and what to say of it. Warnings are not among them.
std::vector<std::pair<std::string, std::string>> training_lines(const Model& model);

// "18 rounds", and how the bags stand: moved by uncertainty, at their bound. Empty where nothing can move.
std::string uncertainty_line(const TrainingReport& report);

// "11 starts reached 15.1 (inv-cal) to 15.4 (random)". Empty for methods with one start.
std::string starts_line(const TrainingReport& report);

// One line: how much of the target's plane is shared, and the angle to each source. Empty without sources.
std::string transfer_line(const TrainingReport& report);

// Per task: size, length of its plane, its own and its shared part, angle to the target, bags moved.
TextTable task_table(const TrainingReport& report);

}  // namespace bagwise
