// The passes over the rows that the log-cosh problem needs: value with gradient, Hessian times vector,
// Hessian.
//
// Each is one pass, in pieces fixed by the shape of the rows: the same bits on any number of threads. Within
// a piece, blocks are small enough to be in the cache when they are used again.
#pragma once

#include <cstddef>
#include <vector>

#include "bagwise/solver/log_cosh.h"

namespace bagwise::internal {

class LogCoshRows {
 public:
  LogCoshRows(const LogCoshProblem& problem, unsigned threads);

  struct Value {
    double value = 0;
    double magnitude = 0;  // sum of the absolute terms: what the rounding of `value` is relative to
    Vector gradient;
  };
  // Makes w the point at which the Hessian is taken.
  Value evaluate(const Vector& w);

  // F'' v at the point, and F'' itself (lower triangle).
  [[nodiscard]] Vector hessian_times(const Vector& v) const;
  [[nodiscard]] ColMatrix hessian() const;
  // Its diagonal as if the curvature of the rows were spread evenly: no pass, but one at the first call.
  [[nodiscard]] Vector rough_diagonal();

  // How many passes of hessian_times take the time of hessian() and its factor, by their operations.
  [[nodiscard]] double hessian_cost() const;
  [[nodiscard]] std::size_t dimension() const { return columns_ + 1; }
  [[nodiscard]] int passes() const { return passes_; }

 private:
  struct Part;  // what a piece adds up
  template <class Work>
  Part sum_pieces(const Work& work) const;
  template <class Work>
  void over_blocks(std::size_t piece, std::size_t block_rows, const Work& work) const;

  // v as it meets the rows that are stored: weights of columns, and a constant.
  struct Stored {
    Vector weights;
    double constant = 0;
  };
  [[nodiscard]] Stored to_stored(const Vector& v) const;
  // sum_j t_j x_j from sum_j t_j row_j and sum_j t_j.
  [[nodiscard]] Vector from_stored(const Part& part) const;
  void add_hessian_block(std::size_t from, std::size_t to, std::vector<double>& buffer, ColMatrix& out) const;

  const LogCoshProblem& problem_;
  unsigned threads_;
  std::size_t rows_, columns_, stored_, pieces_, block_rows_;
  std::vector<double> slope_, curvature_;  // tanh and its derivative, per row
  double mean_curvature_ = 1;
  Vector squares_;  // of each column of the problem's rows
  mutable int passes_ = 0;
};

}  // namespace bagwise::internal
