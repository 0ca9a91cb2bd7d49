#include "bagwise/bags/bag_sums.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace bagwise {
namespace {

// high + low += x, as CompensatedSum does it, over a row: branch-free so that it vectorises.
inline void add(double& high, double& low, double x) {
  const double s = high + x;
  const double t = s - high;
  low += (high - (s - t)) + (x - t);
  high = s;
}

}  // namespace

BagSums::BagSums(std::size_t bags, std::size_t features) : features_(features) { grow(bags); }

void BagSums::grow(std::size_t bags) {
  if (bags <= counts_.size()) return;
  counts_.resize(bags, 0);
  bounds_.resize(bags);
  high_.resize(bags * features_, 0.0);
  low_.resize(bags * features_, 0.0);
}

void BagSums::add_row(std::size_t bag, std::span<const double> values, double bound) {
  assert(bag < bags() && values.size() == features_);
  double* const high = high_.data() + bag * features_;
  double* const low = low_.data() + bag * features_;
  for (std::size_t j = 0; j < values.size(); ++j) add(high[j], low[j], values[j]);
  bounds_[bag].add(bound);
  ++counts_[bag];
}

void BagSums::add_sparse_row(std::size_t bag, std::span<const std::int32_t> index,
                             std::span<const double> values, double bound) {
  assert(bag < bags() && index.size() == values.size());
  double* const high = high_.data() + bag * features_;
  double* const low = low_.data() + bag * features_;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const auto j = static_cast<std::size_t>(index[k]);
    add(high[j], low[j], values[k]);
  }
  bounds_[bag].add(bound);
  ++counts_[bag];
}

void BagSums::merge(const BagSums& other, std::span<const std::uint32_t> to) {
  assert(other.features_ == features_ && to.size() == other.bags());
  for (std::size_t k = 0; k < other.bags(); ++k) {
    assert(to[k] < bags());
    double* const high = high_.data() + to[k] * features_;
    double* const low = low_.data() + to[k] * features_;
    const double* const from_high = other.high_.data() + k * features_;
    const double* const from_low = other.low_.data() + k * features_;
    for (std::size_t j = 0; j < features_; ++j) {
      add(high[j], low[j], from_high[j]);
      low[j] += from_low[j];
    }
    bounds_[to[k]].add(other.bounds_[k]);
    counts_[to[k]] += other.counts_[k];
  }
}

void BagSums::merge(const BagSums& other) {
  assert(other.bags() <= bags());
  std::vector<std::uint32_t> same(other.bags());
  for (std::size_t k = 0; k < same.size(); ++k) same[k] = static_cast<std::uint32_t>(k);
  merge(other, same);
}

double BagSums::sum(std::size_t bag, std::size_t feature) const {
  return high_[bag * features_ + feature] + low_[bag * features_ + feature];
}

DenseRows BagSums::means() const {
  DenseRows out(bags(), features_);
  for (std::size_t k = 0; k < bags(); ++k) {
    if (counts_[k] == 0) continue;
    const auto n = static_cast<double>(counts_[k]);
    for (std::size_t j = 0; j < features_; ++j) out(k, j) = sum(k, j) / n;
  }
  return out;
}

double BagSums::mean_bound(std::size_t bag) const {
  return counts_[bag] == 0 ? 0.0 : bounds_[bag].value() / static_cast<double>(counts_[bag]);
}

std::vector<double> BagSums::pack() const {
  std::vector<double> out(counts_.begin(), counts_.end());
  for (const CompensatedSum& b : bounds_) out.push_back(b.high), out.push_back(b.low);
  out.insert(out.end(), high_.begin(), high_.end());
  out.insert(out.end(), low_.begin(), low_.end());
  return out;
}

void BagSums::unpack(std::span<const double> packed) {
  assert(packed.size() == 3 * bags() + 2 * high_.size());
  const double* from = packed.data();
  for (auto& n : counts_) n = static_cast<std::uint64_t>(*from++);
  for (CompensatedSum& b : bounds_) b = {from[0], from[1]}, from += 2;
  for (auto& v : high_) v = *from++;
  for (auto& v : low_) v = *from++;
}

BagSums BagSums::reordered(std::span<const std::uint32_t> order) const {
  BagSums out;
  out.features_ = features_;
  for (const std::uint32_t k : order) {
    const auto from = static_cast<std::ptrdiff_t>(k * features_);
    const auto to = static_cast<std::ptrdiff_t>((k + std::size_t{1}) * features_);
    out.counts_.push_back(counts_[k]);
    out.bounds_.push_back(bounds_[k]);
    out.high_.insert(out.high_.end(), high_.begin() + from, high_.begin() + to);
    out.low_.insert(out.low_.end(), low_.begin() + from, low_.begin() + to);
  }
  return out;
}

namespace {

// x^2 with the rounding error of the product kept, so that a variance survives a mean of 1e9 times its root.
void add_square(CompensatedSum& sum, double x) {
  const double square = x * x;
  sum.add(square);
  if (std::isfinite(square)) sum.low += std::fma(x, x, -square);
}

}  // namespace

void FeatureMoments::add_row(std::span<const double> values) {
  assert(values.size() == sum.size());
  ++rows;
  for (std::size_t j = 0; j < values.size(); ++j) {
    sum[j].add(values[j]);
    add_square(sum_of_squares[j], values[j]);
    largest[j] = std::max(largest[j], std::abs(values[j]));
  }
}

void FeatureMoments::add_sparse_row(std::span<const std::int32_t> index, std::span<const double> values) {
  ++rows;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const auto j = static_cast<std::size_t>(index[k]);
    sum[j].add(values[k]);
    add_square(sum_of_squares[j], values[k]);
    largest[j] = std::max(largest[j], std::abs(values[k]));
  }
}

double FeatureMoments::mean(std::size_t feature) const {
  return sum[feature].value() / static_cast<double>(rows);
}

double FeatureMoments::variance(std::size_t feature) const {
  __extension__ using Wide = __float128;
  const auto wide = [](const CompensatedSum& s) {
    return static_cast<Wide>(s.high) + static_cast<Wide>(s.low);
  };
  const Wide n = static_cast<Wide>(rows), total = wide(sum[feature]);
  return static_cast<double>((wide(sum_of_squares[feature]) - total * total / n) / n);
}

void FeatureMoments::merge(const FeatureMoments& other) {
  rows += other.rows;
  for (std::size_t j = 0; j < sum.size(); ++j) {
    sum[j].add(other.sum[j]);
    sum_of_squares[j].add(other.sum_of_squares[j]);
    largest[j] = std::max(largest[j], other.largest[j]);
  }
}

}  // namespace bagwise
