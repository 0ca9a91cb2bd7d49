#include "bagwise/bags/same_features.h"

#include <fmt/format.h>

#include <algorithm>

namespace bagwise {
namespace {

// The first name of `a` that `b` lacks.
const std::string* lacking(const std::vector<std::string>& a, std::vector<std::string> b) {
  std::sort(b.begin(), b.end());
  const auto found = std::find_if(
      a.begin(), a.end(), [&](const auto& name) { return !std::binary_search(b.begin(), b.end(), name); });
  return found == a.end() ? nullptr : &*found;
}

}  // namespace

Result<void> check_same_features(const NamedFeatures& target, const NamedFeatures& source,
                                 const FeatureRemedies& remedies) {
  if (const auto* name = lacking(target.names, source.names)) {
    return Error{fmt::format("has no feature \"{}\", which the target {} has; {}", *name, target.table,
                             remedies.lacking),
                 source.table};
  }
  if (const auto* name = lacking(source.names, target.names)) {
    return Error{fmt::format("has a feature \"{}\", which the target {} lacks; {}", *name, target.table,
                             remedies.extra),
                 source.table};
  }
  return {};
}

}  // namespace bagwise
