#include "bagwise/methods/nystrom.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "bagwise/core/random.h"
#include "bagwise/methods/scorer.h"
#include "support/bag_problems.h"
#include "support/sparse_rows.h"

namespace bagwise {
namespace {

Eigen::Index at(std::size_t n) { return static_cast<Eigen::Index>(n); }

const KernelFunction kKernels[] = {{KernelKind::kRbf, 0.15, 3}, {KernelKind::kPoly, 0.2, 2}};

DenseRows random_dense(Rng& rng, std::size_t rows, std::size_t columns, double filled = 1) {
  DenseRows out(rows, columns);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j)
      if (rng.uniform() < filled) out(i, j) = rng.normal();
  }
  return out;
}

// Largest |phi(x).phi(z) - k(x, z)| over all pairs, for the scaling that leaves rows as they are.
double error_of(const NystromMap& map, const RowsView& rows) {
  RowMatrix exact;
  kernel_block(map.kernel, rows, rows, exact);
  const RowMatrix phi = map_rows(map, {}, rows);
  return (phi * phi.transpose() - exact).cwiseAbs().maxCoeff();
}

TEST_CASE("nystrom: products of mapped rows near the kernel with more landmarks", "[methods][nystrom]") {
  Rng rng(1);
  const DenseRows rows = random_dense(rng, 400, 4);
  const RowsView tables[] = {rows.view()};
  for (const KernelFunction& kernel : kKernels) {
    double last = std::numeric_limits<double>::infinity(), first = 0;
    for (const std::size_t count : {5U, 20U, 80U, 400U}) {
      const NystromMap map = fit_nystrom(kernel, tables, {}, count, 1);
      CHECK(map.landmarks.rows() == count);
      CHECK(map.coordinates() <= count);
      const double error = error_of(map, rows.view());
      CAPTURE(static_cast<int>(kernel.kind), count, error, last);
      // Once all there is to the kernel is seen (poly of degree 2 has 15 dimensions here), rounding is left.
      CHECK((error < last || error < 1e-8));
      if (count == 5) first = error;
      last = error;
      // On the diagonal the projection is never longer than what it projects.
      const RowMatrix phi = map_rows(map, {}, rows.view());
      RowMatrix exact;
      kernel_block(kernel, rows.view(), rows.view(), exact);
      CHECK((phi.rowwise().squaredNorm() - exact.diagonal()).maxCoeff() < 1e-7);
    }
    CHECK(last < 1e-8 * std::max(1.0, first));
  }
}

TEST_CASE("nystrom: which rows are landmarks depends on seed and values alone", "[methods][nystrom]") {
  Rng rng(2);
  const DenseRows all = random_dense(rng, 300, 3, 0.6);
  const RowsView whole[] = {all.view()};
  const NystromMap map = fit_nystrom(kKernels[0], whole, {}, 40, 7);
  std::vector<std::size_t> order(300);
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(std::span(order), rng);
  DenseRows first(3), second(3);
  for (const std::size_t i : order)
    std::copy_n(all.row(i).data(), 3, (rng.below(3) == 0 ? first : second).append(1));
  std::copy_n(all.row(5).data(), 3, first.append(1));  // a row twice is no other row
  const Csr sparse = test::sparse_of(second.view());
  const RowsView parts[] = {first.view(), sparse.view()};
  const NystromMap other = fit_nystrom(kKernels[0], parts, {}, 40, 7);
  REQUIRE(other.landmarks.rows() == 40);
  RowMatrix a, b;
  const RowMatrix identity = RowMatrix::Identity(3, 3);
  kernel_block({}, map.landmarks.view(), DenseView{identity.data(), 3, 3}, a);
  kernel_block({}, other.landmarks.view(), DenseView{identity.data(), 3, 3}, b);
  CHECK(a == b);
  const NystromMap reseeded = fit_nystrom(kKernels[0], whole, {}, 40, 8);
  kernel_block({}, reseeded.landmarks.view(), DenseView{identity.data(), 3, 3}, b);
  CHECK(a != b);
}

TEST_CASE("nystrom: equal rows and too few of them are no trouble", "[methods][nystrom]") {
  DenseRows same(50, 2);
  for (std::size_t i = 0; i < 50; ++i) same(i, 0) = 3;
  const RowsView tables[] = {same.view()};
  const NystromMap map = fit_nystrom(kKernels[0], tables, {}, 10, 1);
  CHECK(map.landmarks.rows() == 1);
  CHECK(map.coordinates() == 1);
  CHECK(error_of(map, same.view()) < 1e-12);
  const DenseRows none(0, 2);
  const RowsView empty[] = {none.view()};
  CHECK(fit_nystrom(kKernels[0], empty, {}, 10, 1).coordinates() == 0);
}

