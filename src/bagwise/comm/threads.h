// Ranks made of threads of one process: what distributed code is tested on, without MPI.
#pragma once

#include <functional>

#include "bagwise/comm/communicator.h"

namespace bagwise {

// Runs `work` once per rank, each on a thread of its own, and returns when all have ended.
// `work` must not throw, and all ranks must make the same calls in the same order.
void run_thread_ranks(int ranks, const std::function<void(Communicator&)>& work);

}  // namespace bagwise
