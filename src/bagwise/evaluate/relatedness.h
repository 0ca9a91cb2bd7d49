// Relatedness: whether what a source teaches holds on the target's bags, seen without labels.
//
// A plane is learnt from the source alone (InvCal at its defaults). Over the target's n bags its values at
// the bag means correlate with the proportions by r_t; over source bags that it has not seen, by r_s, which
// is what to expect where the tasks are the same. Fisher's transform of a correlation is normal with standard
// deviation 1/sqrt(n - 3), so
//
//   log odds = m z - m^2/2,   z = sqrt(n - 3) atanh r_t,   m = sqrt(n - 3) atanh r_s
//
// is the log-likelihood of the same task less that of one that has nothing to do with it.
// Test    relatedness_test.cpp; docs/design/selection.md has what it is worth.
#pragma once

#include <span>

#include "bagwise/core/result.h"
#include "bagwise/methods/registry.h"

namespace bagwise {

struct Relatedness {
  double target = 0;    // r_t
  double source = 0;    // r_s, at least 0
  double log_odds = 0;  // above 0: as the same task would look; 0 where there are too few bags to tell
};

// Of the source that is nearest, among the sources (all but the last task). Options: what InvCal shall have
// other than its defaults (the scale of the features). Errors: those of a fit.
Result<Relatedness> relatedness(std::span<const TrainingTask> tasks, const OptionTexts& options,
                                const Context& context);

}  // namespace bagwise
