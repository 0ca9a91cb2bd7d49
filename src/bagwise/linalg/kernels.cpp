#include "bagwise/linalg/kernels.h"

#include <algorithm>
#include <cassert>
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
  parallel_for(block_count(out.size()), threads, [&](std::size_t b) {
    const std::size_t from = b * kBlockRows;
    const auto part = out.subspan(from, std::min(kBlockRows, out.size() - from));
    multiply_block(rows, from, x, part);
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

}  // namespace bagwise
