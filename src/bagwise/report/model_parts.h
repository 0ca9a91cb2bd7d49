// What people look at in a model, as values: its largest weights with their parts, angles, a committee's
// settings.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bagwise/methods/model.h"

namespace bagwise {

// A weight on raw values, and what of it all tasks share; where the model has no such part all is its own.
struct WeightParts {
  std::size_t feature = 0;
  double weight = 0, shared = 0, own = 0;
};
// Of a task's plane by falling size, `count` at most; a kernel model has none.
std::vector<WeightParts> largest_weights(const Model& model, std::size_t task, std::size_t count);
bool has_shared_part(const Model& model);

// The cosine of the angle between a task's plane and the target's: 1 the same direction, 0 nothing in common.
// Of planes on raw values; of a kernel model, of its functions in the kernel's space, if its report tells.
double cosine_to_target(const Model& model, std::size_t task);

// A setting of a committee and what its planes weigh together, the heaviest first.
struct SettingShare {
  std::string setting;
  double share = 0;
  std::size_t planes = 0;
};
std::vector<SettingShare> setting_shares(const Committee& committee);

// For people: "an expansion in 20 rows with the kernel rbf, gamma 0.5".
std::string kernel_text(const Expansion& expansion);
// "miscount of 16 settings on 5 folds of bags, the best 12: inv-cal C=1".
std::string selection_text(const Selection& selection);

}  // namespace bagwise
