// Tube regressions of any size of rows, costs, targets and tubes: what the solver says of its answer is what
// plain loops in wider numbers say of it.
#include <catch2/catch.hpp>
#include <cmath>

#include "support/tube_certificate.h"
#include "support/tube_problems.h"

namespace bagwise {
namespace {

using test::make_random;
using test::NaiveTube;
using test::Shape;

// How far the values may be off for the rounding of planes, multipliers and products in doubles.
struct Noise {
  long double primal = 0, dual = 0;
};
Noise noise_of(const TubeProblem& p, const TubeSolution& s) {
  constexpr long double kRounding = 1e-14L;
  const auto rows = test::plain_rows(p.rows);
  Noise out;
  std::vector<long double> pulled(p.features(), 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Vector w = s.planes.weights(p.task_of(i));
    long double size = std::abs(s.planes.bias[p.task_of(i)]) + std::abs(p.target[i]) + p.tube[i];
    const long double beta = static_cast<long double>(s.multipliers.below[i]) + s.multipliers.above[i];
    for (std::size_t j = 0; j < rows[i].size(); ++j) {
      size += std::abs(static_cast<long double>(w[static_cast<Eigen::Index>(j)]) * rows[i][j]);
      pulled[j] += beta * std::abs(rows[i][j]);
    }
    out.primal += kRounding * (p.cost_above[i] + p.cost_below[i]) * size;
    out.dual += kRounding * beta * (std::abs(p.target[i]) + p.tube[i]);
  }
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    const Vector& shared = s.planes.shared;
    for (std::size_t j = 0; j < pulled.size(); ++j) {
      const long double curve =
          1 + (std::isfinite(p.lambda[t]) ? 1 / static_cast<long double>(p.lambda[t]) : 0);
      // Off by this much, the sum of rows enters by its square.
      const long double off = kRounding * pulled[j];
      out.dual += curve * (off * off + off * std::abs(shared[static_cast<Eigen::Index>(j)]));
    }
  }
  return out;
}

// Feasible, reported as it is, and converged if and only if the gap says so.
void expect_certified(const TubeProblem& p, const TubeSolution& s, double gap) {
  if (s.report.termination == Termination::kNumericalFault) return;
  REQUIRE(std::isfinite(s.report.primal));
  REQUIRE(std::isfinite(s.report.dual));
  const NaiveTube naive{p};
  for (std::size_t i = 0; i < p.size(); ++i) {
    REQUIRE(s.multipliers.above[i] >= 0);
    REQUIRE(s.multipliers.above[i] <= p.cost_above[i]);
    REQUIRE(s.multipliers.below[i] >= 0);
    REQUIRE(s.multipliers.below[i] <= p.cost_below[i]);
  }
  const double primal = naive.primal(s.planes), dual = naive.dual(s.multipliers);
  const Noise noise = noise_of(p, s);
  CAPTURE(s.report.primal, primal, s.report.dual, dual, static_cast<double>(noise.primal),
          static_cast<double>(noise.dual), s.report.relative_gap());
  CHECK(std::abs(s.report.primal - primal) <= static_cast<double>(noise.primal) + 1e-9 * std::abs(primal));
  const double rounding = naive.rounding_of_dual(s.multipliers) * 100;
  CHECK(std::abs(s.report.dual - dual) <=
        static_cast<double>(noise.dual) + rounding + 1e-9 * std::abs(primal));
  CHECK(s.report.dual <= s.report.primal + static_cast<double>(noise.primal + noise.dual));
  CHECK((s.report.termination == Termination::kConverged) == (s.report.relative_gap() <= gap));
}

TEST_CASE("torture: tube regressions of any size are certified as they are", "[torture][solver]") {
  Rng rng(29);
  std::size_t converged = 0, all = 0;
  for (const double unit : {1e-150, 1e-12, 1e-3, 1.0, 1e3, 1e6, 1e12, 1e40}) {
    for (const double cost : {1e-12, 1e-3, 1.0, 1e3, 1e12}) {
      for (int round = 0; round < 6; ++round) {
        Shape shape;
        shape.rows = 12;
        shape.features = round % 2 == 0 ? 4 : 20;
        shape.tasks = 1 + static_cast<std::size_t>(round) / 2;
        shape.cost = cost;
        shape.sparse = round == 1 || round == 4;
        shape.deficient = round == 2;
        shape.one_sided = round == 3;
        auto made = make_random(rng, shape);
        for (std::size_t i = 0; i < made->dense.rows(); ++i) {
          for (double& x : made->dense.row(i)) x *= unit;
        }
        for (double& x : made->sparse.values) x *= unit;
        const TubeSolution solution = solve_tube_regression(made->problem);
        CAPTURE(unit, cost, round, solution.report.algorithm);
        expect_certified(made->problem, solution, 1e-6);
        ++all;
        converged += solution.report.termination == Termination::kConverged ? 1 : 0;
        // Nothing is worse than no planes at all.
        TubePlanes flat = solution.planes;
        flat.shared.setZero();
        for (Vector& own : flat.own) own.setZero();
        CHECK(solution.report.primal <= primal_value(made->problem, flat) * (1 + 1e-9));
      }
    }
  }
  // Where cost x size^2 is within what doubles can certify, that is nearly always so.
  CHECK(converged >= all * 7 / 10);
}

// min over the plane of the loss alone: what ever larger costs come to. One feature, one task, by trying
// every line through two of the tubes' edges.
double least_loss(const TubeProblem& p) {
  const auto rows = test::plain_rows(p.rows);
  double best = std::numeric_limits<double>::infinity();
  const auto loss = [&](double w, double b) {
    double sum = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
      sum += p.cost_above[i] * std::max(0.0, std::abs(w * rows[i][0] + b - p.target[i]) - p.tube[i]);
    return sum;
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const double up : {-1.0, 1.0}) {
      best = std::min(best, loss(0, p.target[i] + up * p.tube[i]));
      for (std::size_t k = 0; k < i; ++k) {
        for (const double up2 : {-1.0, 1.0}) {
          const double w =
              (p.target[i] + up * p.tube[i] - p.target[k] - up2 * p.tube[k]) / (rows[i][0] - rows[k][0]);
          best = std::min(best, loss(w, p.target[i] + up * p.tube[i] - w * rows[i][0]));
        }
      }
    }
  }
  return best;
}

// Costs far beyond what can be certified still lead to the planes that fit best.
TEST_CASE("torture: costs without end lead to the least loss", "[torture][solver]") {
  Rng rng(31);
  for (const double cost : {1e6, 1e10, 1e14, 1e20, 1e40, 1e80}) {
    for (int round = 0; round < 5; ++round) {
      Shape shape;
      shape.rows = 9;
      shape.features = 1;
      auto made = make_random(rng, shape);
      TubeProblem& p = made->problem;
      p.lambda = {std::numeric_limits<double>::infinity()};
      p.cost_above.assign(p.size(), cost);
      p.cost_below.assign(p.size(), cost);
      const TubeSolution solution = solve_tube_regression(p);
      CAPTURE(cost, round, solution.report.relative_gap());
      expect_certified(p, solution, 1e-6);
      CHECK(solution.report.primal <= least_loss(p) * (1 + 1e-5) + solution.planes.shared.squaredNorm());
      CHECK(solution.report.dual >= 0);
    }
  }
}

}  // namespace
}  // namespace bagwise
