// Random tube regressions for tests: any number of tasks, ties, zero tubes, shifts, sparse or collinear rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <memory>

#include "bagwise/core/random.h"
#include "bagwise/solver/tube_problem.h"

namespace bagwise::test {

struct RandomProblem {
  DenseRows dense;
  Csr sparse;
  TubeProblem problem;
};

struct Shape {
  std::size_t rows = 30, features = 10, tasks = 1;
  double cost = 1;
  bool shifted = false, one_sided = false, sparse = false, deficient = false;
};

inline double log_uniform(Rng& rng, double low, double high) {
  return std::exp(std::log(low) + rng.uniform() * std::log(high / low));
}

inline std::unique_ptr<RandomProblem> make_random(Rng& rng, const Shape& shape) {
  auto out = std::make_unique<RandomProblem>();
  TubeProblem& p = out->problem;
  out->dense = DenseRows(shape.rows, shape.features);
  DenseRows& a = out->dense;
  for (std::size_t i = 0; i < shape.rows; ++i) {
    for (std::size_t j = 0; j < shape.features; ++j) {
      a(i, j) = shape.sparse && rng.below(4) != 0 ? 0.0 : rng.normal();
      if (shape.deficient && j % 2 == 1) a(i, j) = a(i, j - 1);  // collinear columns
    }
    if (shape.deficient && i % 3 == 2)
      std::copy_n(a.row(i - 1).data(), shape.features, a.row(i).data());  // equal rows
    p.task.push_back(static_cast<std::uint32_t>(rng.below(shape.tasks)));
    p.target.push_back(std::round(4 * rng.normal()) / 2);  // ties on purpose
    p.tube.push_back(rng.below(3) == 0 ? 0.0 : 0.3 * rng.uniform());
    p.cost_above.push_back(shape.one_sided && rng.below(3) == 0 ? 0.0 : shape.cost * (0.5 + rng.uniform()));
    p.cost_below.push_back(shape.one_sided && rng.below(3) == 0 ? 0.0 : shape.cost * (0.5 + rng.uniform()));
  }
  p.lambda.clear();
  for (std::size_t t = 0; t < shape.tasks; ++t) {
    p.lambda.push_back(rng.below(4) == 0 ? std::numeric_limits<double>::infinity()
                                         : log_uniform(rng, 1e-3, 1e3));
    if (shape.shifted) {
      Vector u(static_cast<Eigen::Index>(shape.features));
      for (double& x : u) x = rng.normal();
      p.direction.push_back(u / u.norm());
    }
  }
  for (std::size_t i = 0; shape.shifted && i < shape.rows; ++i) {
    p.shift_above.push_back(-0.2 * rng.uniform());
    p.shift_below.push_back(-0.2 * rng.uniform());
  }
  if (shape.sparse) {
    out->sparse.columns = shape.features;
    for (std::size_t i = 0; i < shape.rows; ++i) {
      for (std::size_t j = 0; j < shape.features; ++j) {
        if (a(i, j) == 0) continue;
        out->sparse.index.push_back(static_cast<std::int32_t>(j));
        out->sparse.values.push_back(a(i, j));
      }
      out->sparse.start.push_back(static_cast<std::int64_t>(out->sparse.values.size()));
    }
    p.rows = out->sparse.view();
  } else {
    p.rows = out->dense.view();
  }
  return out;
}

}  // namespace bagwise::test
