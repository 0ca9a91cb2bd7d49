// Columns of the kernel matrix of a table's rows: computed when first asked for, kept while there is room.
//
// Several threads may ask at once. A column has the same bits whether it was kept or computed again, so the
// room never changes a result.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "bagwise/linalg/kernel_rows.h"

namespace bagwise {

class KernelCache {
 public:
  using Column = std::shared_ptr<const std::vector<double>>;  // k(x_i, x_j) for every row j

  // Keeps up to `bytes` of columns (at least one); `rows` must outlive the cache.
  KernelCache(const KernelFunction& kernel, const RowsView& rows, std::size_t bytes);

  [[nodiscard]] std::span<const double> diagonal() const { return diagonal_; }  // k(x_i, x_i)
  // What is returned stays as it is even after it has made way for others.
  Column column(std::size_t i);
  [[nodiscard]] std::size_t computed() const;  // how many columns were computed so far

 private:
  struct Place {
    Column column;
    std::list<std::size_t>::iterator use;  // in recent_, where there is a column
  };

  RowsView rows_;
  KernelSpace space_;
  KernelRows all_;
  std::vector<double> diagonal_;
  std::size_t room_;  // columns
  mutable std::mutex lock_;
  std::vector<Place> places_;
  std::list<std::size_t> recent_;  // columns kept, the last used first
  std::size_t computed_ = 0;
};

}  // namespace bagwise
