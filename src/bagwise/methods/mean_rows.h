// The means of bags as rows of the linear methods' problems, dense or sparse as the sums are.
#pragma once

#include <span>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/core/result.h"
#include "bagwise/data/dataset.h"
#include "bagwise/methods/model.h"

namespace bagwise {

// Whether the sums of a task hold only what occurs: its means are then sparse rows.
bool any_sparse(std::span<const ReducedBags* const> tasks);

// The scaled means of the bags of all tasks, one task after the other. They are sparse where sums are, unless
// the scaling shifts them: then no value stays 0, and an error says so where they would take too much memory.
Result<Features> scaled_means(std::span<const ReducedBags* const> tasks, const Scaling& scaling);

// The same not yet scaled, as dense rows.
// That there is memory for dense_means().
Result<void> check_means(std::span<const ReducedBags* const> tasks);
DenseRows dense_means(std::span<const ReducedBags* const> tasks);

}  // namespace bagwise
