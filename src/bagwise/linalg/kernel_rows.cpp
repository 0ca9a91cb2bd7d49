#include "bagwise/linalg/kernel_rows.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "bagwise/linalg/blas.h"

namespace bagwise {
namespace {

// Where dense products beat sparse ones: the sparse ones do density^2 of the work at about a tenth of the
// speed. The width keeps a block of 256 rows within 8 MB.
constexpr double kDenseFromDensity = 0.3;
constexpr std::size_t kWidestDense = 4096;

// A pair nearer than this (squared distance over the squared lengths) is computed from its difference: the
// others lose at most 4 of 16 digits to cancellation.
constexpr double kNear = 1e-4;

Eigen::Index as_index(std::size_t n) { return static_cast<Eigen::Index>(n); }

bool dense_like(const RowsView& rows) {
  const auto* sparse = std::get_if<CsrView>(&rows);
  if (sparse == nullptr) return true;
  const double cells = static_cast<double>(sparse->rows) * static_cast<double>(sparse->columns);
  const double filled = sparse->rows == 0 ? 0 : static_cast<double>(sparse->start[sparse->rows]);
  return sparse->columns <= kWidestDense && filled >= kDenseFromDensity * cells;
}

Vector mean_row(const DenseView& rows) { return rows.matrix().colwise().mean().transpose(); }

Vector mean_row(const CsrView& rows) {
  Vector out = Vector::Zero(as_index(rows.columns));
  for (std::size_t k = 0; k < static_cast<std::size_t>(rows.start[rows.rows]); ++k)
    out[rows.index[k]] += rows.values[k] / static_cast<double>(rows.rows);
  return out;
}

std::span<const std::int32_t> index_of(const Csr& rows, std::size_t i) {
  const auto from = static_cast<std::size_t>(rows.start[i]), to = static_cast<std::size_t>(rows.start[i + 1]);
  return std::span(rows.index).subspan(from, to - from);
}

std::span<const double> values_of(const Csr& rows, std::size_t i) {
  const auto from = static_cast<std::size_t>(rows.start[i]), to = static_cast<std::size_t>(rows.start[i + 1]);
  return std::span(rows.values).subspan(from, to - from);
}

double dot(const Csr& sparse, std::size_t i, const double* dense) {
  const auto index = index_of(sparse, i);
  const auto values = values_of(sparse, i);
  double sum = 0;
  for (std::size_t k = 0; k < index.size(); ++k) sum += values[k] * dense[index[k]];
  return sum;
}

// Columns of a block of sparse rows: which rows have an entry in each, and what.
struct Transposed {
  std::vector<std::int32_t> start;  // columns + 1
  std::vector<std::int32_t> row;
  std::vector<double> values;

  explicit Transposed(const Csr& rows) : start(rows.columns + 1, 0) {
    for (const std::int32_t j : rows.index) ++start[static_cast<std::size_t>(j) + 1];
    for (std::size_t j = 0; j < rows.columns; ++j) start[j + 1] += start[j];
    std::vector<std::int32_t> next(start.begin(), start.end() - 1);
    row.resize(rows.index.size());
    values.resize(rows.index.size());
    for (std::size_t i = 0; i < rows.rows(); ++i) {
      const auto index = index_of(rows, i);
      const auto entries = values_of(rows, i);
      for (std::size_t k = 0; k < index.size(); ++k) {
        const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(index[k])]++);
        row[at] = static_cast<std::int32_t>(i);
        values[at] = entries[k];
      }
    }
  }
};

// Every product of two entries that are both there, and nothing else.
void sparse_products(const Csr& a, const Csr& b, RowMatrix& out) {
  out.setZero();
  const Transposed columns(b);
  for (std::size_t i = 0; i < a.rows(); ++i) {
    const auto index = index_of(a, i);
    const auto values = values_of(a, i);
    double* to = out.row(as_index(i)).data();
    for (std::size_t k = 0; k < index.size(); ++k) {
      const auto j = static_cast<std::size_t>(index[k]);
      for (auto at = static_cast<std::size_t>(columns.start[j]);
           at < static_cast<std::size_t>(columns.start[j + 1]); ++at) {
        to[columns.row[at]] += values[k] * columns.values[at];
      }
    }
  }
}

