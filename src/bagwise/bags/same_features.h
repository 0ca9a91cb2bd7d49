// That a source has the features of its target.
#pragma once

#include <string>
#include <vector>

#include "bagwise/core/result.h"

namespace bagwise {

// A task's features and what messages call its table.
struct NamedFeatures {
  const std::vector<std::string>& names;
  const std::string& table;
};
// What a user can do about a feature that the source lacks, and about one that only the source has.
struct FeatureRemedies {
  std::string lacking, extra;
};

// The same names in any order; else an error that names the first one that is not in both.
Result<void> check_same_features(const NamedFeatures& target, const NamedFeatures& source,
                                 const FeatureRemedies& remedies);

}  // namespace bagwise
