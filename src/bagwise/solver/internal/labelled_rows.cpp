#include "bagwise/solver/internal/labelled_rows.h"

#include <cassert>
#include <utility>

#include "bagwise/linalg/kernels.h"

namespace bagwise::internal {

LabelledRows::LabelledRows(const RowsView& rows, RowMatrix labels, unsigned threads)
    : view_(rows), labels_(std::move(labels)), threads_(threads) {
  assert(static_cast<std::size_t>(labels_.rows()) == row_count(view_));
}

LabelledRows::LabelledRows(const LabelledRows& all, std::span<const std::size_t> which)
    : labels_(static_cast<Eigen::Index>(which.size()), all.labelings()), threads_(all.threads_) {
  if (const auto* dense = std::get_if<DenseView>(&all.view_)) {
    view_ = own_.emplace<DenseRows>(take_rows(*dense, which)).view();
  } else {
    view_ = own_.emplace<Csr>(take_rows(std::get<CsrView>(all.view_), which)).view();
  }
  for (std::size_t i = 0; i < which.size(); ++i)
    labels_.row(static_cast<Eigen::Index>(i)) = all.labels_.row(static_cast<Eigen::Index>(which[i]));
}

RowMatrix LabelledRows::planes(const Vector& alpha) const {
  const RowMatrix signed_alpha = labels_.transpose() * alpha.asDiagonal();
  return combinations(view_, signed_alpha, threads_);
}

RowMatrix LabelledRows::slopes(const RowMatrix& planes) const {
  RowMatrix out = products_with(view_, planes, threads_);
  out.array() *= labels_.array();
  return out;
}

}  // namespace bagwise::internal
