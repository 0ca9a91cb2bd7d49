// TubeProblem: regression with a tube over one or more tasks, the convex problem behind the linear methods.
//
//   primal   min  1/2 |w_0|^2 + sum_t lambda_t/2 |v_t|^2
//               + sum_i above_i max(0, r_i + s_i g_t - eps_i) + below_i max(0, -r_i + s'_i g_t - eps_i)
//            over w_0, v_t, b_t, where w_t = w_0 + v_t, t = t(i), r_i = w_t.a_i + b_t - y_i, g_t = u_t.w_t
//   dual     max  -1/2 |w_0|^2 - sum_t lambda_t/2 |v_t|^2 + sum_i y_i (p_i - q_i) - eps_i (p_i + q_i)
//            over 0 <= q_i <= above_i, 0 <= p_i <= below_i with sum_{i in t} (p_i - q_i) = 0 for every task
//            t, where G_t = sum_{i in t} (p_i - q_i) a_i - (s_i q_i + s'_i p_i) u_t, w_0 = sum_t G_t, v_t =
//            G_t / lambda_t
//
// Rows are two-sided, or one-sided where a cost is 0. The shifts s, s' along one direction u_t per task give
// the upper and the lower side of a row different means (a + s u and a - s' u) without a second copy of the
// rows; with s = s' = -dbar that is TL-LLP's convexified round. lambda_t = infinity means v_t = 0.
//
// It knows rows and targets; what they are means of is not its business.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "bagwise/comm/communicator.h"
#include "bagwise/linalg/rows.h"

namespace bagwise {

// What the problem says of each row but for the row itself.
struct TubeTerms {
  std::vector<std::uint32_t> task;  // t(i); empty: all of task 0
  std::vector<double> target;       // y_i
  std::vector<double> tube;         // eps_i >= 0
  std::vector<double> cost_above;   // what a row above its tube costs per unit; >= 0, finite
  std::vector<double> cost_below;   // and below
  std::vector<double> lambda = {std::numeric_limits<double>::infinity()};  // one per task, in (0, infinity]

  [[nodiscard]] std::size_t size() const { return target.size(); }
  [[nodiscard]] std::size_t tasks() const { return lambda.size(); }
  [[nodiscard]] std::size_t task_of(std::size_t i) const { return task.empty() ? 0 : task[i]; }
};

struct TubeProblem : TubeTerms {
  RowsView rows;                    // a_i
  std::vector<double> shift_above;  // s_i; empty: 0
  std::vector<double> shift_below;  // s'_i; empty: 0
  std::vector<Vector> direction;    // u_t, one per task; needed with shifts only
  // Ranks that have other rows of the same problem: the rows here are this rank's, perhaps none, and every
  // rank makes the same calls. All get the same planes; multipliers are of a rank's own rows. Null: no
  // others.
  Communicator* comm = nullptr;

  [[nodiscard]] std::size_t features() const { return column_count(rows); }
  [[nodiscard]] bool shifted() const { return !shift_above.empty(); }
};

// The planes of all tasks.
struct TubePlanes {
  Vector shared;             // w_0
  std::vector<Vector> own;   // v_t
  std::vector<double> bias;  // b_t

  [[nodiscard]] Vector weights(std::size_t task) const { return shared + own[task]; }
};

// The multipliers of the two sides of every row.
struct TubeMultipliers {
  std::vector<double> above;  // q_i
  std::vector<double> below;  // p_i
};

}  // namespace bagwise
