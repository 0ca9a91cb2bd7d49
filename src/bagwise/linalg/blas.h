// The dense kernels that OpenBLAS does for us: products, Gram matrices, Cholesky factors.
//
// OpenBLAS picks the CPU's kernels when it runs. Its own threads are never used (their number would change
// the bits); who wants several threads runs fixed pieces with core/parallel.h while holding a SerialBlas.
#pragma once

#include <cstddef>
#include <span>

#include "bagwise/linalg/rows.h"

namespace bagwise {

// While at least one of these lives, OpenBLAS runs each call on the calling thread alone.
class SerialBlas {
 public:
  SerialBlas();
  ~SerialBlas();
  SerialBlas(const SerialBlas&) = delete;
  SerialBlas& operator=(const SerialBlas&) = delete;
};

// out = A x and out += A' c for row-major A (rows x columns).
void dense_multiply(const double* a, std::size_t rows, std::size_t columns, const double* x, double* out);
void dense_add_transposed(const double* a, std::size_t rows, std::size_t columns, const double* c,
                          double* out);

// out (rows x columns) = A B for A (rows x inner) and B (inner x columns), and = A B' for B (columns x
// inner); all row-major.
void dense_product(const double* a, std::size_t rows, const double* b, std::size_t columns, std::size_t inner,
                   double* out);
void dense_product_transposed(const double* a, std::size_t rows, const double* b, std::size_t columns,
                              std::size_t inner, double* out);

// Lower triangle of out (columns x columns) += A' A, for row-major A.
void add_column_gram(const double* a, std::size_t rows, std::size_t columns, ColMatrix& out);

// Lower triangle of out (rows x rows) += A A', for row-major A.
void add_row_gram(const double* a, std::size_t rows, std::size_t columns, ColMatrix& out);

// Rows l_i with l_i . l_j = a_ij to rounding, as short as the rank of the symmetric positive semidefinite `a`
// (lower triangle): its Cholesky factor with pivots.
RowMatrix pivoted_cholesky(ColMatrix a);

// A = L L' of a symmetric positive definite matrix.
class Cholesky {
 public:
  // Takes the lower triangle of `a`; false if it is not positive definite to working precision.
  [[nodiscard]] bool factor(ColMatrix a);
  void solve_in_place(Vector& b) const;     // b := A^-1 b
  void solve_in_place(ColMatrix& b) const;  // each column
  // The inverse (full, symmetric).
  [[nodiscard]] ColMatrix inverse() const;

 private:
  ColMatrix l_;
};

}  // namespace bagwise
