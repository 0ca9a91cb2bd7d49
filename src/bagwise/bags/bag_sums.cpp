#include "bagwise/bags/bag_sums.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <utility>

namespace bagwise {
namespace {

// high + low += x, as CompensatedSum does it, over a row: branch-free so that it vectorises.
inline void add(double& high, double& low, double x) {
  const double s = high + x;
  const double t = s - high;
  low += (high - (s - t)) + (x - t);
  high = s;
}

constexpr std::size_t kDenseFeatures = 1024;  // up to here sums are dense
constexpr std::size_t kUnsettled = 64;        // so many entries of a bag may be out of order in any case

}  // namespace

BagSums::BagSums(std::size_t bags, std::size_t features, Layout layout)
    : layout_(layout), features_(features) {
  grow(bags);
}

BagSums::Layout BagSums::layout_for(bool sparse_table, std::size_t features) {
  return sparse_table && features > kDenseFeatures ? Layout::kSparse : Layout::kDense;
}

void BagSums::grow(std::size_t bags) {
  if (bags <= counts_.size()) return;
  counts_.resize(bags, 0);
  bounds_.resize(bags);
  if (layout_ == Layout::kSparse) {
    entries_.resize(bags);
    return;
  }
  high_.resize(bags * features_, 0.0);
  low_.resize(bags * features_, 0.0);
}

void BagSums::reserve(std::size_t bags) {
  counts_.reserve(bags);
  bounds_.reserve(bags);
  if (layout_ == Layout::kSparse) return entries_.reserve(bags);
  high_.reserve(bags * features_);
  low_.reserve(bags * features_);
}

// Stable, so that entries of one feature are added in the order in which they came.
void BagSums::settle(Entries& entries) {
  const auto by_feature = [](const Entry& a, const Entry& b) { return a.feature < b.feature; };
  const auto tail = entries.all.begin() + static_cast<std::ptrdiff_t>(entries.settled);
  std::stable_sort(tail, entries.all.end(), by_feature);
  std::inplace_merge(entries.all.begin(), tail, entries.all.end(), by_feature);
  std::size_t kept = 0;
  for (const Entry& entry : entries.all) {
    if (kept > 0 && entries.all[kept - 1].feature == entry.feature) {
      Entry& sum = entries.all[kept - 1];
      bagwise::add(sum.high, sum.low, entry.high);
      sum.low += entry.low;
    } else {
      entries.all[kept++] = entry;
    }
  }
  entries.all.resize(kept);
  entries.settled = kept;
}

// Put in order when there is as much new as old: then every entry is moved a few times only.
void BagSums::append(Entries& entries, const Entry& entry) {
  entries.all.push_back(entry);
  if (entries.all.size() - entries.settled > std::max(kUnsettled, entries.settled)) settle(entries);
}

template <class Visit>
void BagSums::visit_entries(std::size_t k, const Visit& visit) const {
  if (layout_ == Layout::kSparse) {
    for (const Entry& entry : entries_[k].all) visit(entry);
    return;
  }
  for (std::size_t j = 0; j < features_; ++j) {
    const double high = high_[k * features_ + j], low = low_[k * features_ + j];
    if (high != 0 || low != 0) visit(Entry{static_cast<std::uint32_t>(j), high, low});
  }
}

void BagSums::add_row(std::size_t bag, std::span<const double> values, double bound) {
  assert(bag < bags() && values.size() == features_ && layout_ == Layout::kDense);
  double* const high = high_.data() + bag * features_;
  double* const low = low_.data() + bag * features_;
  for (std::size_t j = 0; j < values.size(); ++j) add(high[j], low[j], values[j]);
  bounds_[bag].add(bound);
  ++counts_[bag];
}

namespace {

constexpr std::size_t kNearBytes = std::size_t{1} << 18;  // sums of this size stay in the cache
constexpr std::size_t kAhead = 4;                         // rows whose sums are fetched before their turn
constexpr std::size_t kLine = 64 / sizeof(double);        // of the cache
constexpr std::size_t kNextValues = 2048;                 // values this far behind are fetched: used next

// Row after row, each to its own bag, with what is left of its values where `lows` is not null; with `far`,
// sums are fetched into the cache ahead of time.
// Inlined into functions for different processors, not cloned for the loader: see linalg/kernels.cpp.
[[gnu::always_inline]] inline void add_rows_inline(double* high, double* low, const double* values,
                                                   const double* lows, std::size_t features,
                                                   const std::uint32_t* bags, std::size_t count, bool far) {
  for (std::size_t i = 0; i < count; ++i) {
    if (far && i + kAhead < count) {
      const std::size_t at = bags[i + kAhead] * features;
      for (std::size_t j = 0; j < features + kLine - 1; j += kLine) {
        __builtin_prefetch(high + at + j, 1);
        __builtin_prefetch(low + at + j, 1);
      }
    }
    double* const h = high + bags[i] * features;
    double* const l = low + bags[i] * features;
    const double* const x = values + i * features;
    for (std::size_t j = 0; j < features; j += kLine) __builtin_prefetch(x + kNextValues + j);
#pragma GCC ivdep  // NOLINT(clang-diagnostic-unknown-pragmas)
    for (std::size_t j = 0; j < features; ++j) {
      const double s = h[j] + x[j];
      const double t = s - h[j];
      l[j] += (h[j] - (s - t)) + (x[j] - t);
      h[j] = s;
    }
    if (lows == nullptr) continue;
    const double* const y = lows + i * features;
#pragma GCC ivdep  // NOLINT(clang-diagnostic-unknown-pragmas)
    for (std::size_t j = 0; j < features; ++j) l[j] += y[j];
  }
}

void add_rows_anywhere(double* high, double* low, const double* values, const double* lows,
                       std::size_t features, const std::uint32_t* bags, std::size_t count, bool far) {
  add_rows_inline(high, low, values, lows, features, bags, count, far);
}

#ifdef __x86_64__
__attribute__((target("avx2"))) void add_rows_wide(double* high, double* low, const double* values,
                                                   const double* lows, std::size_t features,
                                                   const std::uint32_t* bags, std::size_t count, bool far) {
  add_rows_inline(high, low, values, lows, features, bags, count, far);
}
#endif

auto add_rows_here() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") > 0) return &add_rows_wide;
#endif
  return &add_rows_anywhere;
}

}  // namespace

