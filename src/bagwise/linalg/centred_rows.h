// Rows less their mean, as products need them: dense ones a block at a time, sparse ones without filling them
// up.
//
// Below, A stands for the rows of several tables of the same columns, one below the other, less `mean`.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "bagwise/core/observer.h"
#include "bagwise/linalg/rows.h"

namespace bagwise {

inline constexpr std::size_t kCentredBlock =
    512;  // rows that are centred, multiplied and forgotten at a time

// Some rows of a table, one after the other.
struct RowBlock {
  const RowsView* table;
  std::size_t from, count;
};
std::vector<RowBlock> cut_into_blocks(std::span<const RowsView> tables);

// Rows [from, from + count) less the mean, in columns [column, column + columns), written one after the
// other.
void copy_centred(const RowsView& rows, std::size_t from, std::size_t count, std::size_t column,
                  std::size_t columns, const Vector& mean, double* out);

// y = A q for a block, on the calling thread, which holds a SerialBlas; q has one row per column of the
// table, and at_mean is q' mean.
void project(const RowBlock& block, const Vector& mean, const RowMatrix& q, const Vector& at_mean, double* y);

// A'A q, some blocks of rows at a time: nothing has a row for every row of the tables. The same bits whatever
// the number of threads. `watch` is told the share done; nothing if it stops.
std::optional<RowMatrix> gram_times(std::span<const RowsView> tables, const Vector& mean, const RowMatrix& q,
                                    unsigned threads, const std::function<Next(double)>& watch);

}  // namespace bagwise
