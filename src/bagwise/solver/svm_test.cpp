#include "bagwise/solver/svm.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "bagwise/core/random.h"

namespace bagwise {
namespace {

struct Problem {
  DenseRows rows;
  std::vector<std::int8_t> labels;
};

Problem make(Rng& rng, std::size_t n, std::size_t d, double overlap) {
  Problem out{DenseRows(n, d), {}};
  for (std::size_t i = 0; i < n; ++i) {
    const bool positive = i == 0 || (i > 1 && rng.uniform() < 0.4);
    out.labels.push_back(positive ? 1 : -1);
    for (std::size_t j = 0; j < d; ++j)
      out.rows(i, j) = (positive ? 0.5 : -0.5) + overlap * rng.normal() + 0.3;
  }
  return out;
}

long double kernel(const KernelFunction& k, std::span<const double> x, std::span<const double> z) {
  long double dot = 0, distance = 0;
  for (std::size_t j = 0; j < x.size(); ++j) {
    dot += static_cast<long double>(x[j]) * z[j];
    distance += (static_cast<long double>(x[j]) - z[j]) * (static_cast<long double>(x[j]) - z[j]);
  }
  if (k.kind == KernelKind::kRbf) return std::exp(-k.gamma * distance);
  if (k.kind == KernelKind::kPoly) return std::pow(k.gamma * dot + 1, static_cast<long double>(k.degree));
  return dot;
}

// Fails unless the solution is feasible, is what it says of itself, and is within `gap` of the optimum.
void expect_optimal(const Problem& p, const KernelFunction& k, double cost, double gap,
                    const SvmSolution& s) {
  const std::size_t n = p.labels.size();
  REQUIRE(s.beta.size() == n);
  REQUIRE(s.values.size() == n);
  long double balance = 0, square = 0, linear = 0, loss = 0;
  for (std::size_t i = 0; i < n; ++i) {
    REQUIRE(p.labels[i] * s.beta[i] >= 0);
    REQUIRE(p.labels[i] * s.beta[i] <= cost);
    balance += s.beta[i];
    linear += p.labels[i] * s.beta[i];
    long double f = 0;
    for (std::size_t j = 0; j < n; ++j) f += s.beta[j] * kernel(k, p.rows.row(i), p.rows.row(j));
    square += s.beta[i] * f;
  }
  CHECK(std::abs(balance) <= 1e-12L * cost * static_cast<long double>(n));
  // The primal at the solution's own values and norm: f_i = w.x_i + b.
  for (std::size_t i = 0; i < n; ++i) {
    loss += cost * std::max(0.0L, 1 - p.labels[i] * static_cast<long double>(s.values[i]));
    if (s.weights.size() == 0) continue;
    long double f = s.bias;
    for (std::size_t j = 0; j < p.rows.columns(); ++j)
      f += static_cast<long double>(p.rows(i, j)) * s.weights[static_cast<Eigen::Index>(j)];
    CHECK(s.values[i] == Approx(static_cast<double>(f)).margin(1e-9 * (1 + std::abs(s.bias))));
  }
  const auto primal = static_cast<double>(static_cast<long double>(s.squared_norm) / 2 + loss);
  const auto dual = static_cast<double>(linear - square / 2);
  CHECK(s.report.primal == Approx(primal).epsilon(1e-9));
  CHECK(s.report.dual == Approx(dual).epsilon(1e-9));
  CHECK(primal - dual <= 1.001 * gap * primal);
  CHECK(primal - dual >= -1e-9 * primal);
  CHECK(s.report.termination == Termination::kConverged);
}

TEST_CASE("svm: linear machines are optimal however labels and cost change between solves", "[solver][svm]") {
  Rng rng(1);
  for (int round = 0; round < 12; ++round) {
    Problem p = make(rng, 20 + rng.below(60), 1 + rng.below(12), round % 3 == 0 ? 0.2 : 1.5);
    const auto svm = make_linear_svm(p.rows.view(), 1);
    double cost = 1e-3;
    for (int step = 0; step < 8; ++step) {
      expect_optimal(p, {}, cost, 1e-6, svm->solve(p.labels, cost, 1e-6, {}));
      cost *= step == 4 ? 0.01 : 5;
      for (std::size_t i = 2; i < p.labels.size(); ++i) {
        if (rng.uniform() < 0.15) p.labels[i] = static_cast<std::int8_t>(-p.labels[i]);
      }
      if (step == 5) svm->start_from({});
    }
  }
}

TEST_CASE("svm: kernel machines are optimal, and the cache's room changes no bit", "[solver][svm]") {
  Rng rng(2);
  for (const KernelFunction k :
       {KernelFunction{KernelKind::kRbf, 0.5, 1}, KernelFunction{KernelKind::kPoly, 0.3, 2},
        KernelFunction{KernelKind::kLinear, 1, 1}}) {
    Problem p = make(rng, 60, 3, 1.0);
    const auto whole = std::make_shared<KernelCache>(k, p.rows.view(), std::size_t{1} << 20);
    const auto little = std::make_shared<KernelCache>(k, p.rows.view(), 0);
    const auto a = make_kernel_svm(whole), b = make_kernel_svm(little);
    double cost = 1e-2;
    for (int step = 0; step < 6; ++step) {
      const SvmSolution& s = a->solve(p.labels, cost, 1e-6, {});
      expect_optimal(p, k, cost, 1e-6, s);
      CHECK(b->solve(p.labels, cost, 1e-6, {}).beta == s.beta);
      cost *= 4;
      for (std::size_t i = 2; i < p.labels.size(); ++i) {
        if (rng.uniform() < 0.15) p.labels[i] = static_cast<std::int8_t>(-p.labels[i]);
      }
    }
    CHECK(whole->computed() <= 60);
    CHECK(little->computed() > 60);
  }
}

TEST_CASE("svm: a machine that starts from another's solution has nothing left to do", "[solver][svm]") {
  Rng rng(6);
  const Problem p = make(rng, 100, 4, 1.0);
  const auto cache = std::make_shared<KernelCache>(KernelFunction{KernelKind::kRbf, 0.5, 1}, p.rows.view(),
                                                   std::size_t{1} << 20);
  for (const bool linear : {true, false}) {
    const auto first = linear ? make_linear_svm(p.rows.view(), 1) : make_kernel_svm(cache);
    const auto second = linear ? make_linear_svm(p.rows.view(), 1) : make_kernel_svm(cache);
    const SvmSolution known = first->solve(p.labels, 3.0, 1e-8, {});
    CHECK(known.report.iterations > 0);
    second->start_from(known);
    const SvmSolution& again = second->solve(p.labels, 3.0, 1e-6, {});
    CHECK(again.report.iterations == 0);
    CHECK(again.report.primal == Approx(known.report.primal).epsilon(1e-7));
  }
}

TEST_CASE("svm: the kernel x.z finds the linear machine", "[solver][svm]") {
  Rng rng(3);
  const Problem p = make(rng, 80, 4, 1.0);
  const auto linear = make_linear_svm(p.rows.view(), 1);
  const auto kernel =
      make_kernel_svm(std::make_shared<KernelCache>(KernelFunction{}, p.rows.view(), std::size_t{1} << 20));
  for (const double cost : {0.01, 1.0, 20.0}) {
    const SvmSolution &a = linear->solve(p.labels, cost, 1e-9, {}),
                      &b = kernel->solve(p.labels, cost, 1e-9, {});
    CHECK(a.report.primal == Approx(b.report.primal).epsilon(1e-8));
    for (std::size_t i = 0; i < p.labels.size(); ++i) CHECK(a.values[i] == Approx(b.values[i]).margin(1e-2));
  }
}

TEST_CASE("svm: rows of one class alone need no plane", "[solver][svm]") {
  Rng rng(4);
  Problem p = make(rng, 20, 3, 1.0);
  for (auto& label : p.labels) label = -1;
  const auto linear = make_linear_svm(p.rows.view(), 1);
  const SvmSolution& s = linear->solve(p.labels, 2.0, 1e-6, {});
  CHECK(s.report.primal == Approx(0).margin(1e-12));
  for (const double f : s.values) CHECK(f <= -1 + 1e-9);
  const auto kernel = make_kernel_svm(std::make_shared<KernelCache>(KernelFunction{KernelKind::kRbf, 1, 1},
                                                                    p.rows.view(), std::size_t{1} << 20));
  CHECK(kernel->solve(p.labels, 2.0, 1e-6, {}).report.primal == Approx(0).margin(1e-12));
}

TEST_CASE("svm: an observer ends a solve with what there is", "[solver][svm]") {
  Rng rng(5);
  const Problem p = make(rng, 200, 5, 2.0);
  const auto stop = [](const Progress&) { return Next::kStop; };
  const auto linear = make_linear_svm(p.rows.view(), 1);
  const SvmSolution& s = linear->solve(p.labels, 10.0, 1e-9, stop);
  CHECK(s.report.termination == Termination::kStopped);
  CHECK(s.values.size() == 200);
}

}  // namespace
}  // namespace bagwise
