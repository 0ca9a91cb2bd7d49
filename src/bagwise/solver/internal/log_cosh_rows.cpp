#include "bagwise/solver/internal/log_cosh_rows.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "bagwise/core/parallel.h"
#include "bagwise/linalg/blas.h"
#include "bagwise/linalg/compensated.h"
#include "bagwise/linalg/kernels.h"

namespace bagwise::internal {
namespace {

using Index = Eigen::Index;
using ArrayMap = Eigen::Map<Eigen::ArrayXd>;
using ConstArrayMap = Eigen::Map<const Eigen::ArrayXd>;

constexpr std::size_t kMostPieces = 64;
constexpr std::size_t kPieceRows = 128;                    // at least
constexpr std::size_t kPartValues = std::size_t{1} << 22;  // of the vectors of all pieces together: 32 MB
constexpr std::size_t kBlockValues = 16384;  // 128 KB: a block is still in the second-level cache when it is
                                             // used again
constexpr std::size_t kSparseBlockRows = 1024;
constexpr std::size_t kFewValues = std::size_t{1}
                                   << 19;  // below this a second thread takes longer to start than it saves
constexpr std::size_t kHessianPieces = 16, kHessianPieceRows = 256;

Eigen::Map<const Vector> as_vector(std::span<const double> values) {
  return {values.data(), static_cast<Index>(values.size())};
}

std::size_t pieces_for(std::size_t rows, std::size_t columns, std::size_t stored) {
  const std::size_t by_work = std::min(rows / kPieceRows, stored / (4 * (columns + 1)));
  return std::clamp<std::size_t>(std::min(by_work, kPartValues / (columns + 1)), 1, kMostPieces);
}

// Adds x and x^2 of every stored value to its column.
void add_moments(const DenseView& rows, std::size_t from, std::size_t to, Vector& sum, Vector& squares) {
  for (std::size_t i = from; i < to; ++i) {
    const auto row = as_vector(rows.row(i)).array();
    sum.array() += row;
    squares.array() += row.square();
  }
}
void add_moments(const CsrView& rows, std::size_t from, std::size_t to, Vector& sum, Vector& squares) {
  for (auto k = static_cast<std::size_t>(rows.start[from]); k < static_cast<std::size_t>(rows.start[to]);
       ++k) {
    sum[rows.index[k]] += rows.values[k];
    squares[rows.index[k]] += rows.values[k] * rows.values[k];
  }
}

}  // namespace

struct LogCoshRows::Part {
  CompensatedSum loss;
  double constant = 0;
  Vector columns;
};

LogCoshRows::LogCoshRows(const LogCoshProblem& problem, unsigned threads)
    : problem_(problem),
      rows_(row_count(problem.rows)),
      columns_(column_count(problem.rows)),
      stored_(stored_values(problem.rows).size()),
      pieces_(pieces_for(rows_, columns_, stored_)),
      slope_(rows_),
      curvature_(rows_) {
  threads_ = stored_ < kFewValues ? 1 : threads;
  const bool dense = std::holds_alternative<DenseView>(problem.rows);
  block_rows_ = dense ? std::clamp<std::size_t>(kBlockValues / std::max<std::size_t>(columns_, 1), 8, 1024)
                      : kSparseBlockRows;
}

template <class Work>
void LogCoshRows::over_blocks(std::size_t piece, std::size_t block_rows, const Work& work) const {
  const std::size_t end = (piece + 1) * rows_ / pieces_;
  for (std::size_t from = piece * rows_ / pieces_; from < end; from += block_rows)
    work(from, std::min(end, from + block_rows));
}

// The sum of what work(piece, part) adds to each part, in the order of the pieces.
template <class Work>
LogCoshRows::Part LogCoshRows::sum_pieces(const Work& work) const {
  std::vector<Part> parts(pieces_);
  parallel_for(pieces_, threads_, [&](std::size_t piece) {
    parts[piece].columns = Vector::Zero(static_cast<Index>(columns_));
    work(piece, parts[piece]);
  });
  ++passes_;
  Part sum = std::move(parts[0]);
  for (std::size_t piece = 1; piece < pieces_; ++piece) {
    sum.loss.add(parts[piece].loss);
    sum.constant += parts[piece].constant;
    sum.columns += parts[piece].columns;
  }
  return sum;
}

LogCoshRows::Stored LogCoshRows::to_stored(const Vector& v) const {
  const auto d = static_cast<Index>(columns_);
  Stored out{v.head(d), v[d]};
  if (!problem_.factor.empty()) {
    out.weights.array() *= as_vector(problem_.factor).array();
    out.constant -= out.weights.dot(as_vector(problem_.shift));
  }
  return out;
}

Vector LogCoshRows::from_stored(const Part& part) const {
  const auto d = static_cast<Index>(columns_);
  Vector out(d + 1);
  out.head(d) = part.columns;
  if (!problem_.factor.empty()) {
    out.head(d) -= part.constant * as_vector(problem_.shift);
    out.head(d).array() *= as_vector(problem_.factor).array();
  }
  out[d] = part.constant;
  return out;
}

// Per row, with e = exp(-2 |z|) nothing overflows:
//   log(exp(z) + exp(-z)) = |z| + log(1 + e),  tanh(z) = +-(1 - e)/(1 + e),  its derivative 4 e/(1 + e)^2
LogCoshRows::Value LogCoshRows::evaluate(const Vector& w) {
  const Stored x = to_stored(w);
  const Part sum = sum_pieces([&](std::size_t piece, Part& part) {
    over_blocks(piece, block_rows_, [&](std::size_t from, std::size_t to) {
      const std::span<double> slopes(slope_.data() + from, to - from);
      multiply_block(problem_.rows, from, x.weights, slopes);
      ArrayMap z(slopes.data(), static_cast<Index>(to - from));
      ArrayMap curvature(curvature_.data() + from, z.size());
      z += x.constant;
      curvature = (-2 * z.abs()).exp();
      part.loss.add((z.abs() + curvature.log1p()).sum());
      z = z.sign() * (1 - curvature) / (1 + curvature);
      curvature = 4 * curvature / (1 + curvature).square();
      part.constant += z.sum();
      add_block(problem_.rows, from, slopes, part.columns);
    });
  });
  mean_curvature_ = rows_ == 0 ? 1 : ConstArrayMap(curvature_.data(), static_cast<Index>(rows_)).mean();
  const double loss = sum.loss.value(), linear = problem_.linear.dot(w);
  const double penalty = 0.5 * problem_.lambda * w.squaredNorm();
  const double linear_size = (problem_.linear.array() * w.array()).abs().sum();
  return {(loss - linear) + penalty, loss + linear_size + penalty,
          (from_stored(sum) - problem_.linear) + problem_.lambda * w};
}

Vector LogCoshRows::hessian_times(const Vector& v) const {
  const Stored x = to_stored(v);
  const Part sum = sum_pieces([&](std::size_t piece, Part& part) {
    std::vector<double> buffer(block_rows_);
    over_blocks(piece, block_rows_, [&](std::size_t from, std::size_t to) {
      const std::span<double> product(buffer.data(), to - from);
      multiply_block(problem_.rows, from, x.weights, product);
      ArrayMap weighted(product.data(), static_cast<Index>(product.size()));
      weighted = (weighted + x.constant) * ConstArrayMap(curvature_.data() + from, weighted.size());
      part.constant += weighted.sum();
      add_block(problem_.rows, from, product, part.columns);
    });
  });
  return from_stored(sum) + problem_.lambda * v;
}

Vector LogCoshRows::rough_diagonal() {
  const auto d = static_cast<Index>(columns_);
  if (squares_.size() == 0) {
    std::vector<Vector> squares(pieces_, Vector::Zero(d));
    const Part sum = sum_pieces([&](std::size_t piece, Part& part) {
      over_blocks(piece, rows_, [&](std::size_t from, std::size_t to) {
        std::visit([&](const auto& view) { add_moments(view, from, to, part.columns, squares[piece]); },
                   problem_.rows);
      });
    });
    squares_ = Vector::Zero(d + 1);
    const auto n = static_cast<double>(rows_);
    for (const Vector& part : squares) squares_.head(d) += part;
    if (!problem_.factor.empty()) {
      const auto shift = as_vector(problem_.shift).array();
      auto raw = squares_.head(d).array();
      raw = (raw - 2 * shift * sum.columns.array() + n * shift.square()).max(1e-12 * raw);
      raw *= as_vector(problem_.factor).array().square();
    }
    squares_[d] = n;
  }
  return (mean_curvature_ * squares_).array() + problem_.lambda;
}

// Adds the curvature-weighted products of rows [from, to): of dense rows as the problem has them, of sparse
// rows as they are stored.
void LogCoshRows::add_hessian_block(std::size_t from, std::size_t to, std::vector<double>& buffer,
                                    ColMatrix& out) const {
  const auto d = static_cast<Index>(columns_);
  if (const auto* dense = std::get_if<DenseView>(&problem_.rows)) {
    buffer.resize((to - from) * (columns_ + 1));
    for (std::size_t i = from; i < to; ++i) {
      Eigen::Map<Vector> row(buffer.data() + (i - from) * (columns_ + 1), d + 1);
      row.head(d) = as_vector(dense->row(i));
      if (!problem_.factor.empty()) {
        row.head(d) -= as_vector(problem_.shift);
        row.head(d).array() *= as_vector(problem_.factor).array();
      }
      row[d] = 1;
      row *= std::sqrt(curvature_[i]);
    }
    add_column_gram(buffer.data(), to - from, columns_ + 1, out);
    return;
  }
  const auto& rows = std::get<CsrView>(problem_.rows);
  for (std::size_t i = from; i < to; ++i) {
    const auto end = static_cast<std::size_t>(rows.start[i + 1]);
    for (auto k = static_cast<std::size_t>(rows.start[i]); k < end; ++k) {
      const double value = curvature_[i] * rows.values[k];
      double* column = out.data() + rows.index[k] * (d + 1);
      for (std::size_t l = k; l < end; ++l) column[rows.index[l]] += value * rows.values[l];
      column[d] += value;
    }
    out(d, d) += curvature_[i];
  }
}

ColMatrix LogCoshRows::hessian() const {
  const auto d = static_cast<Index>(columns_);
  const std::size_t fit = kPartValues / ((columns_ + 1) * (columns_ + 1));
  const std::size_t pieces =
      std::clamp<std::size_t>(std::min(rows_ / kHessianPieceRows, fit), 1, kHessianPieces);
  std::vector<ColMatrix> parts(pieces);
  parallel_for(pieces, threads_, [&](std::size_t piece) {
    parts[piece] = ColMatrix::Zero(d + 1, d + 1);
    std::vector<double> buffer;
    const std::size_t end = (piece + 1) * rows_ / pieces;
    for (std::size_t from = piece * rows_ / pieces; from < end; from += kHessianPieceRows)
      add_hessian_block(from, std::min(end, from + kHessianPieceRows), buffer, parts[piece]);
  });
  ++passes_;
  ColMatrix out = std::move(parts[0]);
  for (std::size_t piece = 1; piece < pieces; ++piece) out += parts[piece];
  if (!problem_.factor.empty() && std::holds_alternative<CsrView>(problem_.rows)) {
    const auto shift = as_vector(problem_.shift);
    const Vector sums = out.row(d).head(d);
    const double total = out(d, d);
    for (Index j = 0; j < d; ++j) {
      const double factor = problem_.factor[static_cast<std::size_t>(j)];
      out.col(j).head(d) += (total * shift[j] - sums[j]) * shift - shift[j] * sums;
      out.col(j).head(d).array() *= factor * as_vector(problem_.factor).array();
      out(d, j) = factor * (sums[j] - total * shift[j]);
    }
  }
  out.diagonal().array() += problem_.lambda;
  return out;
}

// In nanoseconds of one core of the machine at hand, where only ratios matter (docs/design/solver.md).
double LogCoshRows::hessian_cost() const {
  const auto n = static_cast<double>(std::max<std::size_t>(rows_, 1)), d = static_cast<double>(columns_ + 1);
  const auto stored = static_cast<double>(stored_);
  const double factor = d * d * d / 30;
  if (std::holds_alternative<DenseView>(problem_.rows)) return (n * d * d / 15 + factor) / (n * d / 2);
  const auto& rows = std::get<CsrView>(problem_.rows);
  double pairs = 0;
  for (std::size_t i = 0; i < rows_; ++i) {
    const auto entries = static_cast<double>(rows.start[i + 1] - rows.start[i]);
    pairs += entries * (entries + 1) / 2;
  }
  return (pairs + factor) / (2 * (stored + n));
}

}  // namespace bagwise::internal
