// Sums per bag that ranks made of their shares of the rows, put together by the names of the bags.
//
// Every bag belongs to one rank, by a hash of its name: that rank adds up what all have of it, in the order
// of the ranks. So no rank ever holds more than its own part and what it owns, and the bits are the same
// whenever the same number of ranks has the same shares.
#pragma once

#include <cstdint>
#include <string_view>

#include "bagwise/bags/grouped_sums.h"
#include "bagwise/bags/leak_guard.h"
#include "bagwise/comm/communicator.h"
#include "bagwise/core/result.h"

namespace bagwise {

// What messages call the rows of a rank, its number behind it.
inline constexpr std::string_view kRowsOfRank = "the rows of rank ";

// Collective, as all of these: what this rank owns. A fault of one rank is the fault of all.
Result<GroupedSums> spread_bags(Communicator& comm, Result<GroupedSums> mine);

// How large the means of all bags are together, in bytes.
double bytes_of_means(Communicator& comm, const GroupedSums& owned);

// Where sums are wanted that are spread over ranks.
enum class SumsOn {
  kFirst,  // whole on rank 0; the others have the schema alone
  kEvery,  // whole on every rank, the same bits
  kOwner,  // where they are; every rank gets the moments over all rows
};
Result<GroupedSums> collect_sums(Communicator& comm, GroupedSums owned, SumsOn where);

// What the bags of all ranks tell together.
LeakScan merge_leaks(Communicator& comm, const LeakScan& mine);

}  // namespace bagwise
