// The known share of positives per bag, from its own file or from a column of the instances.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/bags/reduce_table.h"
#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"
#include "bagwise/data/dataset.h"

namespace bagwise {

struct KnownProportion {
  double proportion = 0;
  std::optional<std::uint64_t> size;  // of the bag, where the file tells
  std::uint64_t line = 0;             // of the file
};

struct ProportionTable {
  std::string file;                             // for messages
  std::map<std::string, KnownProportion> bags;  // by name
};

// CSV `bag,proportion[,size]` or `bag,positives,size`, plain, .gz or .zst. Every fault names its line.
Result<ProportionTable> read_proportions(const std::string& path, const Observer& observer = {});
Result<void> write_proportions(const std::string& path, const ProportionTable& table);  // bag,proportion,size

// Joins instances and proportions. Errors: a bag without proportion, a proportion without bag, a size that
// does not match, both a proportion file and a proportion column, neither, a column not constant within a
// bag. `instances_file` is for messages; `table` is null when the instances carry their own proportion
// column.
Result<BaggedData> attach_proportions(Dataset instances, const std::string& instances_file,
                                      const ProportionTable* table);
Result<ReducedBags> attach_proportions(GroupedSums instances, const std::string& instances_file,
                                       const ProportionTable* table);

}  // namespace bagwise
