// The principal axes of rows, exact where one side of the table is short, else randomised and truncated.
//
//   A = rows - 1 mean',    A' A v_i = s_i^2 v_i,    s_1 >= s_2 >= ...
//
// Exact: all eigenvectors of A'A (few columns) or of A A' (few rows). Else by subspace iteration from a
// seeded Gaussian block. Rows are centred before they are multiplied where they are dense (a block at a
// time), and by what the mean adds to the products where they are sparse, which are never filled up.
//
// See     Halko, Martinsson and Tropp (2011), Finding structure with randomness, SIAM Review 53.
// Test    principal_axes_test.cpp compares with the singular values and vectors of the whole dense table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "bagwise/core/observer.h"
#include "bagwise/linalg/rows.h"

namespace bagwise {

struct PrincipalAxes {
  Vector mean;       // of all rows
  RowMatrix axes;    // v_i, one per row, orthonormal; its largest entry is positive
  Vector singular;   // s_i, falling, all positive; none: all rows are equal
  double total = 0;  // the sum of all s_i^2, also of those left out: squared distances from the mean

  [[nodiscard]] std::size_t rank() const { return static_cast<std::size_t>(singular.size()); }
};

struct AxesOptions {
  std::size_t most = 256;          // axes, where they are not exact
  std::size_t exact_up_to = 1024;  // rows or columns, whichever are fewer
  std::uint64_t seed = 1;
  unsigned threads = 0;  // never changes a bit
  Observer observer = {};
};

// Axes whose s_i is below this share of s_1 are left out: their squares are rounding errors of the largest.
inline constexpr double kAxesCutoff = 1e-6;

// Of the rows of all tables together, which have the same columns; there is at least one row. Numbers too
// large to be squared give an axis or a singular value that is not finite. Nothing if the observer stopped
// it.
std::optional<PrincipalAxes> principal_axes(std::span<const RowsView> tables, const AxesOptions& options);

// axes (row - mean) for the `count` rows from `from` on, one row each; in fixed blocks.
RowMatrix coordinates(const PrincipalAxes& axes, const RowsView& rows, std::size_t from, std::size_t count,
                      unsigned threads = 0);

}  // namespace bagwise