void BagSums::add_rows(std::span<const std::uint32_t> bags, const DenseView& values,
                       std::span<const double> bounds, double bound) {
  assert(bags.size() == values.rows && values.columns == features_ && layout_ == Layout::kDense);
  for (std::size_t i = 0; i < bags.size() && (bound != 0 || !bounds.empty()); ++i)
    bounds_[bags[i]].add(bounds.empty() ? bound : bounds[i]);
  for (const std::uint32_t bag : bags) ++counts_[bag];
  add_rows_here()(high_.data(), low_.data(), values.values, nullptr, features_, bags.data(), bags.size(),
                  are_far());
}

bool BagSums::are_far() const { return 2 * sizeof(double) * high_.size() > kNearBytes; }

void BagSums::add_sparse_row(std::size_t bag, std::span<const std::int32_t> index,
                             std::span<const double> values, double bound) {
  assert(bag < bags() && index.size() == values.size());
  bounds_[bag].add(bound);
  ++counts_[bag];
  if (layout_ == Layout::kSparse) {
    for (std::size_t k = 0; k < values.size(); ++k)
      append(entries_[bag], {static_cast<std::uint32_t>(index[k]), values[k], 0.0});
    return;
  }
  double* const high = high_.data() + bag * features_;
  double* const low = low_.data() + bag * features_;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const auto j = static_cast<std::size_t>(index[k]);
    add(high[j], low[j], values[k]);
  }
}

