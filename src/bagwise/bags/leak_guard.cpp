#include "bagwise/bags/leak_guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bagwise {
namespace {

constexpr double kTolerance = 1e-9;

// Whether the mean of feature j is slope * p + offset in every bag that has rows (and there is one).
bool follows(const ReducedBags& data, const DenseView& means, std::size_t j, double slope, double offset) {
  bool any = false;
  for (std::size_t k = 0; k < means.rows; ++k) {
    if (data.sums.count(k) == 0) continue;
    any = true;
    const double expected = slope * data.bags.proportions[k] + offset;
    if (!(std::abs(means.row(k)[j] - expected) <= kTolerance)) return false;
  }
  return any;
}

}  // namespace

std::vector<std::string> leaked_features(const ReducedBags& data) {
  // Where all bags have one share, it tells no label, and any constant may equal it.
  const auto& p = data.bags.proportions;
  if (std::all_of(p.begin(), p.end(), [&](double share) { return share == p.front(); })) return {};
  const DenseRows means = data.sums.means();
  const DenseView view = means.view();
  std::vector<std::string> leaked;
  for (std::size_t j = 0; j < data.feature_names.size(); ++j) {
    if (follows(data, view, j, 1, 0) || follows(data, view, j, 2, -1) || follows(data, view, j, -1, 1) ||
        follows(data, view, j, -2, 1)) {
      leaked.push_back(data.feature_names[j]);
    }
  }
  return leaked;
}

Result<void> check_leaks(const ReducedBags& data, const std::string& file,
                         const std::function<std::string(const std::string&)>& ways_out) {
  const auto leaks = leaked_features(data);
  if (leaks.empty()) return {};
  return Error{
      fmt::format("the feature \"{}\" has each bag's proportion as its mean in every bag: it is the label "
                  "under another name; {}",
                  leaks[0], ways_out(leaks[0])),
      file};
}

}  // namespace bagwise
