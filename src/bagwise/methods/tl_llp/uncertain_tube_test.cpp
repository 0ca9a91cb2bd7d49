#include "bagwise/methods/tl_llp/uncertain_tube.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <memory>

#include "bagwise/core/random.h"
#include "support/cases.h"
#include "support/tube_certificate.h"

namespace bagwise {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct RandomTube {
  DenseRows rows;
  UncertainTube tube;
};

// Small problems of 1 to 3 tasks. Targets repeat and tubes are often 0, so that rows sit on the edge of
// theirs.
std::unique_ptr<RandomTube> random_tube(Rng& rng) {
  auto out = std::make_unique<RandomTube>();
  const std::size_t n = 4 + rng.below(9), d = 1 + rng.below(4), tasks = 1 + rng.below(3);
  const double cost = std::exp2(static_cast<double>(rng.below(9)) - 2);
  out->rows = DenseRows(n, d);
  TubeProblem& p = out->tube.problem;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < d; ++j) out->rows(i, j) = rng.normal();
    p.task.push_back(static_cast<std::uint32_t>(i * tasks / n));
    p.target.push_back(std::round(2 * rng.normal()));
    p.tube.push_back(rng.below(2) == 0 ? 0.0 : 0.1);
    p.cost_above.push_back(cost * (1 + static_cast<double>(p.task.back())));
    p.cost_below.push_back(p.cost_above.back());
    out->tube.bound.push_back(rng.below(4) == 0 ? 0.0 : 0.3 * rng.uniform());
  }
  p.lambda.clear();
  for (std::size_t t = 0; t < tasks; ++t)
    p.lambda.push_back(rng.below(5) == 0 ? kInfinity : std::exp(4 * rng.uniform() - 2));
  if (rng.below(3) == 0) {
    for (std::size_t j = 0; j < d; ++j) out->tube.stretch.push_back(0.3 + 2 * rng.uniform());
  }
  p.rows = out->rows.view();
  return out;
}

TubePlanes random_planes(Rng& rng, const TubeProblem& p) {
  TubePlanes out;
  const auto d = static_cast<Eigen::Index>(p.features());
  const auto draw = [&] {
    Vector v(d);
    for (double& x : v) x = rng.normal();
    return v;
  };
  out.shared = draw();
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    out.own.push_back(std::isfinite(p.lambda[t]) ? draw() : Vector(Vector::Zero(d)));
    out.bias.push_back(rng.normal());
  }
  return out;
}

// F by plain loops.
double naive_value(const UncertainTube& tube, const TubePlanes& planes) {
  const TubeProblem& p = tube.problem;
  const auto rows = test::plain_rows(p.rows);
  const std::size_t d = p.features();
  long double sum = 0;
  for (std::size_t j = 0; j < d; ++j) {
    const auto at = static_cast<Eigen::Index>(j);
    sum += static_cast<long double>(planes.shared[at]) * planes.shared[at] / 2;
    for (std::size_t t = 0; t < p.tasks(); ++t) {
      if (std::isfinite(p.lambda[t]))
        sum += static_cast<long double>(p.lambda[t]) * planes.own[t][at] * planes.own[t][at] / 2;
    }
  }
  for (std::size_t i = 0; i < p.size(); ++i) {
    const std::size_t t = p.task_of(i);
    long double r = planes.bias[t] - p.target[i], square = 0;
    for (std::size_t j = 0; j < d; ++j) {
      const auto at = static_cast<Eigen::Index>(j);
      const long double w = static_cast<long double>(planes.shared[at]) + planes.own[t][at];
      const long double s = tube.stretch.empty() ? 1.0 : tube.stretch[j];
      r += w * rows[i][j];
      square += s * w * s * w;
    }
    const long double free = p.tube[i] + tube.bound[i] * std::sqrt(square);
    sum += p.cost_above[i] * std::max(0.0L, r - free) + p.cost_below[i] * std::max(0.0L, -r - free);
  }
  return static_cast<double>(sum);
}

