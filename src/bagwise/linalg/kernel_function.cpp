#include "bagwise/linalg/kernel_function.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <thread>

#include "bagwise/core/parallel.h"
#include "bagwise/linalg/blas.h"
#include "bagwise/linalg/kernel_rows.h"

namespace bagwise {
namespace {

constexpr std::size_t kTile = 256;  // rows of z at a time: a tile of 1024 x 256 values stays in cache

Eigen::Index as_index(std::size_t n) { return static_cast<Eigen::Index>(n); }

// How many rows of x are done at a time: fixed by the input, some pieces for every thread.
std::size_t piece_rows(std::size_t rows) { return std::clamp<std::size_t>(rows / 16, 32, 1024); }

// Calls work(from, count) for every piece of the rows.
void for_pieces(std::size_t rows, unsigned threads, const Observer& observer,
                const std::function<void(std::size_t, std::size_t)>& work) {
  const std::size_t piece = piece_rows(rows);
  const SerialBlas serial;
  const auto caller = std::this_thread::get_id();
  std::atomic<std::size_t> done{0};
  std::atomic<bool> stop{false};
  parallel_for((rows + piece - 1) / piece, threads, [&](std::size_t p) {
    if (stop) return;
    const std::size_t count = std::min(piece, rows - p * piece);
    work(p * piece, count);
    done += count;
    if (std::this_thread::get_id() != caller) return;
    const Progress progress{"comparing", static_cast<double>(done), static_cast<double>(rows)};
    if (tell(observer, progress) == Next::kStop) stop = true;
  });
}

// out += A B for a tile's rows B: dense, or sparse.
void add_combinations(const RowMatrix& a, const KernelRows& b, RowMatrix& product,
                      Eigen::Ref<RowMatrix> out) {
  if (!b.sparse()) {
    reshape(product, a.rows(), as_index(b.columns()));
    dense_product(a.data(), static_cast<std::size_t>(a.rows()), b.dense_rows().data(), b.columns(), b.rows(),
                  product.data());
    out += product;
    return;
  }
  const Csr& rows = b.sparse_rows();
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < rows.rows(); ++j) {
      const double factor = a(i, as_index(j));
      for (auto k = static_cast<std::size_t>(rows.start[j]); k < static_cast<std::size_t>(rows.start[j + 1]);
           ++k) {
        out(i, rows.index[k]) += factor * rows.values[k];
      }
    }
  }
}

// out -= diag(factor) X for rows x_i that stand ready.
void subtract_scaled(const Vector& factor, const KernelRows& x, Eigen::Ref<RowMatrix> out) {
  if (!x.sparse()) {
    out -= factor.asDiagonal() * x.dense_rows();
    return;
  }
  const Csr& rows = x.sparse_rows();
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    for (auto k = static_cast<std::size_t>(rows.start[i]); k < static_cast<std::size_t>(rows.start[i + 1]);
         ++k) {
      out(as_index(i), rows.index[k]) -= factor[as_index(i)] * rows.values[k];
    }
  }
}

// The kernel whose values, as factors of the rows z_j, make the gradient: of rbf itself, of poly one degree
// less. The linear kernel's gradient is that of poly of degree 1.
KernelFunction derivative(const KernelFunction& kernel) {
  if (kernel.kind == KernelKind::kRbf) return kernel;
  const bool poly = kernel.kind == KernelKind::kPoly;
  return {KernelKind::kPoly, poly ? kernel.gamma : 1.0, poly ? kernel.degree - 1 : 0};
}

}  // namespace

void kernel_block(const KernelFunction& kernel, const RowsView& a, const RowsView& b, RowMatrix& out) {
  const KernelSpace space(kernel, a, b);
  kernel_block(space, KernelRows(space, a, 0, row_count(a)), KernelRows(space, b, 0, row_count(b)), out);
}

RowMatrix kernel_expansion(const KernelFunction& kernel, const RowsView& z, const RowMatrix& c,
                           const RowsView& x, unsigned threads, const Observer& observer) {
  const std::size_t terms = row_count(z);
  assert(c.rows() == as_index(terms));
  RowMatrix out = RowMatrix::Zero(as_index(row_count(x)), c.cols());
  const KernelSpace space(kernel, x, z);
  for_pieces(row_count(x), threads, observer, [&](std::size_t from, std::size_t count) {
    const KernelRows points(space, x, from, count);
    RowMatrix block;
    RowMatrix product(as_index(count), c.cols());
    for (std::size_t first = 0; first < terms; first += kTile) {
      const std::size_t size = std::min(kTile, terms - first);
      kernel_block(space, points, KernelRows(space, z, first, size), block);
      dense_product(block.data(), count, c.row(as_index(first)).data(), static_cast<std::size_t>(c.cols()),
                    size, product.data());
      out.middleRows(as_index(from), as_index(count)) += product;
    }
  });
  return out;
}

// With s_ij = c_j k(z_j, x_i), the gradient at x_i is
//   rbf      2 gamma (sum_j s_ij z_j - (sum_j s_ij) x_i), the same wherever the centre is
//   poly     gamma degree sum_j c_j (gamma z_j.x_i + 1)^(degree-1) z_j
//   linear   sum_j c_j z_j
RowMatrix kernel_gradients(const KernelFunction& kernel, const RowsView& z, std::span<const double> c,
                           const RowsView& x, unsigned threads, const Observer& observer) {
  const std::size_t terms = row_count(z);
  assert(c.size() == terms);
  RowMatrix out = RowMatrix::Zero(as_index(row_count(x)), as_index(column_count(x)));
  const KernelSpace space(derivative(kernel), x, z);
  const bool rbf = kernel.kind == KernelKind::kRbf;
  const double scale = rbf                                ? 2 * kernel.gamma
                       : kernel.kind == KernelKind::kPoly ? kernel.gamma * kernel.degree
                                                          : 1.0;
  for_pieces(row_count(x), threads, observer, [&](std::size_t from, std::size_t count) {
    const KernelRows points(space, x, from, count);
    auto gradients = out.middleRows(as_index(from), as_index(count));
    Vector total = Vector::Zero(as_index(count));
    RowMatrix block, product;
    for (std::size_t first = 0; first < terms; first += kTile) {
      const std::size_t size = std::min(kTile, terms - first);
      const KernelRows tile(space, z, first, size);
      kernel_block(space, points, tile, block);
      block *= Eigen::Map<const Vector>(c.data() + first, as_index(size)).asDiagonal();
      if (rbf) total += block.rowwise().sum();
      add_combinations(block, tile, product, gradients);
    }
    if (rbf) subtract_scaled(total, points, gradients);
    gradients *= scale;
  });
  return out;
}

}  // namespace bagwise
