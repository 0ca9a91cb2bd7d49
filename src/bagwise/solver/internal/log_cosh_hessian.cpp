#include "bagwise/solver/internal/log_cosh_hessian.h"

#include <cassert>
#include <cmath>

#include "bagwise/linalg/blas.h"
#include "bagwise/linalg/kernels.h"

namespace bagwise::internal {
namespace {

using Index = Eigen::Index;
using ConstArrayMap = Eigen::Map<const Eigen::ArrayXd>;

Eigen::Map<const Vector> as_vector(std::span<const double> values) {
  return {values.data(), static_cast<Index>(values.size())};
}

// A row of the problem, written out.
void write_row(const LogCoshProblem& problem, const DenseView& rows, std::size_t i, Eigen::Ref<Vector> out) {
  out = as_vector(rows.row(i));
  if (problem.factor.empty()) return;
  out -= as_vector(problem.shift);
  out.array() *= as_vector(problem.factor).array();
}

// Adds x_j to `sums` and x_j^2 to `squares` over rows [from, to), and sets |x_j|^2, all without the constant.
// Of sparse rows only what stored values add to a row of zeros.
struct Moments {
  Vector sums, squares;
};
void add_moments(const LogCoshProblem& problem, const DenseView& rows, std::size_t from, std::size_t to,
                 Moments& moments, std::span<double> size) {
  Vector row(static_cast<Index>(rows.columns));
  for (std::size_t i = from; i < to; ++i) {
    write_row(problem, rows, i, row);
    moments.sums += row;
    moments.squares.array() += row.array().square();
    size[i] = row.squaredNorm();
  }
}
void add_moments(const LogCoshProblem& problem, const CsrView& rows, std::size_t from, std::size_t to,
                 Moments& moments, std::span<double> size) {
  for (std::size_t i = from; i < to; ++i) {
    size[i] = 0;
    for (auto k = static_cast<std::size_t>(rows.start[i]); k < static_cast<std::size_t>(rows.start[i + 1]);
         ++k) {
      const auto j = static_cast<std::size_t>(rows.index[k]);
      const double shift = problem.factor.empty() ? 0 : problem.shift[j];
      const double factor = problem.factor.empty() ? 1 : problem.factor[j];
      const double more = factor * factor * rows.values[k] * (rows.values[k] - 2 * shift);
      moments.sums[rows.index[k]] += factor * rows.values[k];
      moments.squares[rows.index[k]] += more;
      size[i] += more;
    }
  }
}

}  // namespace

StoredWeights to_stored(const LogCoshProblem& problem, const Vector& v) {
  const Index d = v.size() - 1;
  StoredWeights out{v.head(d), v[d]};
  if (!problem.factor.empty()) {
    out.weights.array() *= as_vector(problem.factor).array();
    out.constant -= out.weights.dot(as_vector(problem.shift));
  }
  return out;
}

Vector from_stored(const LogCoshProblem& problem, const PassSum& sum) {
  const Index d = sum.columns.size();
  Vector out(d + 1);
  out.head(d) = sum.columns;
  if (!problem.factor.empty()) {
    out.head(d) -= sum.constant * as_vector(problem.shift);
    out.head(d).array() *= as_vector(problem.factor).array();
  }
  out[d] = sum.constant;
  return out;
}

LogCoshHessian::LogCoshHessian(const LogCoshProblem& problem, const PiecedRows& all)
    : problem_(problem), all_(all), size_(all.rows()) {
  const auto d = static_cast<Index>(all.columns());
  const auto n = static_cast<double>(all.rows());
  std::vector<Moments> parts(all.pieces(), {Vector::Zero(d), Vector::Zero(d)});
  all.over_blocks([&](std::size_t piece, std::size_t from, std::size_t to) {
    std::visit([&](const auto& rows) { add_moments(problem, rows, from, to, parts[piece], size_); },
               all.view());
  });
  for (std::size_t piece = 1; piece < all.pieces(); ++piece) {
    parts[0].sums += parts[piece].sums;
    parts[0].squares += parts[piece].squares;
  }
  mean_ = parts[0].sums / std::max(n, 1.0);
  Eigen::ArrayXd squares = parts[0].squares;
  if (std::holds_alternative<CsrView>(all.view()) && !problem.factor.empty()) {
    const Eigen::ArrayXd zero = -as_vector(problem.shift).array() * as_vector(problem.factor).array();
    mean_.array() += zero;
    squares += n * zero.square();
    for (double& size : size_) size += zero.square().sum();
  }
  constexpr double kRounding = 1e-14;
  squares_.resize(d + 1);
  squares_ << (squares - n * mean_.array().square()).max(kRounding * squares), n;
}

void LogCoshHessian::take(std::span<const double> curvature) {
  assert(curvature.size() == all_.rows());
  curvature_ = curvature;
  few_.reset();
  if (curvature.empty()) return;
  mean_curvature_ = as_vector(curvature).mean();
  constexpr double kLeftOut = 0.01;  // of lambda, by all rows together
  const double little = kLeftOut * problem_.lambda / static_cast<double>(curvature.size());
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < curvature.size(); ++i) {
    if (curvature[i] * (size_[i] + 1) > little) which.push_back(i);
  }
  if (2 * which.size() > curvature.size()) return;
  few_curvature_.clear();
  for (const std::size_t i : which) few_curvature_.push_back(curvature[i]);
  if (const auto* dense = std::get_if<DenseView>(&all_.view())) {
    dense_ = take_rows(*dense, which);
    few_.emplace(dense_.view(), all_.threads());
  } else {
    sparse_ = take_rows(std::get<CsrView>(all_.view()), which);
    few_.emplace(sparse_.view(), all_.threads());
  }
  curvature_ = few_curvature_;
}

