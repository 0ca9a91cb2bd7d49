// The known share of positives per bag, from its own file or from a column of the instances.
//
// A file may say how far its shares are off: by a standard error, or by the epsilon of differential privacy.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/bags/reduce_table.h"
#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"
#include "bagwise/data/dataset.h"

namespace bagwise {

class FileGroup;

struct KnownProportion {
  double proportion = 0;
  std::optional<std::uint64_t> size;  // of the bag, where the file tells
  std::uint64_t line = 0;             // of the file
  double stderror = 0;                // standard error of the proportion: the column stderr
  double epsilon_dp = 0;              // Laplace noise of scale 1/epsilon_dp is on the count; 0: there is none

  // The standard deviation of the proportion's error in a bag of that many rows.
  [[nodiscard]] double noise(std::uint64_t rows) const;
};

struct ProportionTable {
  std::string file;                             // for messages
  std::map<std::string, KnownProportion> bags;  // by name
  std::vector<std::string> remarks = {};        // on what was read; empty: nothing to say
};

// CSV `bag,proportion[,size]` or `bag,positives,size`, plain, .gz or .zst; either with a further column
// `stderr` or `epsilon_dp`. Every fault names its line. A share outside [0, 1] is a fault, but noise of
// either column can bring one there: then it is clipped, and a remark says so.
Result<ProportionTable> read_proportions(const std::string& path, const Observer& observer = {});
// The same from memory: the header and the records of such a table, as text. A fault names the record's
// number from 1 as its line; `what` is what messages call the table.
Result<ProportionTable> make_proportions(const std::string& what, const std::vector<std::string>& header,
                                         const std::vector<std::vector<std::string>>& records);
// The same of shares that are numbers already, one for each name.
Result<ProportionTable> make_proportions(const std::string& what, std::span<const std::string> bags,
                                         std::span<const double> shares);
// bag,proportion,size and, where a bag has noise, stderr or epsilon_dp.
Result<void> write_proportions(const std::string& path, const ProportionTable& table,
                               FileGroup* group = nullptr);

// Joins instances and proportions. Errors: a bag without proportion, a proportion without bag, a size that
// does not match, both a proportion file and a proportion column, neither, a column not constant within a
// bag. `instances_file` is for messages; `table` is null when the instances carry their own proportion
// column.
Result<BaggedData> attach_proportions(Dataset instances, const std::string& instances_file,
                                      const ProportionTable* table);
// Where these are only some of the bags (others are elsewhere), proportions of others are no fault.
enum class BagsHere { kAll, kSome };
Result<ReducedBags> attach_proportions(GroupedSums instances, const std::string& instances_file,
                                       const ProportionTable* table, BagsHere here = BagsHere::kAll);

}  // namespace bagwise
