// Value and gradient of the log-cosh problem, and its values along a line: one pass over the rows each.
#pragma once

#include <vector>

#include "bagwise/solver/internal/log_cosh_hessian.h"

namespace bagwise::internal {

class LogCoshRows {
 public:
  LogCoshRows(const LogCoshProblem& problem, const PiecedRows& rows);

  struct Value {
    double value = 0;
    double magnitude = 0;  // sum of the absolute terms: what the rounding of `value` is relative to
    Vector gradient;
  };
  // Makes w the point.
  Value evaluate(const Vector& w);

  // Of the rows at the point: h_j = 1 - tanh(w.x_j)^2.
  [[nodiscard]] std::span<const double> curvature() const { return curvature_; }

  // How far to go from w, the point, along a direction so that F is nearly lowest, ahead or back to -1, where
  // it must fall: F falls all the way from there, at the end by at most `enough` per unit. One pass, and then
  // only work on margins.
  [[nodiscard]] double best_length(const Vector& w, const Vector& direction, double enough) const;

 private:
  const LogCoshProblem& problem_;
  const PiecedRows& rows_;
  std::vector<double> margin_, slope_, curvature_;  // per row: w.x_j, its tanh, and the derivative of that
};

}  // namespace bagwise::internal