void BagSums::merge(const BagSums& other, std::span<const std::uint32_t> to) {
  assert(other.features_ == features_ && to.size() == other.bags());
  for (std::size_t k = 0; k < other.bags(); ++k) {
    assert(to[k] < bags());
    bounds_[to[k]].add(other.bounds_[k]);
    counts_[to[k]] += other.counts_[k];
    if (layout_ == Layout::kSparse) {
      other.visit_entries(k, [&](const Entry& entry) { append(entries_[to[k]], entry); });
      continue;
    }
    if (other.layout_ == Layout::kDense) continue;
    double* const high = high_.data() + to[k] * features_;
    double* const low = low_.data() + to[k] * features_;
    other.visit_entries(k, [&](const Entry& entry) {
      add(high[entry.feature], low[entry.feature], entry.high);
      low[entry.feature] += entry.low;
    });
  }
  if (layout_ == Layout::kDense && other.layout_ == Layout::kDense)
    add_rows_here()(high_.data(), low_.data(), other.high_.data(), other.low_.data(), features_, to.data(),
                    to.size(), are_far());
}

void BagSums::merge(const BagSums& other) {
  assert(other.bags() <= bags());
  std::vector<std::uint32_t> same(other.bags());
  for (std::size_t k = 0; k < same.size(); ++k) same[k] = static_cast<std::uint32_t>(k);
  merge(other, same);
}

double BagSums::sum(std::size_t bag, std::size_t feature) const {
  if (layout_ == Layout::kDense) return high_[bag * features_ + feature] + low_[bag * features_ + feature];
  const Entries& entries = entries_[bag];
  const auto tail = entries.all.begin() + static_cast<std::ptrdiff_t>(entries.settled);
  CompensatedSum out;
  const auto at = std::lower_bound(entries.all.begin(), tail, feature,
                                   [](const Entry& entry, std::size_t j) { return entry.feature < j; });
  if (at != tail && at->feature == feature) out = {at->high, at->low};
  for (auto entry = tail; entry != entries.all.end(); ++entry) {
    if (entry->feature == feature) out.add(CompensatedSum{entry->high, entry->low});
  }
  return out.value();
}

DenseRows BagSums::means() const {
  DenseRows out(bags(), features_);
  for (std::size_t k = 0; k < bags(); ++k) {
    if (counts_[k] == 0) continue;
    const auto n = static_cast<double>(counts_[k]);
    if (layout_ == Layout::kSparse) {
      for (const Entry& entry : sparse_bag(k).entries) out(k, entry.feature) = (entry.high + entry.low) / n;
      continue;
    }
    for (std::size_t j = 0; j < features_; ++j) out(k, j) = sum(k, j) / n;
  }
  return out;
}

Features BagSums::mean_rows() const {
  if (layout_ == Layout::kDense) return means();
  Csr out;
  out.columns = features_;
  for (std::size_t k = 0; k < bags(); ++k) {
    const auto n = static_cast<double>(std::max<std::uint64_t>(counts_[k], 1));
    for (const Entry& entry : sparse_bag(k).entries) {
      out.index.push_back(static_cast<std::int32_t>(entry.feature));
      out.values.push_back((entry.high + entry.low) / n);
    }
    out.start.push_back(static_cast<std::int64_t>(out.index.size()));
  }
  return out;
}

double BagSums::mean_bound(std::size_t bag) const {
  return counts_[bag] == 0 ? 0.0 : bounds_[bag].value() / static_cast<double>(counts_[bag]);
}

