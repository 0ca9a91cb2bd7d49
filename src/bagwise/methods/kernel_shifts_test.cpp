#include "bagwise/methods/kernel_shifts.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "bagwise/core/random.h"

namespace bagwise {
namespace {

// A random task and a random function over random rows.
struct Scene {
  KernelFunction kernel;
  DenseRows observed, expansion;
  Csr sparse;
  std::vector<std::uint32_t> bag_of_row;
  std::vector<double> bounds, target, tube, weights;
  double bias = 0;

  Scene(Rng& rng, const KernelFunction& by, double largest_bound)
      : kernel(by), observed(0), expansion(30, 3) {
    const std::size_t bags = 12;
    DenseRows rows(3);
    for (std::size_t i = 0; i < 60; ++i) {
      double* row = rows.append(1);
      for (int c = 0; c < 3; ++c) row[c] = rng.below(4) == 0 ? 0.0 : rng.normal();
      bag_of_row.push_back(static_cast<std::uint32_t>(rng.below(bags - 1)));  // the last bag has no rows
      bounds.push_back(rng.below(5) == 0 ? 0.0 : largest_bound * rng.uniform());
    }
    observed = std::move(rows);
    sparse.columns = 3;
    for (std::size_t i = 0; i < 60; ++i) {
      for (std::size_t c = 0; c < 3; ++c) {
        if (observed(i, c) == 0) continue;
        sparse.index.push_back(static_cast<std::int32_t>(c));
        sparse.values.push_back(observed(i, c));
      }
      sparse.start.push_back(static_cast<std::int64_t>(sparse.values.size()));
    }
    for (std::size_t k = 0; k < bags; ++k) {
      target.push_back(2 * rng.normal());
      tube.push_back(rng.below(3) == 0 ? 0.0 : rng.uniform());
    }
    draw_function(rng);
  }

  void draw_function(Rng& rng) {
    weights.clear();
    for (std::size_t i = 0; i < 30; ++i) {
      weights.push_back(rng.normal());
      for (std::size_t c = 0; c < 3; ++c) expansion(i, c) = rng.normal();
    }
    bias = rng.normal();
  }

  [[nodiscard]] UncertainRows data() const { return {observed.view(), bag_of_row, bounds, target, tube}; }
  [[nodiscard]] UncertainRows sparse_data() const {
    return {sparse.view(), bag_of_row, bounds, target, tube};
  }
  [[nodiscard]] KernelSum f() const { return {kernel, expansion.view(), weights, bias}; }

