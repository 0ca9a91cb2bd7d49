#include "bagwise/methods/scorer.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "bagwise/core/parallel.h"
#include "bagwise/linalg/kernels.h"
#include "bagwise/methods/scaling.h"

namespace bagwise {
namespace {

constexpr std::size_t kMostRows = 16384;
constexpr std::size_t kMostValues = std::size_t{1} << 22;  // of dense scaled rows held at a time: 32 MB

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
  std::vector<double> out(row_count(rows));
  const RowMatrix f = products_with(rows, planes.weights, threads);
  parallel_for(out.size() / kMostRows + 1, threads, [&](std::size_t block) {
    const std::size_t end = std::min(out.size(), (block + 1) * kMostRows);
    for (std::size_t i = block * kMostRows; i < end; ++i) {
      double positive = 0, negative = 0;  // both, so that neither loses its digits near 0
      for (std::size_t m = 0; m < committee.size(); ++m) {
        const double score = f(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(m)) + planes.bias[m];
        positive += committee.share[m] * planes.probability[m].of(score);
        negative += committee.share[m] * planes.probability[m].of_negative(score);
      }
      out[i] = std::log(positive) - std::log(negative);
    }
  });
  return out;
}

std::vector<double> Scorer::kernel_scores(const RowsView& rows, unsigned threads) const {
  const Expansion& expansion = *model_->expansion;
  const auto terms = static_cast<Eigen::Index>(task_->weights.size());
  const RowMatrix weights = Eigen::Map<const RowMatrix>(task_->weights.data(), terms, 1);
  std::vector<double> out(row_count(rows));
  const std::size_t fit = kMostValues / std::max<std::size_t>(1, column_count(rows));
  const std::size_t block = std::clamp<std::size_t>(fit, 64, kMostRows);
  for (std::size_t from = 0; from < out.size(); from += block) {
    const std::size_t count = std::min(block, out.size() - from);
    const Features scaled = scaled_rows(model_->scaling, rows, from, count);
    const RowMatrix f =
        kernel_expansion(expansion.kernel, expansion.rows.view(), weights, scaled.view(), threads);
    for (std::size_t i = 0; i < count; ++i) out[from + i] = f(static_cast<Eigen::Index>(i), 0) + task_->bias;
  }
  return out;
}

}  // namespace bagwise