std::vector<double> BagSums::pack() const {
  std::vector<double> out(counts_.begin(), counts_.end());
  for (const CompensatedSum& b : bounds_) out.push_back(b.high), out.push_back(b.low);
  if (layout_ == Layout::kSparse) {
    const std::size_t from = out.size(), size = bags() * features_;
    out.resize(from + 2 * size, 0.0);
    for (std::size_t k = 0; k < bags(); ++k) {
      for (const Entry& entry : sparse_bag(k).entries) {
        out[from + k * features_ + entry.feature] = entry.high;
        out[from + size + k * features_ + entry.feature] = entry.low;
      }
    }
    return out;
  }
  out.insert(out.end(), high_.begin(), high_.end());
  out.insert(out.end(), low_.begin(), low_.end());
  return out;
}

void BagSums::unpack(std::span<const double> packed) {
  assert(layout_ == Layout::kDense && packed.size() == 3 * bags() + 2 * high_.size());
  const double* from = packed.data();
  for (auto& n : counts_) n = static_cast<std::uint64_t>(*from++);
  for (CompensatedSum& b : bounds_) b = {from[0], from[1]}, from += 2;
  for (auto& v : high_) v = *from++;
  for (auto& v : low_) v = *from++;
}

BagSums BagSums::reordered(std::span<const std::uint32_t> order) const {
  BagSums out(0, features_, layout_);
  for (const std::uint32_t k : order) {
    if (layout_ == Layout::kSparse) {
      out.grow(out.bags() + 1);
      out.set(out.bags() - 1, sparse_bag(k));
      continue;
    }
    const auto from = static_cast<std::ptrdiff_t>(k * features_);
    const auto to = static_cast<std::ptrdiff_t>((k + std::size_t{1}) * features_);
    out.counts_.push_back(counts_[k]);
    out.bounds_.push_back(bounds_[k]);
    out.high_.insert(out.high_.end(), high_.begin() + from, high_.begin() + to);
    out.low_.insert(out.low_.end(), low_.begin() + from, low_.begin() + to);
  }
  return out;
}

BagSums BagSums::replaced(std::span<const std::uint32_t> to, std::size_t features) const {
  assert(to.size() == features_);
  // What was narrow and gets wide is mostly zeros.
  const bool sparse = layout_ == Layout::kSparse || features > std::max(kDenseFeatures, 2 * features_);
  BagSums out(bags(), features, sparse ? Layout::kSparse : Layout::kDense);
  out.counts_ = counts_;
  out.bounds_ = bounds_;
  for (std::size_t k = 0; k < bags(); ++k) {
    visit_entries(k, [&](Entry entry) {
      entry.feature = to[entry.feature];
      if (entry.feature == kNowhere) return;
      if (sparse) {
        out.entries_[k].all.push_back(entry);
      } else {
        out.high_[k * features + entry.feature] = entry.high;
        out.low_[k * features + entry.feature] = entry.low;
      }
    });
    if (sparse) settle(out.entries_[k]);
  }
  return out;
}

BagSums::SparseBag BagSums::sparse_bag(std::size_t k) const {
  assert(layout_ == Layout::kSparse);
  Entries entries = entries_[k];
  settle(entries);
  return {counts_[k], bounds_[k], std::move(entries.all)};
}

void BagSums::set(std::size_t k, SparseBag bag) {
  assert(layout_ == Layout::kSparse);
  counts_[k] = bag.count;
  bounds_[k] = bag.bound;
  const std::size_t size = bag.entries.size();
  entries_[k] = {std::move(bag.entries), size};
}

BagSums::Bag BagSums::bag(std::size_t k) const {
  return {counts_[k], bounds_[k], std::span(high_).subspan(k * features_, features_),
          std::span(low_).subspan(k * features_, features_)};
}

void BagSums::set(std::size_t k, const Bag& bag) {
  assert(bag.high.size() == features_ && bag.low.size() == features_);
  counts_[k] = bag.count;
  bounds_[k] = bag.bound;
  const auto at = static_cast<std::ptrdiff_t>(k * features_);
  std::copy(bag.high.begin(), bag.high.end(), high_.begin() + at);
  std::copy(bag.low.begin(), bag.low.end(), low_.begin() + at);
}

}  // namespace bagwise