TubeProblem shifted_at(const UncertainTube& tube, const TubePlanes& planes) {
  TubeProblem convex = tube.problem;
  for (const double b : tube.bound) convex.shift_above.push_back(-b);
  convex.shift_below = convex.shift_above;
  for (std::size_t t = 0; t < convex.tasks(); ++t) {
    Vector u = planes.weights(t);
    double square = 0;
    for (Eigen::Index j = 0; j < u.size(); ++j) {
      const double s = tube.stretch.empty() ? 1 : tube.stretch[static_cast<std::size_t>(j)];
      square += s * u[j] * s * u[j];
      u[j] *= s * s;
    }
    convex.direction.push_back(square > 0 ? Vector(u / std::sqrt(square)) : Vector(Vector::Zero(u.size())));
  }
  return convex;
}

TEST_CASE("uncertain_tube: the value is the stated one", "[methods][tl_llp]") {
  Rng rng(1);
  for (int k = 0; k < 500; ++k) {
    const auto made = random_tube(rng);
    const TubePlanes planes = random_planes(rng, made->tube.problem);
    CHECK(uncertain_value(made->tube, planes) == Approx(naive_value(made->tube, planes)).epsilon(1e-12));
  }
}

TEST_CASE("uncertain_tube: each convex problem lies above the value and touches it where it was made",
          "[methods][tl_llp]") {
  Rng rng(2);
  for (int k = 0; k < 1000; ++k) {
    const auto made = random_tube(rng);
    const TubePlanes here = random_planes(rng, made->tube.problem);
    const TubePlanes there = random_planes(rng, made->tube.problem);
    const test::NaiveTube convex{shifted_at(made->tube, here)};
    const double value = naive_value(made->tube, here);
    CHECK(convex.primal(here) == Approx(value).epsilon(1e-12));
    CHECK(convex.primal(there) >= naive_value(made->tube, there) * (1 - 1e-12));
  }
}

// The rounds written again, cold and by the other algorithm.
double independent_rounds(const UncertainTube& tube, const RoundsOptions& options,
                          std::vector<double>& history) {
  const TubeOptions cold{.gap_tolerance = 1e-9, .algorithm = TubeAlgorithm::kInteriorPoint};
  TubePlanes planes = solve_tube_regression(tube.problem, cold).planes;
  history = {naive_value(tube, planes)};
  while (static_cast<int>(history.size()) < options.max_rounds) {
    planes = solve_tube_regression(shifted_at(tube, planes), cold).planes;
    history.push_back(naive_value(tube, planes));
    const double before = history[history.size() - 2], now = history.back();
    if (std::abs(before - now) <= options.tolerance * std::max(before, now)) break;
  }
  return history.back();
}

TEST_CASE("uncertain_tube: rounds never raise the value and end no higher than rounds run independently",
          "[methods][tl_llp]") {
  Rng rng(3);
  const RoundsOptions options{.solve = {.threads = 1}};
  int several = 0, improved = 0;
  for (int k = 0; k < test::cases(2000); ++k) {
    CAPTURE(k);
    const auto made = random_tube(rng);
    const RoundsResult result = exact_rounds(made->tube, options);
    REQUIRE(result.end != RoundsEnd::kNumericalFault);
    REQUIRE(result.history.size() == result.steps.size());
    for (std::size_t i = 1; i < result.history.size(); ++i) CHECK(result.history[i] <= result.history[i - 1]);
    CHECK(result.objective == result.history.back());
    CHECK(result.objective ==
          Approx(naive_value(made->tube, result.solution.planes)).epsilon(1e-9).margin(1e-12));
    std::vector<double> other;
    const double reached = independent_rounds(made->tube, options, other);
    for (std::size_t i = 1; i < other.size(); ++i) CHECK(other[i] <= other[i - 1] * (1 + 1e-6) + 1e-12);
    CHECK(result.objective <= 1.01 * reached + 1e-9);
    several += result.history.size() > 2 ? 1 : 0;
    improved += result.objective < 0.99 * result.history[0] ? 1 : 0;
  }
  CHECK(several > test::cases(500));  // the rounds had something to do
  CHECK(improved > test::cases(500));
}

