#include "bagwise/bags/leak_guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "bagwise/bags/visit_means.h"

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

// What labels may look like: slope * p + offset.
constexpr std::pair<double, double> kLines[] = {{1, 0}, {2, -1}, {-1, 1}, {-2, 1}};

bool any_rows(const BagSums& sums) {
  for (std::size_t k = 0; k < sums.bags(); ++k) {
    if (sums.count(k) > 0) return true;
  }
  return false;
}

// Of sparse sums a mean that is not stored is 0: bags in which 0 is on the line are counted instead.
std::vector<std::string> leaked_sparse_features(const ReducedBags& data) {
  const std::size_t features = data.feature_names.size();
  std::vector<bool> leaked(features, false);
  for (const auto& [slope, offset] : kLines) {
    const auto expected = [&, a = slope, b = offset](std::size_t k) {
      return a * data.bags.proportions[k] + b;
    };
    const auto zero_fits = [&](std::size_t k) { return std::abs(expected(k)) <= kTolerance; };
    std::size_t off_zero = 0;  // bags that need a stored mean
    for (std::size_t k = 0; k < data.sums.bags(); ++k)
      off_zero += data.sums.count(k) > 0 && !zero_fits(k) ? 1 : 0;
    std::vector<std::size_t> found(features, 0);  // of those
    std::vector<bool> apart(features, false);
    visit_means(data.sums, [&](std::size_t k, std::size_t j, double mean) {
      if (!(std::abs(mean - expected(k)) <= kTolerance)) apart[j] = true;
      if (!zero_fits(k)) ++found[j];
    });
    for (std::size_t j = 0; j < features; ++j) {
      if (!apart[j] && found[j] == off_zero) leaked[j] = true;
    }
  }
  std::vector<std::string> out;
  for (std::size_t j = 0; j < features && any_rows(data.sums); ++j) {
    if (leaked[j]) out.push_back(data.feature_names[j]);
  }
  return out;
}

}  // namespace

std::vector<std::string> leaked_features(const ReducedBags& data) {
  // Where all bags have one share, it tells no label, and any constant may equal it.
  const auto& p = data.bags.proportions;
  if (std::all_of(p.begin(), p.end(), [&](double share) { return share == p.front(); })) return {};
  if (data.sums.layout() == BagSums::Layout::kSparse) return leaked_sparse_features(data);
  const DenseRows means = data.sums.means();
  const DenseView view = means.view();
  std::vector<std::string> leaked;
  for (std::size_t j = 0; j < data.feature_names.size(); ++j) {
    const auto on = [&](const auto& line) { return follows(data, view, j, line.first, line.second); };
    if (std::any_of(std::begin(kLines), std::end(kLines), on)) leaked.push_back(data.feature_names[j]);
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
