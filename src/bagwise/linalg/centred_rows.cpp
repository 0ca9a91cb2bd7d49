#include "bagwise/linalg/centred_rows.h"

#include <algorithm>

#include "bagwise/core/parallel.h"
#include "bagwise/linalg/blas.h"

namespace bagwise {
namespace {

using Eigen::Index;

// Fixed: the bits must not depend on the number of threads.
constexpr std::size_t kBlockColumns = 512;
constexpr Index kSlice = 16;  // vectors of a product with sparse rows that one thread adds up

Index as_index(std::size_t n) { return static_cast<Index>(n); }

// Rows [from, from + count) less the mean, in columns [column, column + columns).
void copy_centred(const DenseView& rows, std::size_t from, std::size_t count, std::size_t column,
                  std::size_t columns, const Vector& mean, double* out) {
  for (std::size_t i = 0; i < count; ++i) {
    const double* row = rows.row(from + i).data() + column;
    for (std::size_t j = 0; j < columns; ++j) *out++ = row[j] - mean[as_index(column + j)];
  }
}

void copy_centred(const CsrView& rows, std::size_t from, std::size_t count, std::size_t column,
                  std::size_t columns, const Vector& mean, double* out) {
  for (std::size_t i = 0; i < count; ++i, out += columns) {
    for (std::size_t j = 0; j < columns; ++j) out[j] = -mean[as_index(column + j)];
    const auto* const begin = rows.index.data() + rows.start[from + i];
    const auto* const end = rows.index.data() + rows.start[from + i + 1];
    for (const auto* k = std::lower_bound(begin, end, static_cast<std::int64_t>(column));
         k != end && static_cast<std::size_t>(*k) < column + columns; ++k) {
      out[static_cast<std::size_t>(*k) - column] +=
          rows.values[static_cast<std::size_t>(k - rows.index.data())];
    }
  }
}

// out += A' y for some blocks of sparse rows: each thread adds up a slice of the vectors. What the mean takes
// away is done once at the end.
void add_back(const CsrView& rows, const RowBlock& block, const double* y, Index vectors, Index slice,
              RowMatrix& out) {
  const Index width = std::min(kSlice, vectors - slice);
  for (std::size_t i = 0; i < block.count; ++i) {
    const double* row = y + as_index(i) * vectors + slice;
    const auto end = static_cast<std::size_t>(rows.start[block.from + i + 1]);
    for (auto k = static_cast<std::size_t>(rows.start[block.from + i]); k < end; ++k) {
      double* sum = out.row(rows.index[k]).data() + slice;
      for (Index s = 0; s < width; ++s) sum[s] += rows.values[k] * row[s];
    }
  }
}

// out += A' y for a block of dense rows, in a range of columns.
void add_back(const DenseView& rows, const RowBlock& block, const double* y, const Vector& mean,
              std::size_t from, std::size_t count, RowMatrix& out) {
  const auto vectors = static_cast<std::size_t>(out.cols());
  RowMatrix slab(as_index(block.count), as_index(count));
  copy_centred(rows, block.from, block.count, from, count, mean, slab.data());
  const RowMatrix turned = slab.transpose();
  RowMatrix part(as_index(count), out.cols());
  dense_product(turned.data(), count, y, vectors, block.count, part.data());
  out.middleRows(as_index(from), as_index(count)) += part;
}

}  // namespace

void copy_centred(const RowsView& rows, std::size_t from, std::size_t count, std::size_t column,
                  std::size_t columns, const Vector& mean, double* out) {
  std::visit([&](const auto& view) { copy_centred(view, from, count, column, columns, mean, out); }, rows);
}

std::vector<RowBlock> cut_into_blocks(std::span<const RowsView> tables) {
  std::vector<RowBlock> out;
  for (const RowsView& table : tables) {
    const std::size_t n = row_count(table);
    for (std::size_t from = 0; from < n; from += kCentredBlock)
      out.push_back({&table, from, std::min(kCentredBlock, n - from)});
  }
  return out;
}

void project(const RowBlock& block, const Vector& mean, const RowMatrix& q, const Vector& at_mean,
             double* y) {
  const auto vectors = static_cast<std::size_t>(q.cols());
  if (const auto* csr = std::get_if<CsrView>(block.table)) {
    for (std::size_t i = 0; i < block.count; ++i, y += vectors) {
      Eigen::Map<Vector> row(y, q.cols());
      row = -at_mean;
      const auto end = static_cast<std::size_t>(csr->start[block.from + i + 1]);
      for (auto k = static_cast<std::size_t>(csr->start[block.from + i]); k < end; ++k)
        row += csr->values[k] * q.row(csr->index[k]).transpose();
    }
    return;
  }
  const auto columns = static_cast<std::size_t>(mean.size());
  std::vector<double> centred(block.count * columns);
  copy_centred(*block.table, block.from, block.count, 0, columns, mean, centred.data());
  dense_product(centred.data(), block.count, q.data(), vectors, columns, y);
}

std::optional<RowMatrix> gram_times(std::span<const RowsView> tables, const Vector& mean, const RowMatrix& q,
                                    unsigned threads, const std::function<Next(double)>& watch) {
  constexpr std::size_t kAtOnce = 64;
  const auto vectors = static_cast<std::size_t>(q.cols());
  const Vector at_mean = q.transpose() * mean;
  RowMatrix out = RowMatrix::Zero(q.rows(), q.cols());
  Vector sparse_sum = Vector::Zero(q.cols());  // of the y of sparse rows
  const SerialBlas serial;
  const std::vector<RowBlock> blocks = cut_into_blocks(tables);
  std::vector<double> y(std::min(kAtOnce, blocks.size()) * kCentredBlock * vectors);
  for (std::size_t first = 0; first < blocks.size(); first += kAtOnce) {
    const double share = static_cast<double>(first) / static_cast<double>(blocks.size());
    if (watch(share) == Next::kStop) return {};
    const std::size_t count = std::min(kAtOnce, blocks.size() - first);
    const auto place = [&](std::size_t b) { return y.data() + b * kCentredBlock * vectors; };
    parallel_for(count, threads,
                 [&](std::size_t b) { project(blocks[first + b], mean, q, at_mean, place(b)); });
    const std::size_t slabs = (static_cast<std::size_t>(q.rows()) + kBlockColumns - 1) / kBlockColumns;
    parallel_for(slabs, threads, [&](std::size_t s) {
      const std::size_t from = s * kBlockColumns;
      const std::size_t columns = std::min(kBlockColumns, static_cast<std::size_t>(q.rows()) - from);
      for (std::size_t b = 0; b < count; ++b) {
        const RowBlock& block = blocks[first + b];
        if (const auto* dense = std::get_if<DenseView>(block.table))
          add_back(*dense, block, place(b), mean, from, columns, out);
      }
    });
    const auto slices = static_cast<std::size_t>((q.cols() + kSlice - 1) / kSlice);
    parallel_for(slices, threads, [&](std::size_t s) {
      for (std::size_t b = 0; b < count; ++b) {
        const RowBlock& block = blocks[first + b];
        if (const auto* csr = std::get_if<CsrView>(block.table))
          add_back(*csr, block, place(b), q.cols(), as_index(s) * kSlice, out);
      }
    });
    for (std::size_t b = 0; b < count; ++b) {
      if (!std::holds_alternative<CsrView>(*blocks[first + b].table)) continue;
      sparse_sum += Eigen::Map<const RowMatrix>(place(b), as_index(blocks[first + b].count), q.cols())
                        .colwise()
                        .sum()
                        .transpose();
    }
  }
  out.noalias() -= mean * sparse_sum.transpose();
  return out;
}

}  // namespace bagwise
