// Rows as the lists of nodes that LIBSVM and LIBLINEAR take, and their planes as solutions of ours.
#pragma once

#include <vector>

#include "bagwise/linalg/kernels.h"
#include "bagwise/solver/svm.h"

namespace bagwise::bench {

// One list per row: columns from 1 that are not 0, then `constant` as one more column unless it is 0, then
// -1.
template <class Node>
std::vector<std::vector<Node>> nodes_of(const RowsView& rows, double constant) {
  const auto columns = static_cast<int>(column_count(rows));
  std::vector<std::vector<Node>> out(row_count(rows));
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (const auto* dense = std::get_if<DenseView>(&rows)) {
      for (int j = 0; j < columns; ++j) {
        if (const double v = dense->row(i)[static_cast<std::size_t>(j)]; v != 0) out[i].push_back({j + 1, v});
      }
    } else {
      const auto& sparse = std::get<CsrView>(rows);
      for (auto k = static_cast<std::size_t>(sparse.start[i]);
           k < static_cast<std::size_t>(sparse.start[i + 1]); ++k)
        out[i].push_back({sparse.index[k] + 1, sparse.values[k]});
    }
    if (constant != 0) out[i].push_back({columns + 1, constant});
    out[i].push_back({-1, 0});
  }
  return out;
}

// The rest of a solution whose plane another library found.
inline void complete(const RowsView& rows, SvmSolution& solution) {
  solution.squared_norm = solution.weights.squaredNorm();
  solution.values.resize(row_count(rows));
  multiply(rows, solution.weights, solution.values);
  for (double& f : solution.values) f += solution.bias;
  solution.report.termination = Termination::kConverged;
}

}  // namespace bagwise::bench
