// Dense rows as sparse ones: what a test computes both ways.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bagwise/linalg/rows.h"

namespace bagwise::test {

inline Csr sparse_of(const DenseView& rows) {
  Csr out;
  out.columns = rows.columns;
  for (std::size_t i = 0; i < rows.rows; ++i) {
    for (std::size_t j = 0; j < rows.columns; ++j) {
      if (rows.row(i)[j] == 0) continue;
      out.index.push_back(static_cast<std::int32_t>(j));
      out.values.push_back(rows.row(i)[j]);
    }
    out.start.push_back(static_cast<std::int64_t>(out.values.size()));
  }
  return out;
}

}  // namespace bagwise::test
