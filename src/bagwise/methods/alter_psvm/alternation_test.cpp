#include "bagwise/methods/alter_psvm/alternation.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "bagwise/core/random.h"

namespace bagwise::alter_psvm {
namespace {

// The objective without 1/2 |w|^2, by the letter of the problem.
double plain_loss(const Problem& p, double cost, std::span<const double> f, const Labels& y) {
  double out = 0;
  for (std::size_t k = 0; k < p.bags(); ++k) {
    double positives = 0, size = 0;
    for (std::size_t i = p.bag_start[k]; i < p.bag_start[k + 1]; ++i) {
      out += cost * std::max(0.0, 1 - y[i] * f[i]);
      positives += y[i] > 0 ? 1 : 0;
      size += 1;
    }
    if (size > 0)
      out += p.C_p * size * std::max(0.0, std::abs(positives / size - p.proportions[k]) - p.epsilon);
  }
  return out;
}

TEST_CASE("alternation: no labels of bags up to 12 are better than those of the label step",
          "[methods][alter_psvm]") {
  Rng rng(1);
  for (int round = 0; round < 300; ++round) {
    const std::size_t first = rng.below(13), second = rng.below(13 - first);
    const std::vector<std::size_t> start = {0, first, first + second};
    const std::size_t n = first + second;
    // Shares that no whole number of rows has, too.
    const std::vector<double> p = {rng.uniform(), static_cast<double>(rng.below(5)) / 4};
    const Problem problem{start, p, 1, std::exp(2 * rng.normal()),
                          round % 3 == 0 ? 0.0 : 0.2 * rng.uniform()};
    const double cost = std::exp(3 * rng.normal());
    std::vector<double> f;
    for (std::size_t i = 0; i < n; ++i)
      f.push_back(round % 4 == 0 ? static_cast<double>(rng.below(5)) - 2 : 1.5 * rng.normal());
    Labels labels(n, 1);
    const double found = best_labels(problem, cost, f, labels);
    CHECK(found == Approx(plain_loss(problem, cost, f, labels)).epsilon(1e-12));
    double best = std::numeric_limits<double>::infinity();
    Labels any(n);
    for (std::uint32_t set = 0; set < (1U << n); ++set) {
      for (std::size_t i = 0; i < n; ++i) any[i] = (set >> i & 1U) != 0 ? 1 : -1;
      best = std::min(best, plain_loss(problem, cost, f, any));
    }
    CHECK(found == Approx(best).epsilon(1e-12));
  }
}

struct Task {
  DenseRows rows;
  std::vector<std::size_t> bag_start = {0};
  std::vector<double> proportions;
  Labels start;
};

Task make(Rng& rng, std::size_t bags, std::size_t size, std::size_t d) {
  Task out{DenseRows(d), {0}, {}, {}};
  for (std::size_t k = 0; k < bags; ++k) {
    double positives = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const bool positive = rng.uniform() < 0.5;
      positives += positive ? 1 : 0;
      double* row = out.rows.append(1);
      for (std::size_t j = 0; j < d; ++j) row[j] = (positive ? 1.0 : -1.0) + 1.5 * rng.normal();
      out.start.push_back(rng.uniform() < 0.5 ? 1 : -1);
    }
    out.proportions.push_back(positives / static_cast<double>(size));
    out.bag_start.push_back(out.rows.rows());
  }
  return out;
}

TEST_CASE("alternation: the objective never rises at the last C and is that of labels and plane",
          "[methods][alter_psvm]") {
  Rng rng(2);
  for (int round = 0; round < 15; ++round) {
    const Task task = make(rng, 20, 1 + rng.below(8), 1 + rng.below(6));
    const Problem problem{task.bag_start, task.proportions, std::exp(2 * rng.normal()),
                          std::exp(2 * rng.normal()), round % 2 == 0 ? 0.0 : 0.1};
    const auto machine = make_linear_svm(task.rows.view(), 1);
    Watched watched;
    const Answer answer = alternate(problem, *machine, {task.start}, {}, watched);
    REQUIRE(answer.end == End::kConverged);
    REQUIRE_FALSE(answer.history.empty());
    CHECK(watched.steps == kCosts);
    for (std::size_t i = 1; i < answer.history.size(); ++i) CHECK(answer.history[i] <= answer.history[i - 1]);
    CHECK(answer.history.back() == Approx(answer.objective).epsilon(1e-12));
    // From scratch.
    std::vector<double> f;
    const Vector& w = answer.machine.weights;
    for (std::size_t i = 0; i < task.rows.rows(); ++i) {
      f.push_back(answer.machine.bias);
      for (std::size_t j = 0; j < task.rows.columns(); ++j)
        f.back() += w[static_cast<Eigen::Index>(j)] * task.rows(i, j);
    }
    const double half_norm = w.squaredNorm() / 2;
    CHECK(answer.objective ==
          Approx(half_norm + plain_loss(problem, problem.C, f, answer.labels)).epsilon(1e-9));
    // Neither step improves it: labels exactly, the plane to its gap.
    Labels again = answer.labels;
    CHECK(half_norm + best_labels(problem, problem.C, f, again) >= answer.objective * (1 - 1e-9));
    const auto fresh = make_linear_svm(task.rows.view(), 1);
    const SvmSolution& best = fresh->solve(answer.labels, problem.C, 1e-9, {});
    double shares = 0;
    for (std::size_t k = 0; k < problem.bags(); ++k) {
      std::size_t positives = 0;
      for (std::size_t i = task.bag_start[k]; i < task.bag_start[k + 1]; ++i)
        positives += answer.labels[i] > 0 ? 1 : 0;
      shares += problem.share_cost(k, positives);
    }
    CHECK(best.report.primal + shares >= answer.objective * (1 - 2e-6));
  }
}

TEST_CASE("alternation: kernel machines go the way of linear ones", "[methods][alter_psvm]") {
  Rng rng(3);
  const Task task = make(rng, 15, 4, 3);
  const Problem problem{task.bag_start, task.proportions, 1, 10, 0};
  const auto linear = make_linear_svm(task.rows.view(), 1);
  const auto kernel = make_kernel_svm(
      std::make_shared<KernelCache>(KernelFunction{}, task.rows.view(), std::size_t{1} << 20));
  Watched watched;
  const Answer a = alternate(problem, *linear, {task.start}, {.gap = 1e-9}, watched);
  const Answer b = alternate(problem, *kernel, {task.start}, {.gap = 1e-9}, watched);
  CHECK(a.labels == b.labels);
  CHECK(a.objective == Approx(b.objective).epsilon(1e-7));
}

TEST_CASE("alternation: a stop and a limit of rounds leave labels with their plane",
          "[methods][alter_psvm]") {
  Rng rng(4);
  const Task task = make(rng, 30, 6, 4);
  const Problem problem{task.bag_start, task.proportions, 1, 10, 0};
  const auto machine = make_linear_svm(task.rows.view(), 1);
  Watched stopped;
  stopped.stop = true;
  const Answer a = alternate(problem, *machine, {task.start}, {}, stopped);
  CHECK(a.end == End::kStopped);
  CHECK(a.machine.values.size() == task.start.size());
  CHECK(std::isfinite(a.objective));
  Watched watched;
  const Answer b = alternate(problem, *machine, {task.start}, {.max_rounds = 1}, watched);
  CHECK(b.history.size() == 1);
  CHECK(b.objective == Approx(b.history[0]).epsilon(1e-12));
}

}  // namespace
}  // namespace bagwise::alter_psvm