// The alternation that moves each row just as far as it needs and solves again: it parks rows on the edge.
double parked(const UncertainTube& tube, int rounds) {
  const TubeOptions solve{.gap_tolerance = 1e-9};
  TubeProblem moved = tube.problem;
  TubeSolution now = solve_tube_regression(moved, solve);
  for (int round = 1; round < rounds; ++round) {
    moved.shift_above.assign(moved.size(), 0);
    moved.direction.clear();
    for (std::size_t t = 0; t < moved.tasks(); ++t)
      moved.direction.push_back(steepest_direction(tube.stretch, now.planes.weights(t)));
    const auto rows = test::plain_rows(moved.rows);
    for (std::size_t i = 0; i < moved.size(); ++i) {
      const Vector w = now.planes.weights(moved.task_of(i));
      double r = now.planes.bias[moved.task_of(i)] - moved.target[i];
      for (std::size_t j = 0; j < rows[i].size(); ++j) r += w[static_cast<Eigen::Index>(j)] * rows[i][j];
      const double reach = stretched_norm(tube.stretch, w);
      const double need = reach > 0 ? std::max(0.0, std::abs(r) - moved.tube[i]) / reach : 0;
      moved.shift_above[i] = -std::copysign(std::min(need, tube.bound[i]), r);
    }
    moved.shift_below = moved.shift_above;
    for (double& s : moved.shift_below) s = -s;
    now = solve_tube_regression(moved, solve);
  }
  return uncertain_value(tube, now.planes);
}

TEST_CASE("uncertain_tube: rounds from the planes of a problem nearby never leave them for worse ones",
          "[methods][tl_llp]") {
  Rng rng(9);
  int fewer = 0, worse = 0;
  for (int k = 0; k < 300; ++k) {
    CAPTURE(k);
    const auto made = random_tube(rng);
    UncertainTube other = made->tube;
    for (double& cost : other.problem.cost_above) cost *= k % 2 == 0 ? 4 : 0.25;
    other.problem.cost_below = other.problem.cost_above;
    const RoundsOptions options{.tolerance = 1e-3, .max_rounds = 20, .solve = {.gap_tolerance = 1e-6}};
    const TubeSolution start = exact_rounds(other, options).solution;
    const RoundsResult warm = exact_rounds(made->tube, options, {}, &start);
    const RoundsResult cold = exact_rounds(made->tube, options);
    REQUIRE(warm.end != RoundsEnd::kNumericalFault);
    CHECK(warm.history[0] <= uncertain_value(made->tube, start.planes) * (1 + 2e-6) + 1e-12);
    for (std::size_t i = 1; i < warm.history.size(); ++i) CHECK(warm.history[i] <= warm.history[i - 1]);
    CHECK(warm.objective == warm.history.back());
    CHECK(warm.objective ==
          Approx(naive_value(made->tube, warm.solution.planes)).epsilon(1e-9).margin(1e-12));
    fewer += warm.history.size() < cold.history.size() ? 1 : 0;
    worse += warm.objective > 1.01 * cold.objective + 1e-9 ? 1 : 0;
    // From its own end there is nothing left to gain but what the tolerance left.
    const RoundsResult again = exact_rounds(made->tube, options, {}, &warm.solution);
    CHECK(again.objective <= warm.objective * (1 + 2e-6) + 1e-12);
    CHECK(again.history.size() <= warm.history.size() + 2);
  }
  CHECK(fewer > 100);
  CHECK(worse < 30);  // both find local minima
}

TEST_CASE("uncertain_tube: rounds go on where moving rows just as far as needed stalls",
          "[methods][tl_llp]") {
  Rng rng(4);
  const RoundsOptions options{.tolerance = 1e-6, .max_rounds = 100, .solve = {.gap_tolerance = 1e-9}};
  int lower = 0, higher = 0;
  for (int k = 0; k < 200; ++k) {
    const auto made = random_tube(rng);
    const double exact = exact_rounds(made->tube, options).objective, stalled = parked(made->tube, 20);
    lower += exact < 0.999 * stalled ? 1 : 0;
    higher += exact > 1.01 * stalled + 1e-9 ? 1 : 0;
  }
  CHECK(lower > 50);
  CHECK(higher < 20);  // both find local minima: now and then the other one's is lower
}