double squared_distance(const Csr& a, std::size_t i, const Csr& b, std::size_t j) {
  const auto p = index_of(a, i), q = index_of(b, j);
  const auto x = values_of(a, i), z = values_of(b, j);
  double sum = 0;
  for (std::size_t k = 0, l = 0; k < p.size() || l < q.size();) {
    const bool left = l == q.size() || (k < p.size() && p[k] <= q[l]);
    const bool right = k == p.size() || (l < q.size() && q[l] <= p[k]);
    const double difference = (left ? x[k] : 0.0) - (right ? z[l] : 0.0);
    sum += difference * difference;
    k += left ? 1 : 0;
    l += right ? 1 : 0;
  }
  return sum;
}

double squared_distance(const Csr& sparse, std::size_t i, const double* dense, std::size_t columns) {
  const auto index = index_of(sparse, i);
  const auto values = values_of(sparse, i);
  double sum = 0;
  for (std::size_t c = 0, k = 0; c < columns; ++c) {
    double difference = dense[c];
    if (k < index.size() && static_cast<std::size_t>(index[k]) == c) difference -= values[k++];
    sum += difference * difference;
  }
  return sum;
}

// From the difference of the two rows.
double squared_distance(const KernelRows& a, std::size_t i, const KernelRows& b, std::size_t j) {
  if (a.sparse() && b.sparse()) return squared_distance(a.sparse_rows(), i, b.sparse_rows(), j);
  const auto dense = [](const KernelRows& rows, std::size_t k) {
    return rows.dense_rows().row(as_index(k)).data();
  };
  if (a.sparse()) return squared_distance(a.sparse_rows(), i, dense(b, j), b.columns());
  if (b.sparse()) return squared_distance(b.sparse_rows(), j, dense(a, i), a.columns());
  return (a.dense_rows().row(as_index(i)) - b.dense_rows().row(as_index(j))).squaredNorm();
}

// Products become squared distances, in place.
void to_squared_distances(const KernelRows& a, const KernelRows& b, RowMatrix& out) {
  const auto squares = b.squares().transpose().array();
  for (std::size_t i = 0; i < a.rows(); ++i) {
    const double square = a.squares()[as_index(i)];
    auto row = out.row(as_index(i)).array();
    row = (squares + square) - 2 * row;
    if (!(row < kNear * (squares + square)).any()) continue;
    for (std::size_t j = 0; j < b.rows(); ++j) {
      double& d = out(as_index(i), as_index(j));
      if (d < kNear * (square + b.squares()[as_index(j)])) d = squared_distance(a, i, b, j);
    }
  }
}

// Entry by entry, in place, by squaring.
void to_power(int degree, RowMatrix& values) {
  assert(degree >= 0);
  if (degree == 1) return;
  for (Eigen::Index i = 0; i < values.rows(); ++i) {
    for (Eigen::Index j = 0; j < values.cols(); ++j) {
      double power = 1, square = values(i, j);
      for (int left = degree; left > 0; left /= 2) {
        if (left % 2 == 1) power *= square;
        if (left > 1) square *= square;
      }
      values(i, j) = power;
    }
  }
}

}  // namespace

KernelSpace::KernelSpace(const KernelFunction& function, const RowsView& a, const RowsView& b)
    : kernel(function), columns(column_count(a)), dense(dense_like(a) && dense_like(b)) {
  assert(column_count(b) == columns);
  if (kernel.kind != KernelKind::kRbf || !dense || row_count(b) == 0) return;
  centre = std::visit([](const auto& table) { return mean_row(table); }, b);
  if (!centre.allFinite()) centre.setZero();  // values too large to be added up
}

