// Scorer: f(x) of one task of a model, linear, kernel or a committee, for raw rows.
#pragma once

#include <cstdint>
#include <vector>

#include "bagwise/core/result.h"
#include "bagwise/methods/model.h"

namespace bagwise {

class Scorer {
 public:
  // The model must outlive its scorer.
  Scorer(const Model& model, std::size_t task);
  Scorer(Model&& model, std::size_t task) = delete;

  // One score per row, which has the model's features as they were read; on up to `threads` threads, the same
  // bits whatever their number. Rows are scaled some at a time: memory does not grow with their number.
  [[nodiscard]] std::vector<double> scores(const RowsView& rows, unsigned threads = 0) const;
  [[nodiscard]] double probability(double score) const;

 private:
  [[nodiscard]] std::vector<double> committee_scores(const RowsView& rows, unsigned threads) const;
  [[nodiscard]] std::vector<double> kernel_scores(const RowsView& rows, unsigned threads) const;

  const Model* model_;
  const TaskModel* task_;
  std::size_t number_;  // of the task
  Plane plane_;         // of a linear model
};

// The same, where a score that is too large to be a number is an error that names its row, counted from
// `first_row` + 1.
Result<std::vector<double>> finite_scores(const Scorer& scorer, const RowsView& rows, unsigned threads = 0,
                                          std::uint64_t first_row = 0);

}  // namespace bagwise
