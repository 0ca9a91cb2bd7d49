// Bag sums from means that were computed elsewhere: what a warehouse's GROUP BY gives.
//
// The SQL that makes such a file is in docs/guide/sql.md.
#pragma once

#include <string>
#include <vector>

#include "bagwise/bags/grouped_sums.h"
#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"
#include "bagwise/data/table_source.h"

namespace bagwise {

// How the columns are called. Every column that is none of these holds the means of a feature.
struct BagMeansOptions {
  std::string bag_column = "bag";
  std::string size_column = "size";                      // the number of rows; must be there
  std::string share_column = "proportion";               // of the bag; may be missing
  std::string bound_column = "delta";                    // the mean bound of the rows; may be missing
  std::string label_column = "label", id_column = "id";  // never features

  std::vector<std::string> features = {};  // only these, in this order; empty: every other column
  std::vector<std::string> exclude = {};   // never these
};

// CSV, plain, .gz or .zst: a line per bag. A bag in several lines or files was summed in parts, which add up.
// There are no moments: means do not tell how the rows of a bag differ.
Result<GroupedSums> read_bag_means(const TableSource& source, const BagMeansOptions& options = {},
                                   const Observer& observer = {});

}  // namespace bagwise
