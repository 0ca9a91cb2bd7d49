// The rows of a TubeProblem as the algorithms use them: products with planes, and dense copies of chosen
// sides.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bagwise/solver/tube_problem.h"

namespace bagwise::internal {

// One side of one row, seen by the planes as the vector sign * a_i + shift * u_t with bias coefficient sign.
struct Side {
  std::uint32_t row = 0;
  std::uint32_t task = 0;
  double sign = 1;
  double shift = 0;
  double weight = 0;  // D: what the side adds to the Hessian is weight * side side'
};

class TubeRows {
 public:
  TubeRows(const TubeProblem& problem, unsigned threads);

  [[nodiscard]] const TubeProblem& problem() const { return problem_; }
  [[nodiscard]] unsigned threads() const { return threads_; }

  // out_i = w_t(i) . a_i
  void multiply(const std::vector<Vector>& w, Vector& out) const;

  // out_t = sum over rows i of task t of c_i a_i
  [[nodiscard]] std::vector<Vector> multiply_transposed(const Vector& c) const;

  // The given sides as dense rows of features() + extra values each, times sqrt(weight) if `scaled`;
  // with extra = 1 the last value is the bias coefficient.
  void gather(std::span<const Side> sides, bool scaled, std::size_t extra, double* out) const;

 private:
  struct Segment {  // consecutive rows of one task
    std::size_t from = 0, count = 0, task = 0;
    RowsView rows;
  };

  const TubeProblem& problem_;
  unsigned threads_;
  std::vector<Segment> segments_;
};

}  // namespace bagwise::internal
