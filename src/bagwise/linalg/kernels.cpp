#include "bagwise/linalg/kernels.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <vector>

#include "bagwise/core/parallel.h"
#include "bagwise/linalg/blas.h"

namespace bagwise {
namespace {

constexpr std::size_t kBlockRows = 4096;  // fixed: the bits must not depend on the number of threads
constexpr std::size_t kBlocksAtOnce = 32;

std::size_t block_count(std::size_t rows) { return (rows + kBlockRows - 1) / kBlockRows; }

void multiply_block(const DenseView& rows, const VectorRef& x, std::span<double> out, std::size_t from) {
  dense_multiply(rows.values + from * rows.columns, out.size(), rows.columns, x.data(), out.data());
}

void multiply_block(const CsrView& rows, const VectorRef& x, std::span<double> out, std::size_t from) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    double sum = 0;
    const auto end = static_cast<std::size_t>(rows.start[from + i + 1]);
    for (auto k = static_cast<std::size_t>(rows.start[from + i]); k < end; ++k)
      sum += rows.values[k] * x[rows.index[k]];
    out[i] = sum;
  }
}

// Sums over every eighth column, side by side, are added at the end: the same order on every processor.
constexpr std::size_t kLanes = 8;
using Lanes [[gnu::vector_size(kLanes * sizeof(double))]] = double;

// Inlined into functions for different processors. (Clones that the loader chooses among would do it by
// themselves, but programs of the thread sanitizer die of them before they begin.)
[[gnu::always_inline]] inline void dot_each_inline(const double* rows, std::size_t columns, const double* x,
                                                   double* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i, rows += columns) {
    Lanes sums = {}, a, b;
    std::size_t j = 0;
    for (; j + kLanes <= columns; j += kLanes) {
      std::memcpy(&a, rows + j, sizeof a);
      std::memcpy(&b, x + j, sizeof b);
      sums += a * b;
    }
    for (std::size_t k = 0; j < columns; ++j, ++k) sums[k] += rows[j] * x[j];
    out[i] = ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
  }
}

void dot_each_anywhere(const double* rows, std::size_t columns, const double* x, double* out,
                       std::size_t count) {
  dot_each_inline(rows, columns, x, out, count);
}

#ifdef __x86_64__
__attribute__((target("avx2"))) void dot_each_wide(const double* rows, std::size_t columns, const double* x,
                                                   double* out, std::size_t count) {
  dot_each_inline(rows, columns, x, out, count);
}
#endif

auto dot_each_here() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") > 0) return &dot_each_wide;
#endif
  return &dot_each_anywhere;
}

void multiply_each_block(const DenseView& rows, const VectorRef& x, std::span<double> out, std::size_t from) {
  dot_each_here()(rows.values + from * rows.columns, rows.columns, x.data(), out.data(), out.size());
}

void multiply_each_block(const CsrView& rows, const VectorRef& x, std::span<double> out, std::size_t from) {
  multiply_block(rows, x, out, from);
}

// work(from, out of those rows) over fixed blocks of rows, on several threads.
template <class Work>
void over_blocks(std::span<double> out, unsigned threads, const Work& work) {
  parallel_for(block_count(out.size()), threads, [&](std::size_t b) {
    const std::size_t from = b * kBlockRows;
    work(from, out.subspan(from, std::min(kBlockRows, out.size() - from)));
  });
}

void add_block(const DenseView& rows, std::span<const double> c, std::size_t from, Vector& out) {
  dense_add_transposed(rows.values + from * rows.columns, c.size(), rows.columns, c.data(), out.data());
}

void add_block(const CsrView& rows, std::span<const double> c, std::size_t from, Vector& out) {
  for (std::size_t i = 0; i < c.size(); ++i) {
    if (c[i] == 0) continue;
    const auto end = static_cast<std::size_t>(rows.start[from + i + 1]);
    for (auto k = static_cast<std::size_t>(rows.start[from + i]); k < end; ++k)
      out[rows.index[k]] += c[i] * rows.values[k];
  }
}

// For several vectors: fewer rows are worth a thread.
constexpr std::size_t kBlockOfMany = 512;

void products_block(const DenseView& rows, const RowMatrix& w, std::size_t from, std::size_t count,
                    RowMatrix& out) {
  const auto vectors = static_cast<std::size_t>(w.rows());
  dense_product_transposed(rows.values + from * rows.columns, count, w.data(), vectors, rows.columns,
                           out.data() + from * vectors);
}

void products_block(const CsrView& rows, const RowMatrix& w, std::size_t from, std::size_t count,
                    RowMatrix& out) {
  for (std::size_t i = from; i < from + count; ++i) {
    const auto end = static_cast<std::size_t>(rows.start[i + 1]);
    for (Eigen::Index s = 0; s < w.rows(); ++s) {
      const double* vector = w.row(s).data();
      double sum = 0;
      for (auto k = static_cast<std::size_t>(rows.start[i]); k < end; ++k)
        sum += rows.values[k] * vector[rows.index[k]];
      out(static_cast<Eigen::Index>(i), s) = sum;
    }
  }
}

