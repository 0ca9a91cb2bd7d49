// Independent pieces of long work, dealt over ranks as these become free, and their results brought to rank
// 0.
//
// watched.h does the same on the threads of one process. Which rank does a piece depends on who is free; so a
// piece's result must not depend on it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "bagwise/comm/communicator.h"
#include "bagwise/core/observer.h"
#include "bagwise/core/watched.h"

namespace bagwise {

struct DealtWork {
  // The bytes of a piece's result; nothing where it was stopped. On any rank, on threads that are not the
  // caller's; it may set watched.stop to end all.
  std::function<std::optional<std::string>(std::size_t piece, Watched& watched)> run;
  // On rank 0 alone, in any order, on the caller's thread. False ends all.
  std::function<bool(std::size_t piece, const std::string& result)> take;
};

// Collective; every rank runs up to `threads` pieces at once (0: one per core). Rank 0 tells its observer
// `phase` and the steps done of `total`; that of any rank may stop all. Returns, the same on every rank,
// whether every piece was taken. What a piece throws is thrown again on its rank.
bool deal_over_ranks(Communicator& comm, std::size_t pieces, unsigned threads, std::string_view phase,
                     std::size_t total, const Observer& observer, const DealtWork& work);

}  // namespace bagwise
