#include "bagwise/linalg/dense_copy.h"

#include <algorithm>

namespace bagwise {

DenseRows dense_copy(const RowsView& rows) {
  DenseRows out(row_count(rows), column_count(rows));
  if (const auto* dense = std::get_if<DenseView>(&rows)) {
    for (std::size_t i = 0; i < dense->rows; ++i) std::ranges::copy(dense->row(i), out.row(i).begin());
    return out;
  }
  const auto& sparse = std::get<CsrView>(rows);
  for (std::size_t i = 0; i < sparse.rows; ++i) {
    for (auto k = static_cast<std::size_t>(sparse.start[i]);
         k < static_cast<std::size_t>(sparse.start[i + 1]); ++k)
      out(i, static_cast<std::size_t>(sparse.index[k])) = sparse.values[k];
  }
  return out;
}

}  // namespace bagwise