RowMatrix combine_block(const DenseView& rows, const RowMatrix& c, std::size_t from) {
  RowMatrix out(c.rows(), static_cast<Eigen::Index>(rows.columns));
  dense_product(c.data(), static_cast<std::size_t>(c.rows()), rows.values + from * rows.columns, rows.columns,
                static_cast<std::size_t>(c.cols()), out.data());
  return out;
}

RowMatrix combine_block(const CsrView& rows, const RowMatrix& c, std::size_t from) {
  RowMatrix out = RowMatrix::Zero(c.rows(), static_cast<Eigen::Index>(rows.columns));
  for (Eigen::Index s = 0; s < c.rows(); ++s) {
    double* sum = out.row(s).data();
    for (Eigen::Index i = 0; i < c.cols(); ++i) {
      if (c(s, i) == 0) continue;
      const auto row = from + static_cast<std::size_t>(i);
      const auto end = static_cast<std::size_t>(rows.start[row + 1]);
      for (auto k = static_cast<std::size_t>(rows.start[row]); k < end; ++k)
        sum[rows.index[k]] += c(s, i) * rows.values[k];
    }
  }
  return out;
}

}  // namespace

void multiply_block(const RowsView& rows, std::size_t from, const VectorRef& x, std::span<double> out) {
  std::visit([&](const auto& view) { multiply_block(view, x, out, from); }, rows);
}

void add_block(const RowsView& rows, std::size_t from, std::span<const double> c, Vector& out) {
  std::visit([&](const auto& view) { add_block(view, c, from, out); }, rows);
}

void multiply(const RowsView& rows, const VectorRef& x, std::span<double> out, unsigned threads) {
  assert(out.size() == row_count(rows));
  const SerialBlas serial;
  over_blocks(out, threads,
              [&](std::size_t from, std::span<double> part) { multiply_block(rows, from, x, part); });
}

void multiply_each(const RowsView& rows, const VectorRef& x, std::span<double> out, unsigned threads) {
  assert(out.size() == row_count(rows));
  over_blocks(out, threads, [&](std::size_t from, std::span<double> part) {
    std::visit([&](const auto& view) { multiply_each_block(view, x, part, from); }, rows);
  });
}

Vector multiply_transposed(const RowsView& rows, std::span<const double> c, unsigned threads) {
  assert(c.size() == row_count(rows));
  const SerialBlas serial;
  const std::size_t blocks = block_count(c.size());
  const auto columns = static_cast<Eigen::Index>(column_count(rows));
  // A few blocks at a time, so that wide sparse tables do not need a whole vector for each of many blocks.
  std::vector<Vector> parts(std::min(blocks, kBlocksAtOnce));
  Vector out = Vector::Zero(columns);
  for (std::size_t first = 0; first < blocks; first += kBlocksAtOnce) {
    const std::size_t count = std::min(kBlocksAtOnce, blocks - first);
    parallel_for(count, threads, [&](std::size_t b) {
      parts[b] = Vector::Zero(columns);
      const std::size_t from = (first + b) * kBlockRows;
      const auto part = c.subspan(from, std::min(kBlockRows, c.size() - from));
      add_block(rows, from, part, parts[b]);
    });
    for (std::size_t b = 0; b < count; ++b) out += parts[b];
  }
  return out;
}

RowMatrix products_with(const RowsView& rows, const RowMatrix& w, unsigned threads) {
  const std::size_t n = row_count(rows);
  assert(static_cast<std::size_t>(w.cols()) == column_count(rows));
  RowMatrix out(static_cast<Eigen::Index>(n), w.rows());
  const SerialBlas serial;
  parallel_for((n + kBlockOfMany - 1) / kBlockOfMany, threads, [&](std::size_t b) {
    const std::size_t from = b * kBlockOfMany;
    std::visit(
        [&](const auto& view) { products_block(view, w, from, std::min(kBlockOfMany, n - from), out); },
        rows);
  });
  return out;
}

RowMatrix combinations(const RowsView& rows, const RowMatrix& c, unsigned threads) {
  const std::size_t n = row_count(rows);
  assert(static_cast<std::size_t>(c.cols()) == n);
  const std::size_t blocks = (n + kBlockOfMany - 1) / kBlockOfMany;
  RowMatrix out = RowMatrix::Zero(c.rows(), static_cast<Eigen::Index>(column_count(rows)));
  std::vector<RowMatrix> parts(std::min(blocks, kBlocksAtOnce));
  const SerialBlas serial;
  for (std::size_t first = 0; first < blocks; first += kBlocksAtOnce) {
    const std::size_t count = std::min(kBlocksAtOnce, blocks - first);
    parallel_for(count, threads, [&](std::size_t b) {
      const std::size_t from = (first + b) * kBlockOfMany;
      const RowMatrix part = c.middleCols(static_cast<Eigen::Index>(from),
                                          static_cast<Eigen::Index>(std::min(kBlockOfMany, n - from)));
      parts[b] = std::visit([&](const auto& view) { return combine_block(view, part, from); }, rows);
    });
    for (std::size_t b = 0; b < count; ++b) out += parts[b];
  }
  return out;
}

}  // namespace bagwise
