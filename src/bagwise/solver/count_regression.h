// Planes of several tasks that make the numbers of positives in their bags likely.
//
//   min  F = 1/2 |w_0|^2 + sum_t lambda_t/2 |v_t|^2 + sum_t sum_k cost_tk nll_tk(f_t)
//   over w_0, v_t, b_t, where f_t(x_j) = (w_0 + v_t).x_j + b_t, and nll is that of bag_count.h
//
// F is smooth and not convex: what comes out is a stationary point no higher than the start, and which one
// depends on the start. With annealing it depends little: all costs are lowered to where the first terms of F
// make it as good as convex, and raised again fourfold at a time, each solve going on from the last.
//
// Steps are those of L-BFGS. Along a step f is known for all rows from one product with them, so that a line
// search needs no further pass: a step costs two passes whatever the search does.
//
// Given   rows dense or sparse, the bag of each, counts seen, planes to start from.
// Returns planes, F after every step (never rising), and how far F is from stationary.
// See     Nocedal, Wright (2006), Numerical optimization, sections 3.5 and 7.2.
// Test    count_regression_test.cpp recomputes F from scratch and takes differences.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bagwise/core/observer.h"
#include "bagwise/linalg/rows.h"
#include "bagwise/solver/bag_count.h"
#include "bagwise/solver/solve_report.h"
#include "bagwise/solver/tube_problem.h"

namespace bagwise {

struct CountTask {
  RowsView rows;
  std::span<const std::size_t> row;    // row numbers, those of a bag together
  std::span<const std::size_t> start;  // where each bag begins in it, and the end of the last
  std::vector<CountSeen> seen;         // per bag
  std::vector<double> cost;            // per bag; >= 0
  double lambda = 1;                   // in (0, infinity)
};

// With shift and factor (both or neither) the rows of the problem are (row - shift) * factor, column by
// column; they are never written out, so sparse rows stay sparse.
struct CountProblem {
  std::vector<CountTask> tasks;
  std::size_t exact_up_to = 64;  // rows in a bag; beyond, the normal form
  std::span<const double> shift = {}, factor = {};

  [[nodiscard]] std::size_t features() const { return column_count(tasks.back().rows); }
};

struct CountOptions {
  // Converged when a step is expected to lower F by no more than this times the sum of all costs: so much of
  // a natural logarithm per bag.
  double tolerance = 1e-6;
  int max_steps = 500;  // at the full costs, and again in all stages before
  bool anneal = false;
  unsigned threads = 0;  // 0: one per core; never changes the answer
};

struct CountSolution {
  TubePlanes planes;
  double objective = 0;
  std::vector<double>
      history;           // F at the start (with annealing: where its last stage began), after every step
  int steps_before = 0;  // at lower costs
  double decrement = 0;  // what the next step is expected to gain, over the sum of all costs
  double passes = 0;     // over all rows
  Termination termination = Termination::kIterationLimit;

  [[nodiscard]] int steps() const { return static_cast<int>(history.size()) - 1; }
};

// F of planes, from scratch.
double count_objective(const CountProblem& problem, const TubePlanes& planes, unsigned threads = 0);

// The problem must be well formed: sizes agree, everything finite (assertions, not errors).
CountSolution solve_counts(const CountProblem& problem, const TubePlanes& start,
                           const CountOptions& options = {}, const Observer& observer = {});

}  // namespace bagwise
