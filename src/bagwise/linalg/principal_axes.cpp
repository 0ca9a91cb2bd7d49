#include "bagwise/linalg/principal_axes.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <vector>

#include "bagwise/core/parallel.h"
#include "bagwise/core/random.h"
#include "bagwise/linalg/blas.h"
#include "bagwise/linalg/centred_rows.h"
#include "bagwise/linalg/kernels.h"
#include "bagwise/linalg/spectrum.h"

namespace bagwise {
namespace {

using Eigen::Index;

// All fixed: the bits must not depend on the number of threads.
constexpr std::size_t kBlockRows = kCentredBlock;
constexpr std::size_t kPieces = 16;                        // partial sums held side by side
constexpr std::size_t kBlockColumns = 512;                 // of a table with few rows
constexpr std::size_t kMostValues = std::size_t{1} << 26;  // of the axes: 512 MB
constexpr std::size_t kFewest = 16;                        // axes, however long they are
constexpr double kMostGramWork = 2e11;                     // products of A A': some seconds on a core
constexpr std::size_t kOversampling = 24;
constexpr int kMostIterations = 12;
constexpr double kSettled = 1e-3;  // a kept singular value may still change by this share

Index as_index(std::size_t n) { return static_cast<Index>(n); }

Vector mean_of(std::span<const RowsView> tables, std::size_t rows, unsigned threads) {
  Vector sum = Vector::Zero(as_index(column_count(tables[0])));
  for (const RowsView& table : tables)
    sum += multiply_transposed(table, std::vector<double>(row_count(table), 1.0), threads);
  return sum / static_cast<double>(rows);
}

// Sums over rows less a mean: of them, and of their squares.
struct Deviation {
  Vector sum;
  double squares = 0;
};

void add_deviation(const DenseView& rows, const Vector& mean, unsigned threads, Deviation& out) {
  std::vector<Deviation> parts(kPieces, {Vector::Zero(mean.size()), 0});
  parallel_for(kPieces, threads, [&](std::size_t p) {
    for (std::size_t i = p * rows.rows / kPieces; i < (p + 1) * rows.rows / kPieces; ++i) {
      const Vector off = Eigen::Map<const Vector>(rows.row(i).data(), mean.size()) - mean;
      parts[p].sum += off;
      parts[p].squares += off.squaredNorm();
    }
  });
  for (const Deviation& part : parts) {
    out.sum += part.sum;
    out.squares += part.squares;
  }
}

// Of the entries that are not stored, only their number per column matters.
void add_deviation(const CsrView& rows, const Vector& mean, unsigned /*threads*/, Deviation& out) {
  Vector absent = Vector::Constant(mean.size(), static_cast<double>(rows.rows));
  for (std::size_t k = 0; k < rows.values.size(); ++k) {
    const double off = rows.values[k] - mean[rows.index[k]];
    out.sum[rows.index[k]] += off;
    out.squares += off * off;
    absent[rows.index[k]] -= 1;
  }
  out.sum -= mean.cwiseProduct(absent);
  out.squares += mean.cwiseAbs2().dot(absent);
}

// The mean and the squared distances from it; these are 0 where rounding is all there is of them.
void set_mean(std::span<const RowsView> tables, std::size_t rows, unsigned threads, PrincipalAxes& out) {
  constexpr double kRounding = 1e-30;  // of a square: some units in the last place
  const auto n = static_cast<double>(rows);
  out.mean = mean_of(tables, rows, threads);
  Deviation found{Vector::Zero(out.mean.size()), 0};
  for (const RowsView& table : tables)
    std::visit([&](const auto& view) { add_deviation(view, out.mean, threads, found); }, table);
  out.mean += found.sum / n;
  out.total = found.squares - found.sum.squaredNorm() / n;
  if (std::isfinite(out.total) && out.total <= kRounding * n * out.mean.squaredNorm()) out.total = 0;
}

// The spectrum above the cutoff, `most` values at the most. A number that is not finite makes all of them so.
Spectrum leading_spectrum(const ColMatrix& a, std::size_t most, double cutoff) {
  if (!a.triangularView<Eigen::Lower>().toDenseMatrix().allFinite())
    return {Vector::Constant(1, std::numeric_limits<double>::quiet_NaN()), ColMatrix::Zero(a.rows(), 1)};
  const Spectrum all = spectrum_of(a);
  Index kept = 0;
  while (kept < std::min(all.values.size(), as_index(most)) && all.values[kept] > 0 &&
         all.values[kept] > cutoff * all.values[0]) {
    ++kept;
  }
  return {all.values.head(kept), all.vectors.leftCols(kept)};
}

constexpr double kCutoffOfSquares = kAxesCutoff * kAxesCutoff;

// A'A: blocks of centred rows, each piece of them on one thread.
std::optional<ColMatrix> column_gram(std::span<const RowsView> tables, const Vector& mean,
                                     const AxesOptions& options) {
  constexpr std::size_t kBlocksEach = 8;
  const auto columns = static_cast<std::size_t>(mean.size());
  const std::vector<RowBlock> blocks = cut_into_blocks(tables);
  std::vector<ColMatrix> parts(std::min(kPieces, blocks.size()));
  const SerialBlas serial;
  for (std::size_t first = 0; first < blocks.size(); first += kPieces * kBlocksEach) {
    if (tell(options.observer, {"principal axes", static_cast<double>(first),
                                static_cast<double>(blocks.size())}) == Next::kStop)
      return {};
    parallel_for(parts.size(), options.threads, [&](std::size_t p) {
      ColMatrix& part = parts[p];
      if (part.size() == 0) part = ColMatrix::Zero(mean.size(), mean.size());
      std::vector<double> centred(kBlockRows * columns);
      for (std::size_t b = first + p; b < std::min(blocks.size(), first + kPieces * kBlocksEach);
           b += kPieces) {
        const RowBlock& block = blocks[b];
        copy_centred(*block.table, block.from, block.count, 0, columns, mean, centred.data());
        add_column_gram(centred.data(), block.count, columns, part);
      }
    });
  }
  for (std::size_t p = 1; p < parts.size(); ++p) parts[0] += parts[p];
  return std::move(parts[0]);
}

// All rows less the mean, in a range of columns.
std::vector<double> centred_slab(std::span<const RowsView> tables, std::size_t rows, const Vector& mean,
                                 std::size_t column, std::size_t columns) {
  std::vector<double> out(rows * columns);
  double* place = out.data();
  for (const RowsView& table : tables) {
    copy_centred(table, 0, row_count(table), column, columns, mean, place);
    place += row_count(table) * columns;
  }
  return out;
}

// What is done on one range of columns after the other: work(piece, column, columns), pieces on several
// threads. False: the observer stopped it.
template <class Work>
bool over_slabs(std::size_t columns, const AxesOptions& options, const Work& work) {
  const std::size_t slabs = (columns + kBlockColumns - 1) / kBlockColumns;
  for (std::size_t first = 0; first < slabs; first += kPieces) {
    if (tell(options.observer, {"principal axes", static_cast<double>(first), static_cast<double>(slabs)}) ==
        Next::kStop)
      return false;
    parallel_for(std::min(kPieces, slabs - first), options.threads, [&](std::size_t p) {
      const std::size_t column = (first + p) * kBlockColumns;
      work(p, column, std::min(kBlockColumns, columns - column));
    });
  }
  return true;
}

// The symmetric way to rows that are orthonormal, by Newton's steps for E^(-1/2), E = X X': rows near to be
// so stay what they are. Each step squares the error.
void orthonormalise(RowMatrix& x, unsigned threads) {
  constexpr double kGood = 1e-13;
  const auto rows = static_cast<std::size_t>(x.rows()), columns = static_cast<std::size_t>(x.cols());
  const SerialBlas serial;
  for (int step = 0; step < 4; ++step) {
    const std::size_t slabs = (columns + kBlockColumns - 1) / kBlockColumns;
    ColMatrix gram = ColMatrix::Zero(x.rows(), x.rows());
    std::vector<ColMatrix> parts(std::min(kPieces, slabs));
    parallel_for(parts.size(), threads, [&](std::size_t p) {
      parts[p] = gram;
      for (std::size_t s = p; s < slabs; s += kPieces) {
        const Index from = as_index(s * kBlockColumns);
        const RowMatrix slab = x.middleCols(from, std::min(as_index(kBlockColumns), x.cols() - from));
        add_row_gram(slab.data(), rows, static_cast<std::size_t>(slab.cols()), parts[p]);
      }
    });
    for (const ColMatrix& part : parts) gram += part;
    gram.triangularView<Eigen::StrictlyUpper>() = gram.transpose();
    const RowMatrix turn = 1.5 * RowMatrix::Identity(x.rows(), x.rows()) - 0.5 * gram;
    if ((gram - ColMatrix::Identity(x.rows(), x.rows())).cwiseAbs().maxCoeff() < kGood) return;
    parallel_for(slabs, threads, [&](std::size_t s) {
      const Index from = as_index(s * kBlockColumns);
      const RowMatrix slab = x.middleCols(from, std::min(as_index(kBlockColumns), x.cols() - from));
      RowMatrix turned(slab.rows(), slab.cols());
      dense_product(turn.data(), rows, slab.data(), static_cast<std::size_t>(slab.cols()), rows,
                    turned.data());
      x.middleCols(from, slab.cols()) = turned;
    });
  }
}

bool by_columns(std::span<const RowsView> tables, const AxesOptions& options, PrincipalAxes& out) {
  const auto gram = column_gram(tables, out.mean, options);
  if (!gram) return false;
  const Spectrum found = leading_spectrum(*gram, static_cast<std::size_t>(out.mean.size()), kCutoffOfSquares);
  out.singular = found.values.cwiseSqrt();
  out.axes = found.vectors.transpose();
  return true;
}

// v_i = A' u_i / s_i for the eigenvectors u_i of A A'.
bool by_rows(std::span<const RowsView> tables, std::size_t rows, const AxesOptions& options,
             PrincipalAxes& out) {
  const auto columns = static_cast<std::size_t>(out.mean.size());
  const SerialBlas serial;
  std::vector<ColMatrix> parts(kPieces);
  const bool summed = over_slabs(columns, options, [&](std::size_t p, std::size_t from, std::size_t count) {
    if (parts[p].size() == 0) parts[p] = ColMatrix::Zero(as_index(rows), as_index(rows));
    add_row_gram(centred_slab(tables, rows, out.mean, from, count).data(), rows, count, parts[p]);
  });
  if (!summed) return false;
  ColMatrix gram = ColMatrix::Zero(as_index(rows), as_index(rows));
  for (const ColMatrix& part : parts) {
    if (part.size() > 0) gram += part;
  }
  const Spectrum found =
      leading_spectrum(gram, std::min(rows, std::max(kFewest, kMostValues / columns)), kCutoffOfSquares);
  out.singular = found.values.cwiseSqrt();
  const RowMatrix u =
      (found.vectors * out.singular.cwiseInverse().asDiagonal()).transpose();  // one row per axis
  out.axes.resize(u.rows(), out.mean.size());
  const bool made = over_slabs(columns, options, [&](std::size_t, std::size_t from, std::size_t count) {
    const auto slab = centred_slab(tables, rows, out.mean, from, count);
    RowMatrix part(u.rows(), as_index(count));
    dense_product(u.data(), static_cast<std::size_t>(u.rows()), slab.data(), count, rows, part.data());
    out.axes.middleCols(as_index(from), as_index(count)) = part;
  });
  if (made && out.axes.allFinite()) orthonormalise(out.axes, options.threads);
  return made;
}

// x c for a tall x, in blocks of its rows.
RowMatrix times(const RowMatrix& x, const RowMatrix& c, unsigned threads) {
  RowMatrix out(x.rows(), c.cols());
  const SerialBlas serial;
  const auto rows = static_cast<std::size_t>(x.rows());
  parallel_for((rows + kBlockRows - 1) / kBlockRows, threads, [&](std::size_t b) {
    const std::size_t from = b * kBlockRows;
    dense_product(x.row(as_index(from)).data(), std::min(kBlockRows, rows - from), c.data(),
                  static_cast<std::size_t>(c.cols()), static_cast<std::size_t>(c.rows()),
                  out.row(as_index(from)).data());
  });
  return out;
}

// x' z for tall x and z, in fixed pieces of their rows.
ColMatrix cross(const RowMatrix& x, const RowMatrix& z, unsigned threads) {
  const std::size_t blocks = (static_cast<std::size_t>(x.rows()) + kBlockRows - 1) / kBlockRows;
  std::vector<RowMatrix> parts(std::min(kPieces, blocks));
  const SerialBlas serial;
  parallel_for(parts.size(), threads, [&](std::size_t p) {
    parts[p] = RowMatrix::Zero(x.cols(), z.cols());
    RowMatrix product(x.cols(), z.cols());
    for (std::size_t b = p; b < blocks; b += kPieces) {
      const Index from = as_index(b * kBlockRows), count = std::min(as_index(kBlockRows), x.rows() - from);
      const RowMatrix turned = x.middleRows(from, count).transpose();
      dense_product(turned.data(), static_cast<std::size_t>(x.cols()), z.row(from).data(),
                    static_cast<std::size_t>(z.cols()), static_cast<std::size_t>(count), product.data());
      parts[p] += product;
    }
  });
  for (std::size_t p = 1; p < parts.size(); ++p) parts[0] += parts[p];
  return parts[0];
}

// Orthonormal columns that span those of x but for what is rounding; twice, as once leaves what the largest
// columns' rounding puts into the smallest.
RowMatrix orthonormal_columns(RowMatrix x, unsigned threads) {
  for (int pass = 0; pass < 2; ++pass) {
    const Spectrum found =
        leading_spectrum(cross(x, x, threads), static_cast<std::size_t>(x.cols()), pass == 0 ? 1e-13 : 0);
    x = times(x, RowMatrix(found.vectors * found.values.cwiseSqrt().cwiseInverse().asDiagonal()), threads);
  }
  return x;
}

bool by_iteration(std::span<const RowsView> tables, std::size_t rows, const AxesOptions& options,
                  PrincipalAxes& out) {
  const auto columns = static_cast<std::size_t>(out.mean.size());
  const std::size_t most =
      std::min({options.most, rows - 1, columns, std::max(kFewest, kMostValues / columns)});
  const std::size_t vectors = std::min({most + kOversampling, rows, columns});
  RowMatrix q(out.mean.size(), as_index(vectors));
  Rng rng(options.seed);
  for (Index i = 0; i < q.size(); ++i) q.data()[i] = rng.normal();
  Vector before;
  for (int iteration = 0; iteration < kMostIterations; ++iteration) {
    q = orthonormal_columns(std::move(q), options.threads);
    auto image = gram_times(tables, out.mean, q, options.threads, [&](double share) {
      return tell(options.observer, {"principal axes", iteration + share, kMostIterations});
    });
    if (!image) return false;
    ColMatrix inner = cross(q, *image, options.threads);
    inner = (inner + ColMatrix(inner.transpose())) / 2;
    const Spectrum found = leading_spectrum(inner, most, kCutoffOfSquares);
    out.singular = found.values.cwiseSqrt();
    const bool settled = before.size() == out.singular.size() &&
                         ((out.singular - before).array().abs() <= kSettled * out.singular.array()).all();
    if (settled || iteration + 1 == kMostIterations || !out.singular.allFinite() ||
        out.singular.size() == 0) {
      out.axes = times(q, RowMatrix(found.vectors), options.threads).transpose();
      return true;
    }
    before = out.singular;
    q = std::move(*image);
  }
  return true;
}

// An axis and its opposite are the same: the larger side of its largest entry is made the positive one.
void fix_signs(RowMatrix& axes) {
  for (Index i = 0; i < axes.rows(); ++i) {
    Index at = 0;
    axes.row(i).cwiseAbs().maxCoeff(&at);
    if (axes(i, at) < 0) axes.row(i) = -axes.row(i);
  }
}

}  // namespace

std::optional<PrincipalAxes> principal_axes(std::span<const RowsView> tables, const AxesOptions& options) {
  assert(!tables.empty());
  std::size_t rows = 0;
  for (const RowsView& table : tables) rows += row_count(table);
  const std::size_t columns = column_count(tables[0]);
  assert(rows > 0);
  PrincipalAxes out;
  set_mean(tables, rows, options.threads, out);
  out.axes.resize(0, as_index(columns));
  if (out.total == 0) return out;
  const double gram_work =
      static_cast<double>(rows) * static_cast<double>(rows) * static_cast<double>(columns);
  bool done = false;
  if (columns <= options.exact_up_to && columns <= rows) {
    done = by_columns(tables, options, out);
  } else if (rows <= options.exact_up_to && gram_work <= kMostGramWork) {
    done = by_rows(tables, rows, options, out);
  } else {
    done = by_iteration(tables, rows, options, out);
  }
  if (!done) return {};
  fix_signs(out.axes);
  return out;
}

RowMatrix coordinates(const PrincipalAxes& axes, const RowsView& rows, std::size_t from, std::size_t count,
                      unsigned threads) {
  assert(from + count <= row_count(rows));
  RowMatrix out(as_index(count), axes.axes.rows());
  if (axes.axes.rows() == 0) return out;
  const RowMatrix turned = axes.axes.transpose();
  const Vector at_mean = axes.axes * axes.mean;
  const SerialBlas serial;
  parallel_for((count + kBlockRows - 1) / kBlockRows, threads, [&](std::size_t b) {
    const std::size_t first = b * kBlockRows;
    project({&rows, from + first, std::min(kBlockRows, count - first)}, axes.mean, turned, at_mean,
            out.row(as_index(first)).data());
  });
  return out;
}

}  // namespace bagwise
