#include "bagwise/bags/sums_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "bagwise/core/atomic_file.h"
#include "bagwise/data/csv_records.h"
#include "bagwise/linalg/finite.h"

namespace bagwise {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

// What two files are told apart by without reading them: the size and the checksum at the end. Of a file that
// has none (or cannot be read) anything will do: reading it is the fault.
struct Ending {
  std::uint64_t checksum = 0, size = 0;
  bool operator==(const Ending&) const = default;
  bool operator<(const Ending& other) const {
    return std::tie(checksum, size) < std::tie(other.checksum, other.size);
  }
};

Ending ending_of(const std::string& path) {
  Ending out;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto size = static_cast<std::streamoff>(file.tellg());
  if (!file || size < 8) return out;
  out.size = static_cast<std::uint64_t>(size);
  char raw[8] = {};
  file.seekg(size - 8);
  if (file.read(raw, sizeof(raw))) std::memcpy(&out.checksum, raw, sizeof(raw));
  return out;
}

bool is_finite(const BagSums& sums, std::size_t bag) {
  if (!std::isfinite(sums.bound_sum(bag))) return false;
  if (sums.layout() == BagSums::Layout::kDense)
    return all_finite(sums.bag(bag).high) && all_finite(sums.bag(bag).low);
  return std::ranges::all_of(sums.sparse_bag(bag).entries, [](const BagSums::Entry& entry) {
    return std::isfinite(entry.high) && std::isfinite(entry.low);
  });
}

}  // namespace

Result<void> check_finite(const GroupedSums& sums) {
  for (std::size_t k = 0; k < sums.names.size(); ++k) {
    if (is_finite(sums.sums, k)) continue;
    return Error{
        fmt::format("bag {} has values that add up to more than a number holds; expected smaller ones",
                    shown_text(sums.names[k])),
        sums.origin()};
  }
  return {};
}

Result<void> write_sums(const std::string& path, const GroupedSums& sums) {
  if (auto checked = check_finite(sums); !checked) return checked;
  return write_file(path, sums.to_bytes());
}

Result<GroupedSums> read_sums(const std::string& path) {
  auto bytes = read_file(path, kNoLimit);
  if (!bytes) return bytes.error();
  return GroupedSums::from_bytes(*bytes, path);
}

bool is_sums_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char start[8] = {};
  return file.read(start, sizeof(start)) && std::string_view(start, sizeof(start)) == "bagsums\n";
}

Result<MergedSums> merge_sums_files(std::span<const std::string> paths, const Observer& observer) {
  std::set<std::string_view> given;
  for (const auto& path : paths) {
    if (!given.insert(path).second) return Error{"is given twice; its rows would count twice", path};
  }
  std::vector<Ending> endings;
  double total = 0, done = 0;
  for (const auto& path : paths) {
    endings.push_back(ending_of(path));
    total += static_cast<double>(endings.back().size);
  }
  std::vector<std::size_t> order(paths.size());
  std::iota(order.begin(), order.end(), 0);
  // Files of the same contents by name, so that messages do not depend on the order either.
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(endings[a], std::string_view(paths[a])) <
           std::pair(endings[b], std::string_view(paths[b]));
  });
  MergedSums out;
  for (std::size_t i = 0; i < order.size(); ++i) {
    auto part = read_sums(paths[order[i]]);
    if (!part) return part.error();
    if (i > 0 && endings[order[i]] == endings[order[i - 1]]) {
      out.remarks.push_back(fmt::format("{} and {} have the same contents: is one of them given twice?",
                                        paths[order[i - 1]], paths[order[i]]));
    }
    if (auto merged = out.sums.merge(std::move(*part)); !merged) return merged.error();
    done += static_cast<double>(endings[order[i]].size);
    if (tell(observer, {"reading", done, total}) == Next::kStop) return Error{"stopped"};
  }
  return out;
}

}  // namespace bagwise
