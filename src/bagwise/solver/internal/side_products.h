// Sides of rows as linear maps: what planes make of every side, and what weights on sides pull on the planes.
//
// Arrays over sides have 2 n entries: the upper sides of the n rows, then the lower ones.
#pragma once

#include "bagwise/solver/internal/tube_rows.h"

namespace bagwise::internal {

// h_j(x) = side_j . x - constant_j costs cost_j max(0, h_j(x)).
struct SideLosses {
  Eigen::ArrayXd cost, constant;
};
SideLosses side_losses(const TubeProblem& problem);

// Multipliers as one array over sides, and back.
Eigen::ArrayXd to_sides(const TubeMultipliers& multipliers);
TubeMultipliers to_multipliers(const Eigen::ArrayXd& sides);

// The sum of values over the sides of each task, of this rank's rows.
Eigen::ArrayXd sum_by_task(const TubeProblem& problem, const Eigen::ArrayXd& sides, unsigned threads);

// side_j . x for every side: linear in x, without the constants of h_j.
Eigen::ArrayXd side_products(const TubeRows& rows, const TubePlanes& x);

// sum_j c_j side_j as a vector over (w_0, v, b).
TubePlanes pull_sides(const TubeRows& rows, const Eigen::ArrayXd& c);

// R'(x) + sum_j c_j side_j.
TubePlanes lagrangian_gradient(const TubeRows& rows, const TubePlanes& x, const Eigen::ArrayXd& c);

// x += s * step
void add_scaled(TubePlanes& x, double s, const TubePlanes& step);

// Per task the mean of (1 + 1/lambda_t) |a_i|^2, of a sample where there are many rows: the scale of its part
// of the kernel.
std::vector<double> kernel_scales(const TubeProblem& problem);

}  // namespace bagwise::internal