double LogCoshHessian::share() const {
  return static_cast<double>(rows().rows()) / static_cast<double>(std::max<std::size_t>(all_.rows(), 1));
}

Vector LogCoshHessian::times(const Vector& v) const {
  const StoredWeights x = to_stored(problem_, v);
  const PassSum sum = rows().sum([&](std::size_t from, std::size_t to, PassSum& part) {
    Eigen::ArrayXd product(static_cast<Index>(to - from));
    multiply_block(rows().view(), from, x.weights, {product.data(), to - from});
    product = (product + x.constant) * ConstArrayMap(curvature_.data() + from, product.size());
    part.constant += product.sum();
    bagwise::add_block(rows().view(), from, {product.data(), to - from}, part.columns);
  });
  return from_stored(problem_, sum) + problem_.lambda * v;
}

LogCoshHessian::Rough LogCoshHessian::rough() const {
  return {mean_, (mean_curvature_ * squares_).array() + problem_.lambda};
}

// Adds h_j x_j x_j' of rows [from, to): of dense rows as the problem has them, of sparse rows as stored.
void LogCoshHessian::add_block(std::size_t from, std::size_t to, std::vector<double>& buffer,
                               ColMatrix& out) const {
  const std::size_t width = rows().columns() + 1;
  const auto d = static_cast<Index>(width) - 1;
  if (const auto* dense = std::get_if<DenseView>(&rows().view())) {
    buffer.resize((to - from) * width);
    for (std::size_t i = from; i < to; ++i) {
      Eigen::Map<Vector> row(buffer.data() + (i - from) * width, d + 1);
      write_row(problem_, *dense, i, row.head(d));
      row[d] = 1;
      row *= std::sqrt(curvature_[i]);
    }
    add_column_gram(buffer.data(), to - from, width, out);
    return;
  }
  const auto& sparse = std::get<CsrView>(rows().view());
  for (std::size_t i = from; i < to; ++i) {
    const auto end = static_cast<std::size_t>(sparse.start[i + 1]);
    for (auto k = static_cast<std::size_t>(sparse.start[i]); k < end; ++k) {
      const double value = curvature_[i] * sparse.values[k];
      double* column = out.data() + sparse.index[k] * (d + 1);
      for (std::size_t l = k; l < end; ++l) column[sparse.index[l]] += value * sparse.values[l];
      column[d] += value;
    }
    out(d, d) += curvature_[i];
  }
}

ColMatrix LogCoshHessian::matrix() const {
  constexpr std::size_t kMostPieces = 16, kBlock = 256, kValues = std::size_t{1} << 22;
  const std::size_t n = rows().rows(), width = rows().columns() + 1;
  const auto d = static_cast<Index>(width) - 1;
  const std::size_t pieces =
      std::clamp<std::size_t>(std::min(n / kBlock, kValues / (width * width)), 1, kMostPieces);
  std::vector<ColMatrix> parts(pieces);
  parallel_for(pieces, rows().threads(), [&](std::size_t piece) {
    parts[piece] = ColMatrix::Zero(d + 1, d + 1);
    std::vector<double> buffer;
    const std::size_t end = (piece + 1) * n / pieces;
    for (std::size_t from = piece * n / pieces; from < end; from += kBlock)
      add_block(from, std::min(end, from + kBlock), buffer, parts[piece]);
  });
  ColMatrix out = std::move(parts[0]);
  for (std::size_t piece = 1; piece < pieces; ++piece) out += parts[piece];
  if (!problem_.factor.empty() && std::holds_alternative<CsrView>(rows().view())) {
    const auto shift = as_vector(problem_.shift), factor = as_vector(problem_.factor);
    const Vector sums = out.row(d).head(d);
    const double total = out(d, d);
    for (Index j = 0; j < d; ++j) {
      out.col(j).head(d) += (total * shift[j] - sums[j]) * shift - shift[j] * sums;
      out.col(j).head(d).array() *= factor[j] * factor.array();
      out(d, j) = factor[j] * (sums[j] - total * shift[j]);
    }
  }
  out.diagonal().array() += problem_.lambda;
  return out;
}

// In nanoseconds of one core, where only the ratio matters.
double LogCoshHessian::matrix_cost() const {
  const auto n = static_cast<double>(std::max<std::size_t>(rows().rows(), 1));
  const auto d = static_cast<double>(rows().columns() + 1);
  const double factor = d * d * d / 30;
  if (std::holds_alternative<DenseView>(rows().view())) return (n * d * d / 15 + factor) / (n * d / 2);
  const auto& sparse = std::get<CsrView>(rows().view());
  double pairs = 0;
  for (std::size_t i = 0; i < sparse.rows; ++i) {
    const auto entries = static_cast<double>(sparse.start[i + 1] - sparse.start[i]);
    pairs += entries * (entries + 1) / 2;
  }
  return (pairs + factor) / (2 * (static_cast<double>(rows().stored()) + n));
}

}  // namespace bagwise::internal