  // By plain loops.
  [[nodiscard]] double value(std::span<const double> x) const {
    double sum = 0;
    for (std::size_t i = 0; i < 30; ++i) {
      double product = 0, distance = 0;
      for (std::size_t c = 0; c < 3; ++c) {
        product += x[c] * expansion(i, c);
        distance += (x[c] - expansion(i, c)) * (x[c] - expansion(i, c));
      }
      const double k = kernel.kind == KernelKind::kRbf ? std::exp(-kernel.gamma * distance)
                       : kernel.kind == KernelKind::kLinear
                           ? product
                           : std::pow(kernel.gamma * product + 1, kernel.degree);
      sum += weights[i] * k;
    }
    return sum + bias;
  }
  [[nodiscard]] std::vector<double> gradient(std::span<const double> x) const {
    std::vector<double> out;
    for (std::size_t c = 0; c < 3; ++c) {
      std::vector<double> up(x.begin(), x.end()), down = up;
      up[c] += 1e-5;
      down[c] -= 1e-5;
      out.push_back((value(up) - value(down)) / 2e-5);
    }
    return out;
  }
  [[nodiscard]] std::vector<double> residuals(const DenseRows& rows) const {
    std::vector<double> sum(target.size(), 0.0), size(target.size(), 0.0);
    for (std::size_t j = 0; j < rows.rows(); ++j) {
      sum[bag_of_row[j]] += value(rows.row(j));
      size[bag_of_row[j]] += 1;
    }
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] = size[k] == 0 ? 0.0 : sum[k] / size[k] - target[k];
    return sum;
  }
  [[nodiscard]] double slack(double residual, std::size_t k) const {
    return std::max(0.0, std::abs(residual) - tube[k]);
  }
};

double norm(std::span<const double> v) {
  double sum = 0;
  for (const double x : v) sum += x * x;
  return std::sqrt(sum);
}

std::vector<double> difference(std::span<const double> a, std::span<const double> b) {
  std::vector<double> out;
  for (std::size_t c = 0; c < a.size(); ++c) out.push_back(a[c] - b[c]);
  return out;
}

bool same_rows(const DenseRows& a, const DenseRows& b) {
  return std::equal(stored_values(a.view()).begin(), stored_values(a.view()).end(),
                    stored_values(b.view()).begin(), stored_values(b.view()).end());
}

const KernelFunction kKernels[] = {
    {KernelKind::kLinear, 1, 1}, {KernelKind::kRbf, 0.5, 3}, {KernelKind::kPoly, 0.3, 3}};

TEST_CASE("kernel_shifts: no bag's slack rises, no row leaves its bound", "[methods][kernel_shifts]") {
  Rng rng(1);
  std::size_t moved = 0;
  for (int round = 0; round < 150; ++round) {
    Scene scene(rng, kKernels[rng.below(3)], std::exp(2 * rng.normal() - 1));
    auto start = unmoved_rows(scene.data());
    REQUIRE(start.ok());
    MovedRows now = std::move(*start);
    for (int step = 0; step < 4; ++step) {
      if (step > 1) scene.draw_function(rng);  // the second step has the function of the first
      const auto before = scene.residuals(now.rows);
      const MovedRows next = move_exact(scene.f(), scene.data(), now, 1);
      const auto after = scene.residuals(next.rows);
      CAPTURE(round, step, static_cast<int>(scene.kernel.kind));
      for (std::size_t k = 0; k < before.size(); ++k) {
        const double size = 1 + std::abs(before[k]);
        REQUIRE(scene.slack(after[k], k) <= scene.slack(before[k], k) + 1e-9 * size);
        REQUIRE(std::abs(next.residual[k] - after[k]) <= 1e-9 * size);
        REQUIRE(next.theta[k] >= 0);
        REQUIRE(next.theta[k] <= 1);
      }
      for (std::size_t j = 0; j < scene.bounds.size(); ++j) {
        const std::size_t k = scene.bag_of_row[j];
        const double length = norm(difference(next.rows.row(j), scene.observed.row(j)));
        REQUIRE(length <= next.theta[k] * scene.bounds[j] * (1 + 1e-9) + 1e-12);
        // A bag in its tube stays where it is. One that was moved to the edge may be beyond it by rounding.
        const double size = 1e-9 * (1 + std::abs(before[k]));
        if (scene.slack(before[k] - size, k) == 0 && scene.slack(before[k] + size, k) == 0)
          REQUIRE(std::equal(next.rows.row(j).begin(), next.rows.row(j).end(), now.rows.row(j).begin()));
      }
      for (const unsigned threads : {2U, 3U}) {
        const MovedRows again = move_exact(scene.f(), scene.sparse_data(), now, threads);
        const MovedRows once = move_exact(scene.f(), scene.sparse_data(), now, 1);
        REQUIRE(same_rows(again.rows, once.rows));
        REQUIRE(again.theta == once.theta);
        REQUIRE(again.residual == once.residual);
      }
      moved += next.bags_moved;
      now = next;
    }
  }
  CHECK(moved > 500);
}

TEST_CASE("kernel_shifts: the linear kernel has the closed form", "[methods][kernel_shifts]") {
  Rng rng(2);
  for (int round = 0; round < 50; ++round) {
    const Scene scene(rng, kKernels[0], 0.5);
    const std::vector<double> w = scene.gradient(scene.observed.row(0));
    const auto before = scene.residuals(scene.observed);
    const MovedRows next = move_exact(scene.f(), scene.data(), *unmoved_rows(scene.data()));
    std::vector<double> sum(before.size(), 0.0), size(before.size(), 0.0);
    for (std::size_t j = 0; j < scene.bounds.size(); ++j) {
      sum[scene.bag_of_row[j]] += scene.bounds[j];
      size[scene.bag_of_row[j]] += 1;
    }
    for (std::size_t k = 0; k < before.size(); ++k) {
      const double reach = size[k] == 0 ? 0 : sum[k] / size[k] * norm(w);
      const bool stays = scene.slack(before[k], k) == 0 || reach == 0;
      const double theta = stays ? 0 : std::min(1.0, std::abs(before[k]) / reach);
      CAPTURE(round, k, before[k], reach);
      CHECK(next.theta[k] == Approx(theta).epsilon(1e-6));
    }
    for (std::size_t j = 0; j < scene.bounds.size(); ++j) {
      const std::size_t k = scene.bag_of_row[j];
      for (std::size_t c = 0; c < 3; ++c) {
        const double dx = (before[k] > 0 ? -1 : 1) * next.theta[k] * scene.bounds[j] * w[c] / norm(w);
        CHECK(next.rows(j, c) == Approx(scene.observed(j, c) + dx).margin(1e-7));
      }
    }
  }
}

TEST_CASE("kernel_shifts: the search comes as near to the target as a fine grid of thetas",
          "[methods][kernel_shifts]") {
  Rng rng(3);
  std::size_t searched = 0;
  for (int round = 0; round < 40; ++round) {
    const Scene scene(rng, kKernels[1 + rng.below(2)], 0.4);  // short against the kernel: f rises all the way
    const auto before = scene.residuals(scene.observed);
    const MovedRows next = move_exact(scene.f(), scene.data(), *unmoved_rows(scene.data()));
    std::vector<double> nearest(before.size());
    for (std::size_t k = 0; k < before.size(); ++k) nearest[k] = std::abs(before[k]);
    for (int g = 0; g <= 50; ++g) {
      DenseRows trial = scene.observed;
      for (std::size_t j = 0; j < trial.rows(); ++j) {
        const auto u = scene.gradient(scene.observed.row(j));
        const double step = (before[scene.bag_of_row[j]] > 0 ? -0.02 : 0.02) * g * scene.bounds[j] / norm(u);
        for (std::size_t c = 0; c < 3; ++c) trial(j, c) += step * u[c];
      }
      const auto residual = scene.residuals(trial);
      for (std::size_t k = 0; k < before.size(); ++k)
        nearest[k] = std::min(nearest[k], std::abs(residual[k]));
    }
    for (std::size_t k = 0; k < before.size(); ++k) {
      if (scene.slack(before[k], k) == 0) continue;
      ++searched;
      CAPTURE(round, k, before[k], next.residual[k], next.theta[k], nearest[k]);
      // As near as the search wants to be: a tenth of the tube, or a thousandth of the way.
      CHECK(std::abs(next.residual[k]) <=
            nearest[k] + std::max(0.1 * scene.tube[k], 1e-3 * std::abs(before[k])) + 1e-6);
    }
  }
  CHECK(searched > 200);
}

TEST_CASE("kernel_shifts: a dip on the way is found though the end is no better",
          "[methods][kernel_shifts]") {
  // f(x) = -exp(-x^2) at x = 1 with bound 2: the far end, x = -1, is as high as the start; x = 0 is lowest.
  const double z[] = {0}, x[] = {1}, weight[] = {-1}, bound[] = {2}, target[] = {-5}, tube[] = {0.1};
  const std::uint32_t bag[] = {0};
  const KernelSum f{{KernelKind::kRbf, 1, 3}, DenseView{z, 1, 1}, weight, 0};
  const UncertainRows data{DenseView{x, 1, 1}, bag, bound, target, tube};
  const MovedRows next = move_exact(f, data, *unmoved_rows(data));
  CHECK(next.theta[0] == 0.5);
  CHECK(next.rows(0, 0) == Approx(0).margin(1e-12));
  CHECK(next.residual[0] == Approx(4));
}

TEST_CASE("kernel_shifts: without a gradient, or a bound, rows stay", "[methods][kernel_shifts]") {
  Rng rng(4);
  Scene scene(rng, kKernels[1], 0.5);
  scene.weights.assign(30, 0.0);
  const MovedRows start = *unmoved_rows(scene.data());
  CHECK(same_rows(start.rows, scene.observed));
  CHECK(same_rows(unmoved_rows(scene.sparse_data())->rows, scene.observed));
  CHECK(same_rows(move_exact(scene.f(), scene.data(), start).rows, scene.observed));
  CHECK(move_exact(scene.f(), scene.data(), start).bags_moved == 0);
  CHECK(same_rows(move_literal(scene.f(), scene.data(), start).rows, scene.observed));
  scene.draw_function(rng);
  scene.bounds.assign(60, 0.0);
  CHECK(same_rows(move_exact(scene.f(), scene.data(), start).rows, scene.observed));
  CHECK(same_rows(move_literal(scene.f(), scene.data(), start).rows, scene.observed));
}

TEST_CASE("kernel_shifts: literal moves every row as Lemma 3 says", "[methods][kernel_shifts]") {
  Rng rng(5);
  for (int round = 0; round < 30; ++round) {
    const Scene scene(rng, kKernels[rng.below(3)], 0.5);
    const MovedRows next = move_literal(scene.f(), scene.data(), *unmoved_rows(scene.data()), 1);
    bool right = true;
    for (std::size_t j = 0; j < scene.bounds.size(); ++j) {
      const std::size_t k = scene.bag_of_row[j];
      const double excess = scene.value(scene.observed.row(j)) - scene.target[k];
      const double step = excess > scene.tube[k] ? -1 : excess < -scene.tube[k] ? 1 : 0;
      const auto u = scene.gradient(scene.observed.row(j));
      for (std::size_t c = 0; c < 3; ++c) {
        const double expected = scene.observed(j, c) + step * scene.bounds[j] * u[c] / norm(u);
        right = right && std::abs(next.rows(j, c) - expected) < 1e-5;
      }
    }
    CHECK(right);
    const auto after = scene.residuals(next.rows);
    for (std::size_t k = 0; k < after.size(); ++k) CHECK(next.residual[k] == Approx(after[k]).margin(1e-9));
    CHECK(same_rows(move_literal(scene.f(), scene.data(), next, 3).rows,
                    next.rows));  // the present is no matter
  }
}

TEST_CASE("kernel_shifts: rows that would not fit in memory are an error", "[methods][kernel_shifts]") {
  const std::vector<std::int64_t> start(100001, 0);
  const CsrView wide{start, {}, {}, 100000, 1000000};
  const std::vector<std::uint32_t> bags(100000, 0);
  const auto rows = unmoved_rows({wide, bags, {}, {}, {}});
  REQUIRE_FALSE(rows.ok());
  CHECK_THAT(rows.error().text(), Catch::Contains("100000 rows of 1000000 features"));
}

}  // namespace
}  // namespace bagwise
