#include "bagwise/methods/merge_over_ranks.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bagwise/bags/sums_file.h"
#include "bagwise/comm/agree.h"
#include "bagwise/comm/packed.h"

namespace bagwise {
namespace {

// What came from the ranks, in their order; those that sent nothing are passed over.
Result<GroupedSums> merged(const std::vector<std::string>& parts) {
  std::optional<GroupedSums> out;
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    if (parts[rank].empty()) continue;
    auto read = GroupedSums::from_bytes(parts[rank], fmt::format("{}{}", kRowsOfRank, rank));
    if (!read) return read.error();
    if (!out) {
      out = std::move(*read);
    } else if (auto added = out->merge(std::move(*read)); !added) {
      return added.error();
    }
  }
  return out ? std::move(*out) : GroupedSums();
}

}  // namespace

Result<GroupedSums> spread_bags(Communicator& comm, Result<GroupedSums> mine) {
  if (comm.size() == 1) return mine;
  if (mine) {
    if (auto checked = check_finite(*mine); !checked) mine = checked.error();
  }
  mine = agree(comm, std::move(mine));
  if (!mine) return mine.error();
  if (mine->blank()) {  // others have read them
    return agree(comm,
                 merged(comm.exchange(std::vector<std::string>(static_cast<std::size_t>(comm.size())))));
  }
  std::vector<std::string> parts;
  for (const GroupedSums& part : std::move(*mine).split_by_bag(static_cast<std::size_t>(comm.size())))
    parts.push_back(part.to_bytes());
  mine = GroupedSums();
  return agree(comm, merged(comm.exchange(std::move(parts))));
}

double bytes_of_means(Communicator& comm, const GroupedSums& owned) {
  const BagSums& sums = owned.sums;
  double bytes = static_cast<double>(sums.bags()) * static_cast<double>(sums.features()) * 8;
  if (sums.layout() == BagSums::Layout::kSparse) {  // a value and its column
    bytes = 0;
    for (std::size_t k = 0; k < sums.bags(); ++k)
      bytes += static_cast<double>(sums.sparse_bag(k).entries.size()) * 12;
  }
  comm.sum({&bytes, 1});
  return bytes;
}

Result<GroupedSums> collect_sums(Communicator& comm, GroupedSums owned, SumsOn where) {
  if (comm.size() == 1) return owned;
  if (where == SumsOn::kEvery) return agree(comm, merged(comm.gather(owned.to_bytes())));
  if (where == SumsOn::kFirst) {
    std::vector<std::string> to(static_cast<std::size_t>(comm.size()));
    to[0] = owned.to_bytes();
    auto whole = agree(comm, merged(comm.exchange(std::move(to))));
    if (!whole || comm.rank() == 0) return whole;
    return owned.without_bags();
  }
  auto all = agree(comm, merged(comm.gather(owned.without_bags().to_bytes())));
  if (!all) return all.error();
  owned.moments = std::move(all->moments);
  return owned;
}

LeakScan merge_leaks(Communicator& comm, const LeakScan& mine) {
  Packing packed;
  packed.count(mine.any_rows ? 1 : 0).number(mine.least_share).number(mine.largest_share);
  packed.text({reinterpret_cast<const char*>(mine.apart.data()), mine.apart.size()});
  LeakScan out = mine;
  for (const std::string& bytes : comm.gather(packed.bytes())) {
    Unpacking in(bytes);
    LeakScan other;
    other.any_rows = in.count() == 1;
    other.least_share = in.number();
    other.largest_share = in.number();
    const std::string apart = in.text();
    other.apart.assign(apart.begin(), apart.end());
    out.merge(other);
  }
  return out;
}

}  // namespace bagwise
