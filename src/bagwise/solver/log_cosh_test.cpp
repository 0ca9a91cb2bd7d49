#include "bagwise/solver/log_cosh.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <tuple>

#include "bagwise/core/random.h"
#include "bagwise/linalg/blas.h"
#include "bagwise/solver/internal/log_cosh_rows.h"

namespace bagwise {
namespace {

using Real = long double;
using RealVector = std::vector<Real>;

// A problem with the rows as they are meant written out, for the twin.
struct Example {
  DenseRows rows;  // as stored
  Csr sparse;      // the same
  std::vector<double> shift, factor;
  Vector linear;
  double lambda = 1;

  [[nodiscard]] LogCoshProblem dense_problem() const { return {rows.view(), linear, lambda, shift, factor}; }
  [[nodiscard]] LogCoshProblem sparse_problem() const {
    return {sparse.view(), linear, lambda, shift, factor};
  }
  // Entry j of row i of the problem; the last is the constant.
  [[nodiscard]] Real entry(std::size_t i, std::size_t j) const {
    if (j == rows.columns()) return 1;
    return factor.empty() ? Real(rows(i, j)) : (Real(rows(i, j)) - shift[j]) * factor[j];
  }
};

struct Shape {
  std::size_t rows = 60, columns = 5;
  double lambda = 1, separation = 0.5, zeros = 0.4, noise = 0.1;
  bool scaled = false;
};

// Two overlapping clusters with many zeros; c is that of their labels, but for some noise.
Example make_example(Rng& rng, const Shape& shape) {
  Example out;
  const std::size_t n = shape.rows, d = shape.columns;
  out.lambda = shape.lambda;
  out.rows = DenseRows(n, d);
  out.sparse.columns = d;
  for (std::size_t j = 0; shape.scaled && j < d; ++j) {
    out.shift.push_back(rng.normal());
    out.factor.push_back(0.5 + rng.uniform());
  }
  out.linear = Vector::Zero(static_cast<Eigen::Index>(d) + 1);
  for (std::size_t i = 0; i < n; ++i) {
    const double y = rng.uniform() < 0.4 ? 1 : -1;
    for (std::size_t j = 0; j < d; ++j) {
      const double x = rng.normal() + y * shape.separation;
      if (rng.uniform() < shape.zeros) continue;
      out.rows(i, j) = x;
      out.sparse.index.push_back(static_cast<std::int32_t>(j));
      out.sparse.values.push_back(x);
    }
    out.sparse.start.push_back(static_cast<std::int64_t>(out.sparse.values.size()));
    for (std::size_t j = 0; j <= d; ++j)
      out.linear[static_cast<Eigen::Index>(j)] += y * static_cast<double>(out.entry(i, j));
  }
  for (double& c : out.linear) c += shape.noise * std::sqrt(static_cast<double>(n)) * rng.normal();
  return out;
}

Real value_at(const Example& e, const RealVector& w, RealVector* gradient = nullptr) {
  const std::size_t d = w.size();
  Real value = 0;
  if (gradient != nullptr) gradient->assign(d, 0);
  for (std::size_t i = 0; i < e.rows.rows(); ++i) {
    Real z = 0;
    for (std::size_t j = 0; j < d; ++j) z += w[j] * e.entry(i, j);
    value += std::abs(z) + std::log1p(std::exp(-2 * std::abs(z)));
    for (std::size_t j = 0; gradient != nullptr && j < d; ++j) (*gradient)[j] += std::tanh(z) * e.entry(i, j);
  }
  for (std::size_t j = 0; j < d; ++j) {
    const Real c = e.linear[static_cast<Eigen::Index>(j)];
    value += e.lambda / 2 * w[j] * w[j] - c * w[j];
    if (gradient != nullptr) (*gradient)[j] += e.lambda * w[j] - c;
  }
  return value;
}

RealVector solve_linear(std::vector<RealVector> a, RealVector b) {
  const std::size_t d = b.size();
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t i = k + 1; i < d; ++i) {
      const Real by = a[i][k] / a[k][k];
      for (std::size_t j = k; j < d; ++j) a[i][j] -= by * a[k][j];
      b[i] -= by * b[k];
    }
  }
  for (std::size_t k = d; k-- > 0;) {
    for (std::size_t j = k + 1; j < d; ++j) b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
  return b;
}

// Newton's method with elimination and halving, all in long double: the twin.
RealVector twin(const Example& e) {
  const std::size_t d = e.rows.columns() + 1;
  RealVector w(d, 0), gradient;
  for (int step = 0; step < 100; ++step) {
    const Real value = value_at(e, w, &gradient);
    std::vector<RealVector> hessian(d, RealVector(d, 0));
    for (std::size_t k = 0; k < d; ++k) hessian[k][k] = e.lambda;
    for (std::size_t i = 0; i < e.rows.rows(); ++i) {
      Real z = 0;
      for (std::size_t j = 0; j < d; ++j) z += w[j] * e.entry(i, j);
      const Real curvature = 1 / (std::cosh(z) * std::cosh(z));
      for (std::size_t k = 0; k < d; ++k)
        for (std::size_t j = 0; j < d; ++j) hessian[k][j] += curvature * e.entry(i, k) * e.entry(i, j);
    }
    const RealVector move = solve_linear(hessian, gradient);
    RealVector next = w;
    for (Real length = 1; length > 1e-12L; length /= 2) {
      for (std::size_t j = 0; j < d; ++j) next[j] = w[j] - length * move[j];
      if (value_at(e, next) <= value) break;
    }
    w = next;
  }
  return w;
}

RealVector as_real(const Vector& w) { return {w.data(), w.data() + w.size()}; }

// What rounding is relative to: the terms of the value may be far larger than their sum.
double magnitude_at(const Example& e, const Vector& w) {
  double sum = (e.linear.array() * w.array()).abs().sum() + e.lambda / 2 * w.squaredNorm();
  for (std::size_t i = 0; i < e.rows.rows(); ++i) {
    for (Eigen::Index j = 0; j < w.size(); ++j)
      sum += std::abs(w[j] * static_cast<double>(e.entry(i, static_cast<std::size_t>(j))));
  }
  return sum;
}

void expect_solved(const Example& e, const LogCoshSolution& s, Real optimum) {
  CHECK(s.report.termination == Termination::kConverged);
  CHECK(s.relative_gradient <= 1e-8);
  RealVector gradient;
  const Real value = value_at(e, as_real(s.weights), &gradient);
  Real square = 0;
  for (const Real g : gradient) square += g * g;
  const double rounding = 1e-15 * magnitude_at(e, s.weights), best = static_cast<double>(optimum);
  CHECK(s.report.primal == Approx(static_cast<double>(value)).epsilon(1e-13).margin(rounding));
  const Real dual = value - square / (2 * e.lambda);
  CHECK(s.report.dual == Approx(static_cast<double>(dual)).epsilon(1e-11).margin(rounding));
  CHECK(s.report.primal == Approx(best).epsilon(1e-8).margin(rounding));
  CHECK(s.report.dual <= best + 1e-12 * std::abs(best) + rounding);
}

TEST_CASE("log_cosh: the passes agree with differences and with each other", "[solver][log_cosh]") {
  const SerialBlas serial;
  Rng rng(7);
  for (const bool scaled : {false, true}) {
    const Example e = make_example(rng, {.rows = 700, .columns = 6, .scaled = scaled});
    for (const LogCoshProblem& problem : {e.dense_problem(), e.sparse_problem()}) {
      const internal::PiecedRows pieces(problem.rows, 1);
      internal::LogCoshRows rows(problem, pieces);
      internal::LogCoshHessian here(problem, pieces);
      Vector w(7), unit = Vector::Zero(7);
      rows.evaluate(unit);
      here.take(rows.curvature());
      // All curvatures are 1: in w and the value at the mean, the diagonal of the Hessian but for lambda.
      const auto rough = here.rough();
      const ColMatrix exact = here.matrix();
      for (Eigen::Index j = 0; j < 6; ++j) {
        CHECK(rough.mean[j] == Approx(exact(6, j) / 700));
        CHECK(rough.diagonal[j] == Approx(exact(j, j) - exact(6, j) * exact(6, j) / 700));
      }
      CHECK(rough.diagonal[6] == Approx(exact(6, 6)));
      for (double& v : w) v = 0.5 * rng.normal();
      const auto at = rows.evaluate(w);
      here.take(rows.curvature());
      const ColMatrix hessian = here.matrix();
      RealVector point = as_real(w);
      for (Eigen::Index j = 0; j < 7; ++j) {
        unit.setZero();
        unit[j] = 1;
        const Vector column = here.times(unit);
        const Real h = 1e-6;
        Real& moved = point[static_cast<std::size_t>(j)];
        RealVector below, above;
        moved = w[j] - h;
        const Real value_below = value_at(e, point, &below);
        moved = w[j] + h;
        const Real value_above = value_at(e, point, &above);
        moved = w[j];
        CHECK(at.gradient[j] ==
              Approx(static_cast<double>((value_above - value_below) / (2 * h))).epsilon(1e-8).margin(1e-6));
        for (Eigen::Index i = 0; i < 7; ++i) {
          const auto place = static_cast<std::size_t>(i);
          const auto difference = static_cast<double>((above[place] - below[place]) / (2 * h));
          CHECK(column[i] == Approx(difference).epsilon(1e-8).margin(1e-6));
          if (i >= j) CHECK(hessian(i, j) == Approx(column[i]).epsilon(1e-11).margin(1e-11));
        }
      }
    }
  }
}

TEST_CASE("log_cosh: rows left out of the Hessian are worth at most lambda over 100", "[solver][log_cosh]") {
  const SerialBlas serial;
  Rng rng(8);
  for (const bool scaled : {false, true}) {
    const Example e = make_example(rng, {.rows = 400, .columns = 5, .scaled = scaled});
    for (const LogCoshProblem& problem : {e.dense_problem(), e.sparse_problem()}) {
      const internal::PiecedRows pieces(problem.rows, 1);
      internal::LogCoshRows rows(problem, pieces);
      internal::LogCoshHessian here(problem, pieces);
      for (const double length : {50.0, 200.0, 1000.0}) {
        Vector w(6), v(6);
        for (double& x : w) x = length * rng.normal();
        for (double& x : v) x = rng.normal();
        rows.evaluate(w);
        here.take(rows.curvature());
        CHECK(here.share() <= 0.5);
        Vector all = e.lambda * v;  // F'' v with every row, by plain loops
        for (std::size_t i = 0; i < 400; ++i) {
          Real z = 0, along = 0;
          for (std::size_t j = 0; j <= 5; ++j) {
            z += w[static_cast<Eigen::Index>(j)] * e.entry(i, j);
            along += v[static_cast<Eigen::Index>(j)] * e.entry(i, j);
          }
          const Real curvature = 1 / (std::cosh(z) * std::cosh(z));
          for (std::size_t j = 0; j <= 5; ++j)
            all[static_cast<Eigen::Index>(j)] += static_cast<double>(curvature * along * e.entry(i, j));
        }
        CHECK((here.times(v) - all).norm() <= 0.01 * e.lambda * v.norm() + 1e-10 * all.norm());
        const ColMatrix lower = here.matrix();
        CHECK((lower.selfadjointView<Eigen::Lower>() * v - here.times(v)).norm() <= 1e-11 * all.norm());
      }
    }
  }
}

constexpr LogCoshSteps kEverySteps[] = {LogCoshSteps::kAutomatic, LogCoshSteps::kGradients,
                                        LogCoshSteps::kFactors};

TEST_CASE("log_cosh: dense, sparse and scaled rows give the optimum of a twin", "[solver][log_cosh]") {
  Rng rng(1);
  for (const bool scaled : {false, true}) {
    for (const double lambda : {1e-3, 1.0, 50.0}) {
      for (const std::size_t columns : {0U, 1U, 7U}) {
        CAPTURE(scaled, lambda, columns);
        const Example e = make_example(rng, {.columns = columns, .lambda = lambda, .scaled = scaled});
        const RealVector best = twin(e);
        const Real optimum = value_at(e, best);
        for (const LogCoshSteps steps : kEverySteps) {
          const LogCoshOptions options{.steps = steps};
          const LogCoshSolution dense = solve_log_cosh(e.dense_problem(), options);
          const LogCoshSolution sparse = solve_log_cosh(e.sparse_problem(), options);
          expect_solved(e, dense, optimum);
          expect_solved(e, sparse, optimum);
          for (std::size_t j = 0; j < best.size(); ++j) {
            const auto at = static_cast<Eigen::Index>(j);
            const double expected = static_cast<double>(best[j]);
            CHECK(dense.weights[at] == Approx(expected).epsilon(1e-4).margin(1e-5));
            CHECK(sparse.weights[at] == Approx(expected).epsilon(1e-4).margin(1e-5));
          }
        }
      }
    }
  }
}

TEST_CASE("log_cosh: rows that are separable or contradict c are solved as well", "[solver][log_cosh]") {
  Rng rng(2);
  for (const double noise : {0.0, 5.0, 1000.0}) {
    for (const double lambda : {1e-6, 1e-2}) {
      CAPTURE(noise, lambda);
      const Example e =
          make_example(rng, {.columns = 4, .lambda = lambda, .separation = 3, .zeros = 0, .noise = noise});
      const Real optimum = value_at(e, twin(e));
      for (const LogCoshSteps steps : kEverySteps)
        expect_solved(e, solve_log_cosh(e.dense_problem(), {.steps = steps}), optimum);
    }
  }
}

TEST_CASE("log_cosh: features of very different sizes are no obstacle", "[solver][log_cosh]") {
  Rng rng(3);
  Example e = make_example(rng, {.rows = 300, .columns = 7, .zeros = 0});
  for (std::size_t j = 0; j < 7; ++j) {
    const double unit = std::pow(10.0, 2 * static_cast<double>(j) - 6);
    for (std::size_t i = 0; i < 300; ++i) e.rows(i, j) *= unit;
    e.linear[static_cast<Eigen::Index>(j)] *= unit;
  }
  const Real optimum = value_at(e, twin(e));
  for (const LogCoshSteps steps : kEverySteps)
    expect_solved(e, solve_log_cosh(e.dense_problem(), {.steps = steps}), optimum);
}

TEST_CASE("log_cosh: the answer has the same bits on any number of threads", "[solver][log_cosh]") {
  Rng rng(4);
  for (const bool scaled : {false, true}) {
    // Large enough for several pieces and for threads to be used at all, also of what is stored of sparse
    // rows.
    const Example e =
        make_example(rng, {.rows = 7500, .columns = 80, .separation = 0.1, .zeros = 0.1, .scaled = scaled});
    for (const LogCoshProblem& problem : {e.dense_problem(), e.sparse_problem()}) {
      for (const LogCoshSteps steps : {LogCoshSteps::kGradients, LogCoshSteps::kFactors}) {
        const LogCoshOptions options{.max_iterations = 2, .steps = steps, .threads = 1};
        LogCoshOptions on_three = options;
        on_three.threads = 3;
        const LogCoshSolution one = solve_log_cosh(problem, options),
                              many = solve_log_cosh(problem, on_three);
        CHECK(one.weights == many.weights);
        CHECK(one.report.primal == many.report.primal);
        CHECK(one.report.dual == many.report.dual);
      }
    }
  }
}

TEST_CASE("log_cosh: a large lambda leaves c over lambda", "[solver][log_cosh]") {
  Rng rng(5);
  const Example e = make_example(rng, {.lambda = 1e9});
  const LogCoshSolution s = solve_log_cosh(e.dense_problem());
  CHECK((s.weights - e.linear / 1e9).norm() <= 1e-6 * s.weights.norm());
  CHECK(s.report.primal == Approx(60 * std::log(2.0)).epsilon(1e-6));
}

TEST_CASE("log_cosh: answers by hand", "[solver][log_cosh][known]") {
  // Two rows x = 1 and x = -1 and no pull on the bias: 2 tanh(w) + lambda w = c. With w = 1/2 that is c.
  DenseRows rows(2, 1);
  rows(0, 0) = 1;
  rows(1, 0) = -1;
  LogCoshProblem problem{rows.view(), Vector::Zero(2), 3};
  problem.linear[0] = 2 * std::tanh(0.5) + 1.5;
  const LogCoshSolution s = solve_log_cosh(problem);
  CHECK(s.weights[0] == Approx(0.5).epsilon(1e-8));
  CHECK(s.weights[1] == Approx(0).margin(1e-12));
  // Nothing pulls: w = 0, exactly and at once.
  problem.linear.setZero();
  const LogCoshSolution none = solve_log_cosh(problem);
  CHECK(none.report.termination == Termination::kConverged);
  CHECK(none.report.iterations == 0);
  CHECK(none.weights == Vector::Zero(2));
  CHECK(none.report.primal == Approx(2 * std::log(2.0)));
  CHECK(none.report.gap() == 0);
  // No rows: a parabola.
  const DenseRows empty(0, 1);
  problem.rows = empty.view();
  problem.linear << 6, -3;
  CHECK(solve_log_cosh(problem).weights[0] == Approx(2));
  CHECK(solve_log_cosh(problem).weights[1] == Approx(-1));
}

TEST_CASE("log_cosh: every way to end is told", "[solver][log_cosh]") {
  Rng rng(6);
  Example e = make_example(rng, {.lambda = 1e-3});
  const LogCoshSolution limited = solve_log_cosh(e.dense_problem(), {.max_iterations = 1});
  CHECK(limited.report.termination == Termination::kIterationLimit);
  CHECK(limited.report.iterations == 1);
  RealVector gradient;
  value_at(e, as_real(limited.weights), &gradient);
  Real square = 0;
  for (const Real g : gradient) square += g * g;
  CHECK(limited.report.gap() == Approx(static_cast<double>(square / (2 * e.lambda))).epsilon(1e-9));
  int calls = 0;
  const LogCoshSolution stopped = solve_log_cosh(
      e.dense_problem(), {}, [&](const Progress&) { return ++calls == 3 ? Next::kStop : Next::kContinue; });
  CHECK(stopped.report.termination == Termination::kStopped);
  CHECK(stopped.report.iterations == 2);
  CHECK(stopped.report.primal < limited.report.primal);
  for (const double huge : {1e160, 1e300}) {
    e.rows(3, 2) = huge;
    e.linear[2] = huge;
    CHECK(solve_log_cosh(e.dense_problem()).report.termination == Termination::kNumericalFault);
  }
}

// A change that leaves answers right and makes the way there longer is found here; bounds are 3 % above
// what was measured.
TEST_CASE("log_cosh: no problem takes more steps and passes than it did", "[solver][log_cosh]") {
  for (const auto& [how, most_steps, most_passes] : {std::tuple{LogCoshSteps::kAutomatic, 315, 925.0},
                                                     {LogCoshSteps::kGradients, 318, 1105.0},
                                                     {LogCoshSteps::kFactors, 268, 755.0}}) {
    Rng rng(31);
    int steps = 0;
    double passes = 0;
    for (int round = 0; round < 12; ++round) {
      const Example e = make_example(rng, {.rows = 40U << (round % 4),
                                           .columns = 3 + 9 * static_cast<std::size_t>(round % 3),
                                           .lambda = round % 2 == 0 ? 0.01 : 3,
                                           .separation = 0.2 * round,
                                           .scaled = round % 3 == 1});
      for (const LogCoshProblem& problem : {e.dense_problem(), e.sparse_problem()}) {
        const auto s = solve_log_cosh(problem, {.steps = how, .threads = 1});
        CHECK(s.report.termination == Termination::kConverged);
        steps += s.report.iterations;
        passes += s.passes;
      }
    }
    CAPTURE(static_cast<int>(how));
    CHECK(steps <= most_steps);
    CHECK(passes <= most_passes);
  }
}

}  // namespace
}  // namespace bagwise
