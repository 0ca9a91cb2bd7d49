// Files of bag sums: what `bagwise reduce` writes of a shard, and any number of them merged.
//
// The bytes are those of GroupedSums::to_bytes(); docs/guide/files.md lists them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bagwise/bags/grouped_sums.h"
#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"

namespace bagwise {

// That values which are finite do not add up to what is not: such sums could not be read again.
Result<void> check_finite(const GroupedSums& sums);

// Written whole or not at all.
Result<void> write_sums(const std::string& path, const GroupedSums& sums);
Result<GroupedSums> read_sums(const std::string& path);

// Whether a file begins as one of bag sums does; false where it cannot be read.
bool is_sums_file(const std::string& path);

struct MergedSums {
  GroupedSums sums;
  std::vector<std::string> remarks = {};  // files of the same contents: probably one given twice
};
// The sums of all files, the same bits in whatever order they are given: they are merged in the order of
// their checksums, one in memory at a time. A file that is named twice is an error.
Result<MergedSums> merge_sums_files(std::span<const std::string> paths, const Observer& observer = {});

}  // namespace bagwise
