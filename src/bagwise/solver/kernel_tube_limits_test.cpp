#include "bagwise/solver/kernel_tube.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "support/kernel_tube_certificate.h"
#include "support/tube_problems.h"

namespace bagwise {
namespace {

using test::expect_certificate;
using test::expect_optimal;
using test::expect_optimal_to_rounding;
using test::kernel_of;
using test::make_random;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr KernelTubeAlgorithm kBoth[] = {KernelTubeAlgorithm::kFactored, KernelTubeAlgorithm::kSmo};
constexpr KernelTubeAlgorithm kAll[] = {KernelTubeAlgorithm::kFactored, KernelTubeAlgorithm::kSmo,
                                        KernelTubeAlgorithm::kAutomatic};

KernelTubeProblem random_kernel(Rng& rng, const test::Shape& shape) {
  return kernel_of(make_random(rng, shape)->problem);
}

// Every row a second time.
KernelTubeProblem doubled(const KernelTubeProblem& p) {
  KernelTubeProblem out = p;
  for (auto* values : {&out.target, &out.tube, &out.cost_above, &out.cost_below})
    values->insert(values->end(), values->begin(), values->begin() + static_cast<std::ptrdiff_t>(p.size()));
  out.task.insert(out.task.end(), p.task.begin(), p.task.end());
  out.kernel = p.kernel.replicate(2, 2);
  return out;
}

}  // namespace

TEST_CASE("kernel_tube: costs and lambdas over twelve decades are certified", "[solver][kernel]") {
  Rng rng(101);
  for (const double cost : {1e-6, 1e-3, 1.0, 1e3, 1e6}) {
    for (const double lambda : {1e-6, 1e-3, 1.0, 1e3, 1e6, kInfinity}) {
      for (const std::size_t tasks : {1U, 2U, 3U}) {
        KernelTubeProblem p =
            random_kernel(rng, {.rows = 18, .features = 24, .tasks = tasks, .cost = cost, .one_sided = true});
        p.lambda.assign(tasks, lambda);
        if (tasks == 3) p.lambda[1] = 1;  // and mixed
        for (const auto algorithm : kAll) {
          CAPTURE(cost, lambda, tasks, static_cast<int>(algorithm));
          const auto s = solve_kernel_tube(p, {.algorithm = algorithm});
          if (cost / std::min(lambda, 1.0) < 1e8)
            expect_optimal(p, s, 1e-6);
          else  // the rounding of a row's value costs as much as the whole solution
            expect_optimal_to_rounding(p, s, 1e-6);
        }
      }
    }
  }
}

TEST_CASE("kernel_tube: kernels without full rank are solved", "[solver][kernel]") {
  Rng rng(103);
  for (const double cost : {1e-6, 1e-2, 1.0, 1e2, 1e4}) {
    for (const double lambda : {1e-2, 1.0, 1e2, kInfinity}) {
      const std::size_t tasks = 1 + rng.below(3);
      KernelTubeProblem p =
          random_kernel(rng, {.rows = 14, .features = 3, .tasks = tasks, .cost = cost, .deficient = true});
      p.lambda.assign(tasks, lambda);
      const KernelTubeProblem twice = doubled(p);
      for (const auto algorithm : kAll) {
        CAPTURE(cost, lambda, tasks, static_cast<int>(algorithm));
        const auto once = solve_kernel_tube(p, {.algorithm = algorithm});
        expect_optimal(p, once, 1e-6);
        // Every row twice is every cost twice.
        const auto of_twice = solve_kernel_tube(twice, {.algorithm = algorithm});
        expect_optimal(twice, of_twice, 1e-6);
        KernelTubeProblem dear = p;
        for (double& c : dear.cost_above) c *= 2;
        for (double& c : dear.cost_below) c *= 2;
        const auto of_dear = solve_kernel_tube(dear, {.algorithm = algorithm});
        expect_optimal(dear, of_dear, 1e-6);
        CHECK(of_twice.report.primal == Approx(of_dear.report.primal).epsilon(3e-6));
      }
    }
  }
}

TEST_CASE("kernel_tube: a zero kernel leaves the biases, each task's weighted median", "[solver][kernel]") {
  Rng rng(105);
  for (const std::size_t tasks : {1U, 2U, 3U}) {
    KernelTubeProblem p = random_kernel(rng, {.rows = 20, .features = 2, .tasks = tasks, .cost = 2});
    p.kernel.setZero();
    for (const auto algorithm : kAll) {
      CAPTURE(tasks, static_cast<int>(algorithm));
      const auto s = solve_kernel_tube(p, {.algorithm = algorithm});
      expect_optimal(p, s, 1e-6);
      for (std::size_t i = 0; i < p.size(); ++i) CHECK(s.values[i] == s.bias[p.task_of(i)]);
    }
  }
}

TEST_CASE("kernel_tube: two rows have the answer of the line between them", "[solver][kernel]") {
  // K of the rows -1 and 1, targets -1 and 1: beta = (-a, a), w = 2a, and the tube's edge is reached at w =
  // 1 - eps unless the cost C < w/2 clips a.
  for (const double lambda : {0.5, kInfinity}) {
    for (const double cost : {0.1, 10.0}) {
      for (const double tube : {0.0, 0.25, 1.0, 1e6}) {
        KernelTubeProblem p;
        p.kernel = ColMatrix{{1.0, -1.0}, {-1.0, 1.0}};
        p.target = {-1, 1};
        p.tube = {tube, tube};
        p.cost_above = p.cost_below = {cost, cost};
        p.lambda = {lambda};
        const double w = std::min(std::max(0.0, 1 - tube), 2 * cost * (1 + 1 / lambda));
        for (const auto algorithm : kAll) {
          CAPTURE(lambda, cost, tube, static_cast<int>(algorithm));
          const auto s = solve_kernel_tube(p, {.gap_tolerance = 1e-9, .algorithm = algorithm});
          expect_optimal(p, s, 1e-9);
          CHECK(s.beta[1] == Approx(w / 2 / (1 + 1 / lambda)).epsilon(1e-4));
          CHECK(s.values[1] - s.values[0] == Approx(2 * w).epsilon(1e-4));
        }
      }
    }
  }
}

TEST_CASE("kernel_tube: no rows, one row, and tasks without rows are solved", "[solver][kernel]") {
  for (const auto algorithm : kAll) {
    KernelTubeProblem p;
    expect_optimal(p, solve_kernel_tube(p, {.algorithm = algorithm}), 0);
    p.kernel = ColMatrix::Constant(1, 1, 2);
    p.target = {3}, p.tube = {0.5}, p.cost_above = {1}, p.cost_below = {2};
    const auto one = solve_kernel_tube(p, {.algorithm = algorithm});
    expect_optimal(p, one, 0);
    CHECK(one.beta[0] == 0);
    CHECK(std::abs(one.values[0] - 3) <= 0.5);
    Rng rng(107);
    p = random_kernel(rng, {.rows = 12, .features = 4, .tasks = 2});
    p.lambda.push_back(1);
    p.lambda.push_back(kInfinity);
    expect_optimal(p, solve_kernel_tube(p, {.algorithm = algorithm}), 1e-6);
    for (auto& t : p.task) t = 3 - t;
    expect_optimal(p, solve_kernel_tube(p, {.algorithm = algorithm}), 1e-6);
  }
}

TEST_CASE("kernel_tube: tubes of zero and tubes wider than all targets are solved", "[solver][kernel]") {
  Rng rng(109);
  KernelTubeProblem p = random_kernel(rng, {.rows = 25, .features = 8, .tasks = 2, .cost = 5});
  for (const auto algorithm : kAll) {
    CAPTURE(static_cast<int>(algorithm));
    p.tube.assign(p.size(), 0);
    const auto narrow = solve_kernel_tube(p, {.algorithm = algorithm});
    expect_optimal(p, narrow, 1e-6);
    CHECK(narrow.report.primal > 0.1);
    p.tube.assign(p.size(), 1e9);
    for (const KernelTubeSolution* start : {static_cast<const KernelTubeSolution*>(nullptr), &narrow}) {
      const auto wide = solve_kernel_tube(p, {.algorithm = algorithm}, start);
      expect_optimal(p, wide, 1e-6);
      CHECK(wide.report.primal == 0);
    }
  }
}

TEST_CASE("kernel_tube: rows that cost on one side only are solved", "[solver][kernel]") {
  Rng rng(111);
  for (int round = 0; round < 6; ++round) {
    KernelTubeProblem p = random_kernel(rng, {.rows = 25, .features = 8, .tasks = 2, .cost = 3});
    for (std::size_t i = 0; i < p.size(); ++i) {
      const bool above = round == 0 || (round > 1 && rng.below(2) == 0);
      (above ? p.cost_above : p.cost_below)[i] = 0;
    }
    for (const auto algorithm : kAll) {
      CAPTURE(round, static_cast<int>(algorithm));
      const auto s = solve_kernel_tube(p, {.algorithm = algorithm});
      expect_optimal(p, s, 1e-6);
      if (round < 2) CHECK(s.report.primal == 0);  // the bias moves out of the way
    }
  }
}

TEST_CASE("kernel_tube: where SMO meets its limit the factored road takes over", "[solver][kernel]") {
  Rng rng(113);
  const KernelTubeProblem p = random_kernel(rng, {.rows = 60, .features = 50, .cost = 1e5});
  std::vector<double> heard;
  const auto s = solve_kernel_tube(p, {.gap_tolerance = 1e-6, .algorithm = KernelTubeAlgorithm::kSmo},
                                   nullptr, [&](const Progress& at) {
                                     heard.push_back(at.done);
                                     return Next::kContinue;
                                   });
  expect_optimal(p, s, 1e-6);
  CHECK(s.report.algorithm == "factored");
  CHECK(s.report.iterations > 10'000 + 2 * 60 * 60);  // the steps of both
  CHECK(s.report.iterations < 10'000 + 2 * 60 * 60 + 1'000);
  CHECK(std::count_if(heard.begin(), heard.end(), [](double done) { return done > 10'000; }) > 30);
}

TEST_CASE("kernel_tube: a solve stopped at any time returns a certified point", "[solver][kernel]") {
  Rng rng(115);
  const KernelTubeProblem p = random_kernel(rng, {.rows = 60, .features = 50, .tasks = 2, .cost = 1e3});
  for (const auto algorithm : kBoth) {
    double before = kInfinity;
    for (const int calls : {1, 2, 5, 30}) {
      CAPTURE(calls, static_cast<int>(algorithm));
      int left = calls;
      const auto s =
          solve_kernel_tube(p, {.gap_tolerance = 1e-9, .algorithm = algorithm}, nullptr,
                            [&](const Progress&) { return --left > 0 ? Next::kContinue : Next::kStop; });
      CHECK(left >= 0);  // not asked again
      expect_certificate(p, s);
      if (left > 0) {
        CHECK(s.report.termination == Termination::kConverged);
        break;
      }
      CHECK(s.report.termination == Termination::kStopped);
      CHECK(s.report.gap() <= before);
      before = s.report.gap();
    }
  }
}

TEST_CASE("kernel_tube: kernels that are not finite are a fault, never an answer", "[solver][kernel]") {
  Rng rng(117);
  for (const double bad : {kNan, kInfinity, -kInfinity}) {
    for (const bool everywhere : {false, true}) {
      for (const double cost : {0.01, 1e4}) {
        KernelTubeProblem p = random_kernel(rng, {.rows = 12, .features = 20, .tasks = 2, .cost = cost});
        if (everywhere)
          p.kernel.setConstant(bad);
        else
          p.kernel(3, 5) = p.kernel(5, 3) = bad;
        for (const auto algorithm : kAll) {
          CAPTURE(bad, everywhere, cost, static_cast<int>(algorithm));
          CHECK(solve_kernel_tube(p, {.algorithm = algorithm}).report.termination ==
                Termination::kNumericalFault);
        }
      }
    }
  }
}

TEST_CASE("kernel_tube: a kernel that rounding made indefinite certifies nothing false", "[solver][kernel]") {
  // All rows nearly alike and far from 0, as polynomials make them: what tells them apart is lost in the
  // last digits, where beta' K beta comes out negative for some beta.
  Rng rng(127);
  for (const double size : {1e3, 1e20, 1e72}) {
    for (int round = 0; round < 10; ++round) {
      KernelTubeProblem p = random_kernel(rng, {.rows = 12, .features = 4, .cost = 1});
      for (Eigen::Index i = 0; i < 12; ++i) {
        for (Eigen::Index j = 0; j <= i; ++j)
          p.kernel(i, j) = p.kernel(j, i) = size * (1 + 1e-15 * rng.normal());
      }
      for (const auto algorithm : kAll) {
        CAPTURE(size, round, static_cast<int>(algorithm));
        const auto s = solve_kernel_tube(p, {.algorithm = algorithm});
        CHECK(s.report.termination != Termination::kNumericalFault);
        CHECK(s.report.primal > 0);
        CHECK(s.report.dual <= s.report.primal * (1 + 1e-12));
        expect_certificate(p, s);
      }
    }
  }
}

TEST_CASE("kernel_tube: the bits do not depend on the number of threads", "[solver][kernel]") {
  Rng rng(119);
  for (const double cost : {0.05, 50.0}) {
    const KernelTubeProblem p = random_kernel(rng, {.rows = 150, .features = 40, .tasks = 2, .cost = cost});
    for (const auto algorithm : kAll) {
      const auto one = solve_kernel_tube(p, {.algorithm = algorithm, .threads = 1});
      for (const unsigned threads : {2U, 3U}) {
        const auto more = solve_kernel_tube(p, {.algorithm = algorithm, .threads = threads});
        CHECK(more.beta == one.beta);
        CHECK(more.bias == one.bias);
        CHECK(more.values == one.values);
        CHECK(more.report.primal == one.report.primal);
        CHECK(more.report.dual == one.report.dual);
        CHECK(more.report.iterations == one.report.iterations);
      }
    }
  }
}

TEST_CASE("kernel_tube: warm starts are certified, and optimal ones taken over", "[solver][kernel]") {
  Rng rng(121);
  for (const double cost : {0.1, 100.0}) {
    const KernelTubeProblem p = random_kernel(rng, {.rows = 60, .features = 30, .tasks = 2, .cost = cost});
    KernelTubeProblem near = p;
    for (double& y : near.target) y += 1e-3 * rng.normal();
    for (double& c : near.cost_above) c *= 0.99;  // the start is out of its box
    for (const auto algorithm : kAll) {
      CAPTURE(cost, static_cast<int>(algorithm));
      const KernelTubeOptions options{.algorithm = algorithm};
      const auto s = solve_kernel_tube(p, options);
      if (algorithm == KernelTubeAlgorithm::kFactored) {
        CHECK(s.report.algorithm == "factored");
        CHECK(s.report.iterations < 50);  // an interior point, then few semismooth steps
      }
      const auto same = solve_kernel_tube(p, options, &s);
      expect_optimal(p, same, 1e-6);
      CHECK(same.report.iterations == 0);
      CHECK(same.report.gap() <= 1e-6 * s.report.primal);
      const auto moved = solve_kernel_tube(near, options, &s);
      expect_optimal(near, moved, 1e-6);
      CHECK(moved.report.primal == Approx(solve_kernel_tube(near, options).report.primal).epsilon(2e-6));
    }
  }
}

TEST_CASE("kernel_tube: SMO is tried first where costs are small against the kernel", "[solver][kernel]") {
  Rng rng(125);
  for (const double cost : {0.1, 100.0}) {
    KernelTubeProblem p = random_kernel(rng, {.rows = 40, .features = 30, .cost = cost});
    p.lambda = {kInfinity};
    const SolveReport report = solve_kernel_tube(p).report;
    CHECK(report.algorithm == (cost < 1 ? "smo" : "factored"));
    if (cost > 1) CHECK(report.iterations < 100);  // no steps of SMO before
  }
}

TEST_CASE("kernel_tube: a start of nonsense does no harm", "[solver][kernel]") {
  Rng rng(123);
  for (const double cost : {0.1, 100.0}) {
    const KernelTubeProblem p = random_kernel(rng, {.rows = 30, .features = 10, .tasks = 2, .cost = cost});
    for (const double value : {kNan, kInfinity, -kInfinity, 1e300, -1.0}) {
      for (const auto algorithm : kAll) {
        CAPTURE(cost, value, static_cast<int>(algorithm));
        KernelTubeSolution start;
        start.beta.assign(p.size(), value);
        start.beta[3] = 1;
        start.bias.assign(p.tasks(), value);
        start.values.assign(p.size(), value);
        expect_optimal(p, solve_kernel_tube(p, {.algorithm = algorithm}, &start), 1e-6);
      }
    }
  }
}

}  // namespace bagwise
