// Adding up the sums per bag that each rank of a communicator holds.
#pragma once

#include "bagwise/bags/bagged_data.h"
#include "bagwise/comm/communicator.h"

namespace bagwise {

// Every rank ends with the sums over all ranks, the same bits on each.
// All ranks must list the same bags in the same order (a rank without rows of a bag has count 0 there).
void sum_over_ranks(ReducedBags& data, Communicator& comm);

}  // namespace bagwise