TEST_CASE("uncertain_tube: rows without bounds need one round", "[methods][tl_llp]") {
  Rng rng(5);
  const auto made = random_tube(rng);
  made->tube.bound.assign(made->tube.bound.size(), 0.0);
  const RoundsResult result = exact_rounds(made->tube, {});
  CHECK(result.end == RoundsEnd::kConverged);
  CHECK(result.history.size() == 1);
  CHECK(result.objective == result.solution.report.primal);
  test::expect_optimal(made->tube.problem, result.solution, 1e-6);
}

// One row per side of a plane in one dimension, far from what its tube allows.
std::unique_ptr<RandomTube> two_rows() {
  auto out = std::make_unique<RandomTube>();
  out->rows = DenseRows(2, 1);
  out->rows(0, 0) = -1;
  out->rows(1, 0) = 1;
  TubeProblem& p = out->tube.problem;
  p.task = {0, 0};
  p.target = {-2, 2};
  p.tube = {0, 0};
  p.cost_above = p.cost_below = {0.5, 0.5};
  p.rows = out->rows.view();
  out->tube.bound = {0.5, 0.5};
  return out;
}

TEST_CASE("uncertain_tube: every way in which rounds can end", "[methods][tl_llp]") {
  const auto made = two_rows();
  const Moves still = [](const TubePlanes&) { return std::vector<double>{0, 0}; };
  int calls = 0;
  const Moves swinging = [&](const TubePlanes&) {
    ++calls;
    return calls % 2 == 1 ? std::vector<double>{-0.5, 0.5} : std::vector<double>{0.25, -0.25};
  };
  CHECK(literal_rounds(made->tube, still, {})->end == RoundsEnd::kConverged);
  const RoundsResult cycle = *literal_rounds(made->tube, swinging, {});
  CHECK(cycle.end == RoundsEnd::kCycle);
  CHECK(cycle.history.size() >= 3);
  CHECK(cycle.objective == *std::min_element(cycle.history.begin(), cycle.history.end()));
  CHECK(cycle.move == std::vector<double>{-0.5, 0.5});  // the rows spread: the margin is easier to reach

  calls = 0;
  CHECK(literal_rounds(made->tube, swinging, {.max_rounds = 2})->end == RoundsEnd::kRoundLimit);
  const RoundsOptions strict{.tolerance = 0, .max_rounds = 2};
  CHECK(exact_rounds(made->tube, strict).end == RoundsEnd::kRoundLimit);
  const Observer stop = [](const Progress&) { return Next::kStop; };
  Rng rng(6);
  const auto larger = random_tube(rng);
  const Moves none = [&](const TubePlanes&) { return std::vector<double>(larger->tube.bound.size(), 0.0); };
  CHECK(exact_rounds(larger->tube, {}, stop).end == RoundsEnd::kStopped);
  CHECK(literal_rounds(larger->tube, none, {}, stop)->end == RoundsEnd::kStopped);
  const RoundsOptions hasty{.solve = {.max_iterations = 1, .algorithm = TubeAlgorithm::kInteriorPoint}};
  CHECK(exact_rounds(made->tube, hasty).end == RoundsEnd::kSolveLimit);
  const auto broken = two_rows();
  broken->tube.problem.cost_above[0] = std::numeric_limits<double>::quiet_NaN();
  CHECK(exact_rounds(broken->tube, {}).end == RoundsEnd::kNumericalFault);
}

TEST_CASE("uncertain_tube: a known answer", "[methods][tl_llp][known]") {
  // f = w x, residual w - 2 on the right row and its mirror on the left: F = w^2/2 + max(0, 2 - w - w/2).
  // Convex-concave rounds: |w| is w for w > 0, so the second problem is F itself, with its minimum at
  // slope 0: w = 3/2 if that is below 4/3, else the kink w = 4/3.
  const auto made = two_rows();
  const RoundsResult result = exact_rounds(made->tube, {.tolerance = 0, .solve = {.gap_tolerance = 1e-12}});
  CHECK(result.solution.planes.weights(0)[0] == Approx(4.0 / 3));
  CHECK(result.objective == Approx(8.0 / 9));
  CHECK(result.history[0] == Approx(1));  // the first round: w = 1, F = 1/2 + 1/2
}

}  // namespace
}  // namespace bagwise
