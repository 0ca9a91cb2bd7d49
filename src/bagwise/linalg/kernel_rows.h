// Blocks of rows made ready for a kernel: gathered, centred, with their squared lengths.
//
// Preparing costs a pass over the rows, comparing two blocks one per pair: who compares a block with many
// others prepares it once. The kernels themselves, and sums over whole tables, are in kernel_function.h.
#pragma once

#include <span>
#include <vector>

#include "bagwise/linalg/kernel_function.h"
#include "bagwise/linalg/rows.h"

namespace bagwise {

// What the blocks that are to be compared have in common.
//
// Squared distances come from |x|^2 + |z|^2 - 2 x.z, which loses what it is about where rows are far from the
// origin but near each other. So dense rows are moved to a common centre first, and a pair that is still near
// compared with its distance from the centre is computed again from its difference.
struct KernelSpace {
  KernelFunction kernel;
  std::size_t columns = 0;
  bool dense = true;  // every block is held dense; else blocks of sparse tables are held sparse
  Vector centre;      // taken off dense rows; empty: nothing

  // For comparing rows of a with rows of b (same columns), whose mean is the centre. Sparse tables stay
  // sparse unless they are narrow and well filled, where dense products are faster.
  KernelSpace(const KernelFunction& function, const RowsView& a, const RowsView& b);
};

class KernelRows {
 public:
  // Rows [from, from + count) of a table, or those of the given numbers.
  KernelRows(const KernelSpace& space, const RowsView& table, std::size_t from, std::size_t count);
  KernelRows(const KernelSpace& space, const RowsView& table, std::span<const std::size_t> which);

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] bool sparse() const { return sparse_; }
  [[nodiscard]] const RowMatrix& dense_rows() const { return values_; }
  [[nodiscard]] const Csr& sparse_rows() const { return csr_; }
  [[nodiscard]] const Vector& squares() const { return squares_; }  // |x_i|^2, with the rbf kernel only

 private:
  void gather(const KernelSpace& space, const DenseView& table, const std::size_t* which, std::size_t from);
  void gather(const KernelSpace& space, const CsrView& table, const std::size_t* which, std::size_t from);
  void finish(const KernelSpace& space);

  std::size_t rows_ = 0, columns_ = 0;
  bool sparse_ = false;
  RowMatrix values_;
  Csr csr_;
  Vector squares_;
};

// out(i, j) = a_i . b_j, in centred coordinates where the space has a centre.
void row_products(const KernelRows& a, const KernelRows& b, RowMatrix& out);

// out(i, j) = k(a_i, b_j). An rbf value is never above 1, and 1 for equal rows.
void kernel_block(const KernelSpace& space, const KernelRows& a, const KernelRows& b, RowMatrix& out);

}  // namespace bagwise
