// The step of conv-pSVM that finds a labeling: which feasible y makes |sum_j alpha_j y_j phi(x_j)| large.
//
//   candidates   for every coordinate i of phi and both signs, the feasible y that maximises
//                +-sum_j alpha_j y_j phi_i(x_j), bag by bag by sorting (bag_labels.h)
//   answer       the candidate of largest |sum_j alpha_j y_j phi(x_j)|, the first of equals
//
// The largest length over all feasible y is hard to find; the best of these is at least 1/sqrt(coordinates)
// of it where the coordinates are all of phi's. Rows whose alpha is 0 do not count in the sum: they go by the
// coordinate alone, as if their alpha were next to nothing.
// Test    labeling_cut_test.cpp tries every feasible labeling.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bagwise/linalg/rows.h"
#include "bagwise/methods/bag_labels.h"

namespace bagwise {

// The labelings that are allowed: rows by bag, and how many positives each bag may have.
struct FeasibleLabels {
  std::vector<std::size_t> bag_start;  // where each bag begins, and the end of the last
  std::vector<CountRange> counts;

  FeasibleLabels(std::vector<std::size_t> starts, std::span<const double> proportions, double epsilon);
  // The one that maximises sum_j gain_j y_j.
  [[nodiscard]] Labels best(std::span<const double> gain) const;
};

class LabelingCut {
 public:
  // phi(x_j) are the rows; the first `coordinates` of their columns give candidates. Both must outlive it.
  LabelingCut(const RowsView& rows, std::size_t coordinates, const FeasibleLabels& feasible,
              unsigned threads);

  struct Found {
    Labels labels;
    double squared_length = 0;  // of sum_j alpha_j y_j phi(x_j)
  };
  [[nodiscard]] Found find(std::span<const double> alpha) const;

 private:
  // The labels of a candidate: two per coordinate, first the sign +.
  [[nodiscard]] Labels labels_of(std::size_t candidate, std::span<const double> weight) const;

  RowsView rows_;
  std::size_t coordinates_;
  const FeasibleLabels& feasible_;
  unsigned threads_;
  Csr columns_;         // column i of the rows as row i, without zeros
  RowMatrix products_;  // x_i.x_j, of rows that have more features than they are; else empty
};

}  // namespace bagwise
