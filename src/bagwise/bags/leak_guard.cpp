#include "bagwise/bags/leak_guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <utility>

#include "bagwise/bags/visit_means.h"

namespace bagwise {
namespace {

constexpr double kTolerance = 1e-9;

// What labels may look like: slope * p + offset.
constexpr std::pair<double, double> kLines[] = {{1, 0}, {2, -1}, {-1, 1}, {-2, 1}};

// Whether the mean of feature j is off the line slope * p + offset in a bag that has rows.
bool is_apart(const ReducedBags& data, const DenseView& means, std::size_t j, double slope, double offset) {
  for (std::size_t k = 0; k < means.rows; ++k) {
    if (data.sums.count(k) == 0) continue;
    const double expected = slope * data.bags.proportions[k] + offset;
    if (!(std::abs(means.row(k)[j] - expected) <= kTolerance)) return true;
  }
  return false;
}

void scan_dense(const ReducedBags& data, LeakScan& out) {
  const DenseRows means = data.sums.means();
  std::size_t at = 0;
  for (const auto& [slope, offset] : kLines) {
    for (std::size_t j = 0; j < data.sums.features(); ++j)
      out.apart[at++] = is_apart(data, means.view(), j, slope, offset) ? 1 : 0;
  }
}

// Of sparse sums a mean that is not stored is 0: bags in which 0 is on the line are counted instead.
void scan_sparse(const ReducedBags& data, LeakScan& out) {
  const std::size_t features = data.sums.features();
  std::size_t first = 0;  // of the line
  for (const auto& [slope, offset] : kLines) {
    const auto expected = [&, a = slope, b = offset](std::size_t k) {
      return a * data.bags.proportions[k] + b;
    };
    const auto zero_fits = [&](std::size_t k) { return std::abs(expected(k)) <= kTolerance; };
    std::size_t off_zero = 0;  // bags that need a stored mean
    for (std::size_t k = 0; k < data.sums.bags(); ++k)
      off_zero += data.sums.count(k) > 0 && !zero_fits(k) ? 1 : 0;
    std::vector<std::size_t> found(features, 0);  // of those
    visit_means(data.sums, [&](std::size_t k, std::size_t j, double mean) {
      if (!(std::abs(mean - expected(k)) <= kTolerance)) out.apart[first + j] = 1;
      if (!zero_fits(k)) ++found[j];
    });
    for (std::size_t j = 0; j < features; ++j) {
      if (found[j] != off_zero) out.apart[first + j] = 1;
    }
    first += features;
  }
}

}  // namespace

LeakScan scan_for_leaks(const ReducedBags& data) {
  LeakScan out;
  for (std::size_t k = 0; k < data.sums.bags(); ++k) out.any_rows = out.any_rows || data.sums.count(k) > 0;
  for (const double share : data.bags.proportions) {
    out.least_share = std::min(out.least_share, share);
    out.largest_share = std::max(out.largest_share, share);
  }
  out.apart.assign(std::size(kLines) * data.sums.features(), 0);
  if (data.sums.layout() == BagSums::Layout::kSparse) {
    scan_sparse(data, out);
  } else {
    scan_dense(data, out);
  }
  return out;
}

void LeakScan::merge(const LeakScan& other) {
  assert(apart.size() == other.apart.size());
  for (std::size_t i = 0; i < apart.size(); ++i) apart[i] |= other.apart[i];
  any_rows = any_rows || other.any_rows;
  least_share = std::min(least_share, other.least_share);
  largest_share = std::max(largest_share, other.largest_share);
}

std::vector<std::size_t> LeakScan::leaked() const {
  std::vector<std::size_t> out;
  // Where all bags have one share, it tells no label, and any constant may equal it.
  if (!any_rows || !(least_share < largest_share)) return out;
  const std::size_t features = apart.size() / std::size(kLines);
  for (std::size_t j = 0; j < features; ++j) {
    for (std::size_t line = 0; line < std::size(kLines); ++line) {
      if (apart[line * features + j] != 0) continue;
      out.push_back(j);
      break;
    }
  }
  return out;
}

std::vector<std::string> leaked_features(const ReducedBags& data) {
  std::vector<std::string> out;
  for (const std::size_t j : scan_for_leaks(data).leaked()) out.push_back(data.feature_names[j]);
  return out;
}

Result<void> check_leaks(const LeakScan& scan, const std::vector<std::string>& feature_names,
                         const std::string& file,
                         const std::function<std::string(const std::string&)>& ways_out) {
  const auto leaks = scan.leaked();
  if (leaks.empty()) return {};
  const std::string& name = feature_names[leaks[0]];
  return Error{
      fmt::format("the feature \"{}\" has each bag's proportion as its mean in every bag: it is the label "
                  "under another name; {}",
                  name, ways_out(name)),
      file};
}

Result<void> check_leaks(const ReducedBags& data, const std::string& file,
                         const std::function<std::string(const std::string&)>& ways_out) {
  return check_leaks(scan_for_leaks(data), data.feature_names, file, ways_out);
}

}  // namespace bagwise
