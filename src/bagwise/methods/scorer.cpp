#include "bagwise/methods/scorer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <span>

#include "bagwise/core/parallel.h"
#include "bagwise/core/sigmoid.h"
#include "bagwise/linalg/kernels.h"
#include "bagwise/methods/scaling.h"

namespace bagwise {
namespace {

constexpr std::size_t kMostRows = 16384;
constexpr std::size_t kMostValues = std::size_t{1} << 22;  // of dense scaled rows held at a time: 32 MB

// How many rows to look at at a time where each takes so many values.
std::size_t block_of_rows(std::size_t values) {
  return std::clamp<std::size_t>(kMostValues / std::max<std::size_t>(1, values), 64, kMostRows);
}

// log(1 / (1 + exp(-z))) of any z.
double log_logistic(double z) { return -softplus(-z); }

// log sum_m share_m exp(log_logistic(sign z_m)), where the terms themselves are too small to be added.
double log_of_small_mean(const std::vector<double>& share, std::span<const double> z, double sign) {
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (std::size_t m = 0; m < z.size(); ++m) {
    if (share[m] > 0) largest = std::max(largest, log_logistic(sign * z[m]));
  }
  for (std::size_t m = 0; m < z.size(); ++m) sum += share[m] * std::exp(log_logistic(sign * z[m]) - largest);
  return largest + std::log(sum);
}

}  // namespace

Scorer::Scorer(const Model& model, std::size_t task)
    : model_(&model), task_(&model.tasks[task]), number_(task), plane_(raw_plane(model, task)) {
  assert(task < model.tasks.size());
}

double Scorer::probability(double score) const { return task_->probability.of(score); }

std::vector<double> Scorer::scores(const RowsView& rows, unsigned threads) const {
  if (model_->committee) return committee_scores(rows, threads);
  if (model_->expansion) return kernel_scores(rows, threads);
  return bagwise::scores(plane_, rows, threads);
}

std::vector<double> Scorer::committee_scores(const RowsView& rows, unsigned threads) const {
  const Committee& committee = *model_->committee;
  const Committee::Planes& planes = committee.tasks[number_];
  const auto score_of = [&](const auto& f) {  // of one row, by every member
    std::vector<double> z(committee.size());
    double positive = 0, negative = 0;  // both, so that neither loses its digits near 0
    for (std::size_t m = 0; m < committee.size(); ++m) {
      const double score = f[static_cast<Eigen::Index>(m)] + planes.bias[m];
      z[m] = planes.probability[m].slope * score + planes.probability[m].offset;
      positive += committee.share[m] * planes.probability[m].of(score);
      negative += committee.share[m] * planes.probability[m].of_negative(score);
    }
    constexpr double kLeast = std::numeric_limits<double>::min();
    return (positive >= kLeast ? std::log(positive) : log_of_small_mean(committee.share, z, 1)) -
           (negative >= kLeast ? std::log(negative) : log_of_small_mean(committee.share, z, -1));
  };
  std::vector<double> out(row_count(rows));
  const std::size_t block = block_of_rows(std::max(column_count(rows), committee.size()));
  constexpr std::size_t kPiece = 256;
  for (std::size_t from = 0; from < out.size(); from += block) {
    const std::size_t count = std::min(block, out.size() - from);
    const Features some = scaled_rows({}, rows, from, count);
    const RowMatrix f = products_with(some.view(), planes.weights, threads);
    parallel_for((count + kPiece - 1) / kPiece, threads, [&](std::size_t piece) {
      for (std::size_t i = piece * kPiece; i < std::min(count, (piece + 1) * kPiece); ++i)
        out[from + i] = score_of(f.row(static_cast<Eigen::Index>(i)));
    });
  }
  return out;
}

std::vector<double> Scorer::kernel_scores(const RowsView& rows, unsigned threads) const {
  const Expansion& expansion = *model_->expansion;
  const auto terms = static_cast<Eigen::Index>(task_->weights.size());
  const RowMatrix weights = Eigen::Map<const RowMatrix>(task_->weights.data(), terms, 1);
  std::vector<double> out(row_count(rows));
  const std::size_t block = block_of_rows(column_count(rows));
  for (std::size_t from = 0; from < out.size(); from += block) {
    const std::size_t count = std::min(block, out.size() - from);
    const Features scaled = scaled_rows(model_->scaling, rows, from, count);
    const RowMatrix f =
        kernel_expansion(expansion.kernel, expansion.rows.view(), weights, scaled.view(), threads);
    for (std::size_t i = 0; i < count; ++i) out[from + i] = f(static_cast<Eigen::Index>(i), 0) + task_->bias;
  }
  return out;
}

Result<std::vector<double>> finite_scores(const Scorer& scorer, const RowsView& rows, unsigned threads,
                                          std::uint64_t first_row) {
  auto out = scorer.scores(rows, threads);
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (std::isfinite(out[i])) continue;
    return Error{fmt::format(
        "the score of row {} is not a finite number; expected values near those the model was trained on",
        first_row + i + 1)};
  }
  return out;
}

}  // namespace bagwise
