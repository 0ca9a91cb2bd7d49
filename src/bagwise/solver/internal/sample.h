// A sample of a problem's rows as a problem of its own, whose planes are near those of the whole.
//
// One row of every few consecutive ones of its task, drawn from a fixed seed, with costs raised so that rows
// and regulariser weigh against each other as before. Its planes differ from the whole's by about what the
// choice of rows leaves open, so they need not be found to a smaller gap than that.
#pragma once

#include <cstddef>
#include <vector>

#include "bagwise/solver/tube_problem.h"

namespace bagwise::internal {

class RowSample {
 public:
  // Whether a sample would have less than half the rows: tasks with few are taken whole.
  static bool worthwhile(const TubeProblem& problem, std::size_t every);
  RowSample(const TubeProblem& problem, std::size_t every, unsigned threads);
  RowSample(const RowSample&) = delete;  // the problem points into the rows
  RowSample& operator=(const RowSample&) = delete;

  [[nodiscard]] const TubeProblem& problem() const { return problem_; }

  // How far residuals of the whole's solution may be from those of the sample's `planes`, per task: the width
  // of the band about the tubes' edges that holds as many rows as that difference can move across them.
  [[nodiscard]] std::vector<double> band_width(const TubePlanes& planes, unsigned threads) const;

 private:
  TubeProblem problem_;
  DenseRows dense_;
  Csr sparse_;
};

}  // namespace bagwise::internal