TEST_CASE("nystrom: sums per bag are sums of mapped rows, on any number of threads", "[methods][nystrom]") {
  Rng rng(3);
  const BaggedData data = test::random_bags(rng, 900, 3, 12);  // more pieces than are held at once
  const RowsView rows = data.features.view();
  const Scaling scaling{"standard", {0.1, -0.2, 0.3}, {0.5, 0.7, 0.9}};
  std::vector<double> bounds(row_count(rows));
  for (double& b : bounds) b = rng.uniform();
  for (const KernelFunction& kernel : kKernels) {
    const RowsView tables[] = {rows};
    const NystromMap map = fit_nystrom(kernel, tables, scaling, 12, 1);
    const ReducedBags reduced = reduce_mapped(map, scaling, data, bounds, 1);
    const RowMatrix phi = map_rows(map, scaling, rows);
    CHECK(map_rows(map, scaling, rows, 3) == phi);
    REQUIRE(reduced.sums.features() == map.coordinates());
    REQUIRE(reduced.feature_names.size() == map.coordinates());
    CHECK(reduced.has_bounds);
    RowMatrix sums = RowMatrix::Zero(900, phi.cols());
    Vector bound_sums = Vector::Zero(900);
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      sums.row(data.bag_of_row[i]) += phi.row(at(i));
      double square = 0;
      for (std::size_t j = 0; j < 3; ++j) {
        const double x = (std::get<DenseView>(rows).row(i)[j] - scaling.shift[j]) * scaling.factor[j];
        square += x * x;
      }
      bound_sums[data.bag_of_row[i]] += bound_in_kernel_space(kernel, std::sqrt(square), bounds[i]);
    }
    bool right = true;
    for (std::size_t k = 0; k < 900; ++k) {
      for (std::size_t c = 0; c < map.coordinates(); ++c)
        right = right && std::abs(reduced.sums.sum(k, c) - sums(at(k), at(c))) < 1e-10;
      right = right && std::abs(reduced.sums.bound_sum(k) - bound_sums[at(k)]) < 1e-10 * bound_sums[at(k)];
    }
    CHECK(right);
    for (const unsigned threads : {2U, 3U})
      CHECK(reduce_mapped(map, scaling, data, bounds, threads).sums.pack() == reduced.sums.pack());
    CHECK_FALSE(reduce_mapped(map, scaling, data, {}).has_bounds);
  }
}

TEST_CASE("nystrom: a plane in the map is an expansion over the landmarks", "[methods][nystrom]") {
  Rng rng(4);
  const DenseRows rows = random_dense(rng, 200, 5, 0.2);
  const Csr sparse = test::sparse_of(rows.view());
  for (const Scaling& scaling : {Scaling{}, Scaling{"maxabs", {0, 0, 0, 0, 0}, {1, 2, 0.5, 1, 1}}}) {
    for (const KernelFunction& kernel : kKernels) {
      for (const RowsView& view : {RowsView(rows.view()), RowsView(sparse.view())}) {
        const RowsView tables[] = {view};
        const NystromMap map = fit_nystrom(kernel, tables, scaling, 60, 1);
        CHECK(map.landmarks.sparse() == std::holds_alternative<CsrView>(view));
        Vector w(at(map.coordinates()));
        for (double& v : w) v = rng.normal();
        Model model;
        model.scaling = scaling;
        model.expansion = Expansion{map.kernel, map.landmarks};
        model.tasks.push_back({"target", expansion_weights(map, w), 0.5, {}});
        const auto f = Scorer(model, 0).scores(view);
        const Vector direct = map_rows(map, scaling, view) * w;
        double error = 0;
        for (std::size_t i = 0; i < f.size(); ++i)
          error = std::max(error, std::abs(f[i] - 0.5 - direct[at(i)]));
        CHECK(error < 1e-7 * w.norm());
      }
    }
  }
}

// |Phi(x + dx) - Phi(x)| from the kernel alone.
double moved_in_kernel_space(const KernelFunction& kernel, const Vector& x, const Vector& dx) {
  const auto k = [&](const Vector& a, const Vector& b) -> long double {
    if (kernel.kind == KernelKind::kLinear) return a.dot(b);
    if (kernel.kind == KernelKind::kRbf)
      return std::exp(-static_cast<long double>(kernel.gamma) * (a - b).squaredNorm());
    return std::pow(static_cast<long double>(kernel.gamma) * a.dot(b) + 1, kernel.degree);
  };
  const Vector y = x + dx;
  return static_cast<double>(std::sqrt(std::max(0.0L, k(y, y) - 2 * k(x, y) + k(x, x))));
}

TEST_CASE("nystrom: no shift within its bound moves the image further, and one moves it as far",
          "[methods][nystrom]") {
  Rng rng(5);
  for (int round = 0; round < 3000; ++round) {
    const auto kind = names(KernelKind{})[rng.below(3)].second;
    const KernelFunction kernel{kind, std::exp(3 * rng.normal()), 1 + static_cast<int>(rng.below(6))};
    const auto columns = at(1 + rng.below(4));
    Vector x(columns), away(columns);
    for (double& v : x) v = rng.normal();
    x *= rng.below(8) == 0 ? 0.0 : std::exp(2 * rng.normal());
    const double delta = std::exp(2 * rng.normal());
    const double bound = bound_in_kernel_space(kernel, x.norm(), delta);
    const double slack =
        1e-7 * moved_in_kernel_space(kernel, Vector::Zero(columns), x + Vector::Ones(columns) * delta);
    CAPTURE(static_cast<int>(kind), kernel.gamma, kernel.degree, x.norm(), delta, bound);
    for (int trial = 0; trial < 20; ++trial) {
      for (double& v : away) v = rng.normal();
      if (trial % 3 == 0) away = -x + 1e-3 * away;  // near the other end
      if (trial % 3 == 1) away = x + 1e-2 * away;
      away *= delta * (trial % 2 == 0 ? 1.0 : rng.uniform()) / away.norm();
      REQUIRE(moved_in_kernel_space(kernel, x, away) <= bound * (1 + 1e-9) + slack);
    }
    Vector best = x.norm() > 0 ? x : Vector::Ones(columns);
    best *= delta / best.norm();
    CHECK(moved_in_kernel_space(kernel, x, best) == Approx(bound).epsilon(1e-9).margin(slack));
  }
  // Small bounds keep their digits: at the origin poly moves by sqrt(gamma degree) delta.
  CHECK(bound_in_kernel_space({KernelKind::kPoly, 2, 3}, 0, 1e-9) == Approx(std::sqrt(6.0) * 1e-9));
  CHECK(bound_in_kernel_space({KernelKind::kRbf, 2, 3}, 0, 1e-9) == Approx(2e-9));
}

}  // namespace
}  // namespace bagwise
