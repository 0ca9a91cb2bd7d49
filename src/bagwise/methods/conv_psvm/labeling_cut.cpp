#include "bagwise/methods/conv_psvm/labeling_cut.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "bagwise/core/parallel.h"
#include "bagwise/linalg/blas.h"
#include "bagwise/linalg/kernel_function.h"
#include "bagwise/linalg/kernels.h"

namespace bagwise {
namespace {

constexpr std::size_t kCandidates = 32;  // of which the sums are computed at a time
// What counts for the alpha of a row that has none, as a share of the largest: below any rounding.
constexpr double kNextToNothing = 1e-12;

// Fewer rows than features, and so many at most, are known by their products: a candidate then costs rows^2,
// and not rows x features.
constexpr std::size_t kMostProducts = 4096;

template <class Visit>
void visit_entries(const DenseView& rows, std::size_t columns, const Visit& visit) {
  for (std::size_t i = 0; i < rows.rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      if (rows.row(i)[j] != 0) visit(i, j, rows.row(i)[j]);
    }
  }
}

template <class Visit>
void visit_entries(const CsrView& rows, std::size_t columns, const Visit& visit) {
  for (std::size_t i = 0; i < rows.rows; ++i) {
    for (auto k = static_cast<std::size_t>(rows.start[i]); k < static_cast<std::size_t>(rows.start[i + 1]);
         ++k) {
      const auto j = static_cast<std::size_t>(rows.index[k]);
      if (j < columns) visit(i, j, rows.values[k]);
    }
  }
}

Csr first_columns(const RowsView& rows, std::size_t columns) {
  Csr out;
  out.columns = row_count(rows);
  std::visit(
      [&](const auto& view) {
        out.start.assign(columns + 1, 0);
        visit_entries(view, columns, [&](std::size_t, std::size_t j, double) { ++out.start[j + 1]; });
        for (std::size_t j = 0; j < columns; ++j) out.start[j + 1] += out.start[j];
        out.index.resize(static_cast<std::size_t>(out.start[columns]));
        out.values.resize(out.index.size());
        std::vector<std::int64_t> next(out.start.begin(), out.start.end() - 1);
        visit_entries(view, columns, [&](std::size_t i, std::size_t j, double value) {
          const auto at = static_cast<std::size_t>(next[j]++);
          out.index[at] = static_cast<std::int32_t>(i);
          out.values[at] = value;
        });
      },
      rows);
  return out;
}

}  // namespace

FeasibleLabels::FeasibleLabels(std::vector<std::size_t> starts, std::span<const double> proportions,
                               double epsilon)
    : bag_start(std::move(starts)) {
  assert(bag_start.size() == proportions.size() + 1);
  for (std::size_t k = 0; k < proportions.size(); ++k)
    counts.push_back(feasible_counts(bag_start[k + 1] - bag_start[k], proportions[k], epsilon));
}

Labels FeasibleLabels::best(std::span<const double> gain) const {
  Labels out(gain.size());
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const std::size_t from = bag_start[k], size = bag_start[k + 1] - from;
    label_bag(
        gain.subspan(from, size), counts[k], [](std::size_t) { return 0.0; },
        std::span(out).subspan(from, size));
  }
  return out;
}

LabelingCut::LabelingCut(const RowsView& rows, std::size_t coordinates, const FeasibleLabels& feasible,
                         unsigned threads)
    : rows_(rows),
      coordinates_(coordinates),
      feasible_(feasible),
      threads_(threads),
      columns_(first_columns(rows, coordinates)) {
  const std::size_t n = row_count(rows);
  if (n < column_count(rows) && n <= kMostProducts)
    kernel_block({KernelKind::kLinear}, rows, rows, products_);
}

Labels LabelingCut::labels_of(std::size_t candidate, std::span<const double> weight) const {
  const double sign = candidate % 2 == 0 ? 1 : -1;
  std::vector<double> gain(weight.size(), 0.0);
  const auto end = static_cast<std::size_t>(columns_.start[candidate / 2 + 1]);
  for (auto k = static_cast<std::size_t>(columns_.start[candidate / 2]); k < end; ++k) {
    const auto j = static_cast<std::size_t>(columns_.index[k]);
    gain[j] = sign * weight[j] * columns_.values[k];
  }
  return feasible_.best(gain);
}

LabelingCut::Found LabelingCut::find(std::span<const double> alpha) const {
  std::vector<double> weight(alpha.begin(), alpha.end());
  const double least = kNextToNothing * (weight.empty() ? 0 : std::ranges::max(weight));
  for (double& w : weight) w = std::max(w, least);
  const std::size_t candidates = 2 * coordinates_, blocks = (candidates + kCandidates - 1) / kCandidates;
  std::vector<double> length(candidates);
  const SerialBlas serial;
  parallel_for(blocks, threads_, [&](std::size_t b) {
    const std::size_t from = b * kCandidates, count = std::min(kCandidates, candidates - from);
    RowMatrix signed_alpha(static_cast<Eigen::Index>(count), static_cast<Eigen::Index>(alpha.size()));
    for (std::size_t c = 0; c < count; ++c) {
      const Labels labels = labels_of(from + c, weight);
      double* row = signed_alpha.row(static_cast<Eigen::Index>(c)).data();
      for (std::size_t j = 0; j < alpha.size(); ++j) row[j] = alpha[j] * labels[j];
    }
    // |sum_j a_j x_j|^2, by the sum or by a' K a.
    const bool by_products = products_.size() > 0;
    const RowMatrix sums =
        by_products ? RowMatrix(signed_alpha * products_) : combinations(rows_, signed_alpha);
    for (std::size_t c = 0; c < count; ++c) {
      const auto at = static_cast<Eigen::Index>(c);
      length[from + c] = by_products ? sums.row(at).dot(signed_alpha.row(at)) : sums.row(at).squaredNorm();
    }
  });
  const auto best = std::ranges::max_element(length);
  return {labels_of(static_cast<std::size_t>(best - length.begin()), weight), *best};
}

}  // namespace bagwise
