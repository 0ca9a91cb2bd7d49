// Rows under several labelings: the planes that multipliers make, and what the planes make of the rows.
#pragma once

#include <cstddef>
#include <span>
#include <variant>

#include "bagwise/linalg/rows.h"

namespace bagwise::internal {

class LabelledRows {
 public:
  // `labels` has a row per row and a column per labeling. The rows must outlive it.
  LabelledRows(const RowsView& rows, RowMatrix labels, unsigned threads);
  // Some of the rows, copied.
  LabelledRows(const LabelledRows& all, std::span<const std::size_t> which);
  LabelledRows(const LabelledRows&) = delete;
  LabelledRows& operator=(const LabelledRows&) = delete;

  [[nodiscard]] Eigen::Index size() const { return labels_.rows(); }
  [[nodiscard]] Eigen::Index labelings() const { return labels_.cols(); }
  [[nodiscard]] Eigen::Index features() const { return static_cast<Eigen::Index>(column_count(view_)); }
  [[nodiscard]] const RowsView& view() const { return view_; }
  [[nodiscard]] const RowMatrix& labels() const { return labels_; }
  [[nodiscard]] unsigned threads() const { return threads_; }

  // w_s = sum_j alpha_j y_sj x_j, one row per labeling.
  [[nodiscard]] RowMatrix planes(const Vector& alpha) const;
  // y_sj x_j.w_s, one row per row and one column per labeling.
  [[nodiscard]] RowMatrix slopes(const RowMatrix& planes) const;

 private:
  std::variant<std::monostate, DenseRows, Csr> own_;
  RowsView view_;
  RowMatrix labels_;
  unsigned threads_;
};

}  // namespace bagwise::internal
