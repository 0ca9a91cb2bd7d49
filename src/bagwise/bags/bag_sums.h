// BagSums: what the linear methods see of the data: per bag the count, the feature sums and the sum of
// bounds.
//
// A mergeable statistic: sums over blocks, files or machines add up, and because they are compensated the
// order of adding does not matter to 1e-14. It holds no proportions (bagged_data.h) and no labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bagwise/data/dataset.h"
#include "bagwise/linalg/compensated.h"
#include "bagwise/linalg/rows.h"

namespace bagwise {

class BagSums {
 public:
  BagSums() = default;
  // Dense sums hold every feature of every bag. Sparse ones hold what occurs in a bag: of tables with many
  // features, of which a bag has few.
  enum class Layout : std::uint8_t { kDense, kSparse };
  BagSums(std::size_t bags, std::size_t features, Layout layout = Layout::kDense);
  // How the sums of a table are kept: those of a sparse one with more than 1024 features are sparse (up to
  // there a bag takes 16 KB at most, and dense sums are quicker).
  static Layout layout_for(bool sparse_table, std::size_t features);
  [[nodiscard]] Layout layout() const { return layout_; }

  [[nodiscard]] std::size_t bags() const { return counts_.size(); }
  [[nodiscard]] std::size_t features() const { return features_; }

  // Makes room for more bags (new ones are empty).
  void grow(std::size_t bags);
  // Gets the memory for so many bags at once, where grow() is going to be called again and again.
  void reserve(std::size_t bags);

  void add_row(std::size_t bag, std::span<const double> values, double bound);
  void add_sparse_row(std::size_t bag, std::span<const std::int32_t> index, std::span<const double> values,
                      double bound);
  // Row i to bag bags[i], to the same bits as one by one; `bound` is that of every row where `bounds` is
  // empty.
  void add_rows(std::span<const std::uint32_t> bags, const DenseView& values, std::span<const double> bounds,
                double bound);

  // Adds bag k of `other` to bag to[k] of this one; both have the same features.
  void merge(const BagSums& other, std::span<const std::uint32_t> to);
  void merge(const BagSums& other);  // bag k to bag k

  [[nodiscard]] std::uint64_t count(std::size_t bag) const { return counts_[bag]; }
  [[nodiscard]] double sum(std::size_t bag, std::size_t feature) const;
  [[nodiscard]] double bound_sum(std::size_t bag) const { return bounds_[bag].value(); }

  // The mean of each bag, one per row; a bag without rows has mean 0.
  [[nodiscard]] DenseRows means() const;
  // The same as sparse rows where the sums are sparse.
  [[nodiscard]] Features mean_rows() const;
  // The mean bound of a bag's rows.
  [[nodiscard]] double mean_bound(std::size_t bag) const;

  // All of it as plain numbers that can be added entry by entry, and back.
  [[nodiscard]] std::vector<double> pack() const;
  void unpack(std::span<const double> packed);  // as many as pack() gives; of dense sums

  // The bags in another order: bag k of the result is bag order[k] of this.
  [[nodiscard]] BagSums reordered(std::span<const std::uint32_t> order) const;
  // The features in other places: feature j of this is feature to[j] of the result, or is left out
  // (kNowhere); all others are 0.
  static constexpr std::uint32_t kNowhere = 0xffffffff;
  [[nodiscard]] BagSums replaced(std::span<const std::uint32_t> to, std::size_t features) const;

  // One bag of dense sums as it is kept, and a bag set to such parts.
  struct Bag {
    std::uint64_t count = 0;
    CompensatedSum bound;
    std::span<const double> high, low;
  };
  [[nodiscard]] Bag bag(std::size_t k) const;
  void set(std::size_t k, const Bag& bag);
  // The same of sparse sums: features ascending, each once.
  struct Entry {
    std::uint32_t feature = 0;
    double high = 0, low = 0;
  };
  struct SparseBag {
    std::uint64_t count = 0;
    CompensatedSum bound;
    std::vector<Entry> entries;
  };
  [[nodiscard]] SparseBag sparse_bag(std::size_t k) const;
  void set(std::size_t k, SparseBag bag);

 private:
  // What was added lies behind what is in order, until it is worth putting in order (settle).
  struct Entries {
    std::vector<Entry> all;
    std::size_t settled = 0;
  };
  static void settle(Entries& entries);
  static void append(Entries& entries, const Entry& entry);
  [[nodiscard]] bool are_far() const;  // dense sums that do not stay in the cache
  template <class Visit>
  void visit_entries(std::size_t k, const Visit& visit) const;

  Layout layout_ = Layout::kDense;
  std::size_t features_ = 0;
  std::vector<std::uint64_t> counts_;
  std::vector<double> high_, low_;  // bags x features: the sum is high + low; of dense sums
  std::vector<Entries> entries_;    // per bag; of sparse sums
  std::vector<CompensatedSum> bounds_;
};

}  // namespace bagwise
