#include "bagwise/solver/internal/simplex_system.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "bagwise/core/parallel.h"
#include "bagwise/linalg/kernel_rows.h"

namespace bagwise::internal {
namespace {

using Index = Eigen::Index;

constexpr std::size_t kTile = 256;  // rows whose products are computed at a time

std::size_t tiles_of(Index n) { return (static_cast<std::size_t>(n) + kTile - 1) / kTile; }

// x_i.x_j for j <= i, tile by tile.
ColMatrix lower_products(const RowsView& rows, Index n, unsigned threads) {
  ColMatrix out(n, n);
  const KernelSpace space({.kind = KernelKind::kLinear}, rows, rows);
  const std::size_t tiles = tiles_of(n);
  const auto count = [&](std::size_t tile) {
    return std::min(kTile, static_cast<std::size_t>(n) - tile * kTile);
  };
  const SerialBlas serial;
  parallel_for(tiles, threads, [&](std::size_t column) {
    const KernelRows b(space, rows, column * kTile, count(column));
    for (std::size_t row = column; row < tiles; ++row) {
      const KernelRows a(space, rows, row * kTile, count(row));
      RowMatrix block;
      kernel_block(space, b, a, block);
      out.block(static_cast<Index>(row * kTile), static_cast<Index>(column * kTile), block.cols(),
                block.rows()) = block.transpose();
    }
  });
  return out;
}

RowMatrix to_dense(const RowsView& rows) {
  if (const auto* dense = std::get_if<DenseView>(&rows)) return dense->matrix();
  const auto& sparse = std::get<CsrView>(rows);
  RowMatrix out = RowMatrix::Zero(static_cast<Index>(sparse.rows), static_cast<Index>(sparse.columns));
  for (std::size_t i = 0; i < sparse.rows; ++i) {
    for (auto k = static_cast<std::size_t>(sparse.start[i]);
         k < static_cast<std::size_t>(sparse.start[i + 1]); ++k)
      out(static_cast<Index>(i), sparse.index[k]) = sparse.values[k];
  }
  return out;
}

}  // namespace

// Per step: n^3/3 for the factor of road 1, about n (S d)^2 for making the matrix of road 2.
bool SimplexSystem::features_are_cheaper(Index rows, Index labelings, Index features) {
  const double inner = static_cast<double>(labelings) * static_cast<double>(features);
  return 3 * inner * inner < static_cast<double>(rows) * static_cast<double>(rows);
}

SimplexSystem::SimplexSystem(const LabelledRows& rows, Road road)
    : rows_(rows),
      by_rows_(road == Road::kAutomatic
                   ? !features_are_cheaper(rows.size(), rows.labelings(), rows.features())
                   : road == Road::kRows) {
  if (by_rows_) {
    products_ = lower_products(rows.view(), rows.size(), rows.threads());
  } else {
    dense_ = to_dense(rows.view());
    transposed_ = dense_.transpose();
  }
}

bool SimplexSystem::factor(const Vector& mu, const Vector& diagonal) {
  mu_ = mu;
  diagonal_ = diagonal;
  return by_rows_ ? factor_rows() : factor_features();
}

bool SimplexSystem::factor_rows() {
  const Index n = rows_.size();
  const RowMatrix& labels = rows_.labels();
  ColMatrix matrix(n, n);
  const SerialBlas serial;
  parallel_for(tiles_of(n), rows_.threads(), [&](std::size_t tile) {
    const auto from = static_cast<Index>(tile * kTile);
    const Index count = std::min(static_cast<Index>(kTile), n - from), rest = n - from;
    const RowMatrix weighted = labels.middleRows(from, count) * mu_.asDiagonal();
    RowMatrix agreement(count, rest);
    dense_product_transposed(weighted.data(), static_cast<std::size_t>(count),
                             labels.data() + from * labels.cols(), static_cast<std::size_t>(rest),
                             static_cast<std::size_t>(labels.cols()), agreement.data());
    for (Index j = 0; j < count; ++j) {
      matrix.col(from + j).tail(rest - j) =
          products_.col(from + j).tail(rest - j).cwiseProduct(agreement.row(j).tail(rest - j).transpose());
      matrix(from + j, from + j) += diagonal_[from + j];
    }
  });
  return factor_.factor(std::move(matrix));
}

bool SimplexSystem::factor_features() {
  const Index labelings = rows_.labelings(), d = rows_.features(), n = rows_.size();
  ColMatrix matrix = ColMatrix::Identity(labelings * d, labelings * d);
  std::vector<std::pair<Index, Index>> tiles;
  for (Index s = 0; s < labelings; ++s) {
    for (Index t = 0; t <= s; ++t) tiles.emplace_back(s, t);
  }
  const SerialBlas serial;
  parallel_for(tiles.size(), rows_.threads(), [&](std::size_t k) {
    const auto [s, t] = tiles[k];
    const Vector weight = std::sqrt(mu_[s] * mu_[t]) *
                          rows_.labels().col(s).cwiseProduct(rows_.labels().col(t)).cwiseQuotient(diagonal_);
    const RowMatrix weighted = transposed_ * weight.asDiagonal();
    RowMatrix block(d, d);
    dense_product(weighted.data(), static_cast<std::size_t>(d), dense_.data(), static_cast<std::size_t>(d),
                  static_cast<std::size_t>(n), block.data());
    matrix.block(s * d, t * d, d, d) += block;
  });
  return factor_.factor(std::move(matrix));
}

Vector SimplexSystem::apply(const Vector& x) const {
  return rows_.slopes(rows_.planes(x)) * mu_ + diagonal_.cwiseProduct(x);
}

Vector SimplexSystem::solve_features(const Vector& b) const {
  const Index labelings = rows_.labelings(), d = rows_.features();
  const Vector root = mu_.cwiseSqrt();
  const RowMatrix pulled = root.asDiagonal() * rows_.planes(b.cwiseQuotient(diagonal_));
  Vector inner = Eigen::Map<const Vector>(pulled.data(), labelings * d);
  factor_.solve_in_place(inner);
  const RowMatrix planes = Eigen::Map<const RowMatrix>(inner.data(), labelings, d);
  return (b - rows_.slopes(planes) * root).cwiseQuotient(diagonal_);
}

void SimplexSystem::solve_in_place(ColMatrix& b) const {
  const SerialBlas serial;
  if (by_rows_) {
    factor_.solve_in_place(b);
    return;
  }
  for (Index k = 0; k < b.cols(); ++k) {
    const Vector right = b.col(k);
    Vector x = solve_features(right);
    x += solve_features(right - apply(x));
    b.col(k) = x;
  }
}

}  // namespace bagwise::internal
