// Products of rows with vectors, on several threads, the same bits whatever their number.
#pragma once

#include <span>

#include "bagwise/linalg/rows.h"

namespace bagwise {

// out[i] = rows_i . x
void multiply(const RowsView& rows, const VectorRef& x, std::span<double> out, unsigned threads = 1);

// The same to bits that depend on the row and on x alone, not on the rows beside it: whoever scores a table
// in other parts gets the same. (BLAS adds up a row in an order that depends on its place.)
void multiply_each(const RowsView& rows, const VectorRef& x, std::span<double> out, unsigned threads = 1);

// out = sum_i c[i] rows_i, added in fixed blocks and in their order.
Vector multiply_transposed(const RowsView& rows, std::span<const double> c, unsigned threads = 1);

// The same for several vectors at once, in blocks of their own.
// out(i, s) = rows_i . w_s for the rows w_s of `w`.
RowMatrix products_with(const RowsView& rows, const RowMatrix& w, unsigned threads = 1);
// out_s = sum_i c(s, i) rows_i: one row for each of `c`, which has a column per row of the table.
RowMatrix combinations(const RowsView& rows, const RowMatrix& c, unsigned threads = 1);

// The same for the rows from `from` on, as many as `out` or `c` has, on the calling thread: for those who do
// more with a block while it is in the cache. They hold a SerialBlas.
void multiply_block(const RowsView& rows, std::size_t from, const VectorRef& x, std::span<double> out);
void add_block(const RowsView& rows, std::size_t from, std::span<const double> c, Vector& out);  // out += ...

}  // namespace bagwise
