// A committee of the planes that settings had on their folds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bagwise/methods/model.h"

namespace bagwise {

// exp(-(value - least)/tau), 0 where that is below a hundredth; not yet divided by their sum. Empty for none.
std::vector<double> weights_of_values(std::span<const double> values, double tau);

// The planes of a fit on raw values, task by task; none of a kernel model.
std::vector<TaskModel> raw_planes(const Model& model);

// One plane per task of every member.
struct Member {
  std::uint32_t setting = 0, fold = 0;
  double weight = 0;  // > 0
  std::vector<TaskModel> planes;
};

// Sets tasks (the averaged planes on raw values) and committee of a model. The tasks are those that all
// members have, the target last.
void set_committee(std::vector<Member> members, std::vector<std::string> settings, Model& model);

}  // namespace bagwise