void KernelRows::gather(const KernelSpace& space, const DenseView& table, const std::size_t* which,
                        std::size_t from) {
  reshape(values_, as_index(rows_), as_index(columns_));
  for (std::size_t i = 0; i < rows_; ++i) {
    const auto row = table.row(which != nullptr ? which[i] : from + i);
    const Eigen::Map<const Vector> values(row.data(), as_index(columns_));
    if (space.centre.size() > 0) {
      values_.row(as_index(i)) = (values - space.centre).transpose();
    } else {
      values_.row(as_index(i)) = values.transpose();
    }
  }
}

void KernelRows::gather(const KernelSpace& space, const CsrView& table, const std::size_t* which,
                        std::size_t from) {
  sparse_ = !space.dense;
  csr_.columns = columns_;
  if (!sparse_) reshape(values_, as_index(rows_), as_index(columns_));
  for (std::size_t i = 0; i < rows_; ++i) {
    const std::size_t r = which != nullptr ? which[i] : from + i;
    const auto begin = static_cast<std::size_t>(table.start[r]);
    const auto end = static_cast<std::size_t>(table.start[r + 1]);
    if (sparse_) {
      csr_.index.insert(csr_.index.end(), table.index.data() + begin, table.index.data() + end);
      csr_.values.insert(csr_.values.end(), table.values.data() + begin, table.values.data() + end);
      csr_.start.push_back(static_cast<std::int64_t>(csr_.values.size()));
      continue;
    }
    auto to = values_.row(as_index(i));
    to.setZero();
    for (std::size_t k = begin; k < end; ++k) to[table.index[k]] = table.values[k];
    if (space.centre.size() > 0) to -= space.centre.transpose();
  }
}

void KernelRows::finish(const KernelSpace& space) {
  if (space.kernel.kind != KernelKind::kRbf) return;
  if (!sparse_) {
    squares_ = values_.rowwise().squaredNorm();
    return;
  }
  squares_ = Vector::Zero(as_index(rows_));
  for (std::size_t i = 0; i < rows_; ++i)
    for (const double v : values_of(csr_, i)) squares_[as_index(i)] += v * v;
}

KernelRows::KernelRows(const KernelSpace& space, const RowsView& table, std::size_t from, std::size_t count)
    : rows_(count), columns_(space.columns) {
  assert(column_count(table) == columns_ && from + count <= row_count(table));
  std::visit([&](const auto& view) { gather(space, view, nullptr, from); }, table);
  finish(space);
}

KernelRows::KernelRows(const KernelSpace& space, const RowsView& table, std::span<const std::size_t> which)
    : rows_(which.size()), columns_(space.columns) {
  assert(column_count(table) == columns_);
  std::visit([&](const auto& view) { gather(space, view, which.data(), 0); }, table);
  finish(space);
}

void row_products(const KernelRows& a, const KernelRows& b, RowMatrix& out) {
  assert(a.columns() == b.columns());
  reshape(out, as_index(a.rows()), as_index(b.rows()));
  if (a.sparse() && b.sparse()) return sparse_products(a.sparse_rows(), b.sparse_rows(), out);
  if (!a.sparse() && !b.sparse()) {
    const SerialBlas serial;
    return dense_product_transposed(a.dense_rows().data(), a.rows(), b.dense_rows().data(), b.rows(),
                                    a.columns(), out.data());
  }
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t j = 0; j < b.rows(); ++j) {
      out(as_index(i), as_index(j)) = a.sparse()
                                          ? dot(a.sparse_rows(), i, b.dense_rows().row(as_index(j)).data())
                                          : dot(b.sparse_rows(), j, a.dense_rows().row(as_index(i)).data());
    }
  }
}

void kernel_block(const KernelSpace& space, const KernelRows& a, const KernelRows& b, RowMatrix& out) {
  row_products(a, b, out);
  const KernelFunction& kernel = space.kernel;
  if (kernel.kind == KernelKind::kRbf) {
    to_squared_distances(a, b, out);
    out.array() = (out.array() * -kernel.gamma).exp();
  } else if (kernel.kind == KernelKind::kPoly) {
    out.array() = out.array() * kernel.gamma + 1;
    to_power(kernel.degree, out);
  }
}

}  // namespace bagwise
