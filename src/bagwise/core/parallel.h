// Running independent pieces of work on several threads, with results that do not depend on how many.
//
// The pieces are fixed by the caller (by the input, never by the number of threads), and each writes only to
// its own place; whoever adds the pieces up does so in their order.
#pragma once

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace bagwise {

// The number of threads to use where the user named none: one per core this process may run on.
unsigned default_threads();

// Up to `count` threads that each call work(), fewer where the system gives no more. `work` must not throw.
std::vector<std::jthread> start_helpers(std::size_t count, const std::function<void()>& work);

// Calls work(i) once for every i in [0, pieces), on up to `threads` threads (0: default_threads()).
// Returns when all are done. If a piece throws (memory may run out), pieces not yet begun are left out and
// the first exception is thrown again here.
void parallel_for(std::size_t pieces, unsigned threads, const std::function<void(std::size_t)>& work);

}  // namespace bagwise
