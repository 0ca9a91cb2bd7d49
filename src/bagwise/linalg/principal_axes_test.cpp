#include "bagwise/linalg/principal_axes.h"

#include <Eigen/QR>
#include <Eigen/SVD>
#include <catch2/catch.hpp>
#include <cmath>

#include "bagwise/core/random.h"
#include "support/sparse_rows.h"

namespace bagwise {
namespace {

using Eigen::Index;

RowMatrix normal_matrix(Rng& rng, Index rows, Index columns) {
  RowMatrix out(rows, columns);
  for (Index i = 0; i < out.size(); ++i) out.data()[i] = rng.normal();
  return out;
}

// Singular values 1, decay, decay^2, ... in random directions, about a mean.
RowMatrix decaying(Rng& rng, Index rows, Index columns, double decay, double offset = 0) {
  const Index r = std::min(rows, columns);
  const ColMatrix u = Eigen::HouseholderQR<ColMatrix>(normal_matrix(rng, rows, r)).householderQ() *
                      ColMatrix::Identity(rows, r);
  const ColMatrix v = Eigen::HouseholderQR<ColMatrix>(normal_matrix(rng, columns, r)).householderQ() *
                      ColMatrix::Identity(columns, r);
  Vector s(r);
  for (Index i = 0; i < r; ++i) s[i] = std::pow(decay, static_cast<double>(i));
  RowMatrix out = u * s.asDiagonal() * v.transpose();
  out.rowwise() += (normal_matrix(rng, 1, columns) * offset).row(0);
  return out;
}

DenseView view_of(const RowMatrix& m) {
  return {m.data(), static_cast<std::size_t>(m.rows()), static_cast<std::size_t>(m.cols())};
}

struct Twin {
  Vector mean, singular;
  RowMatrix axes;
  double total = 0;
};
Twin twin_of(const RowMatrix& rows) {
  Twin out;
  out.mean = rows.colwise().mean().transpose();
  const ColMatrix centred = rows.rowwise() - out.mean.transpose();
  const Eigen::JacobiSVD<ColMatrix> svd(centred, Eigen::ComputeThinV);
  out.singular = svd.singularValues();
  out.axes = svd.matrixV().transpose();
  out.total = centred.squaredNorm();
  return out;
}

double off_orthonormal(const RowMatrix& axes) {
  return (axes * axes.transpose() - RowMatrix::Identity(axes.rows(), axes.rows())).cwiseAbs().maxCoeff();
}

void check_against(const Twin& twin, const PrincipalAxes& found, double tolerance) {
  REQUIRE(found.axes.rows() == found.singular.size());
  CHECK((found.mean - twin.mean).norm() <= 1e-12 * (1 + twin.mean.norm()));
  CHECK(found.total == Approx(twin.total).epsilon(1e-10));
  CHECK(off_orthonormal(found.axes) < 1e-12);
  for (Index i = 0; i < found.singular.size(); ++i) {
    CHECK(found.singular[i] ==
          Approx(twin.singular[i]).epsilon(tolerance).margin(tolerance * twin.singular[0]));
    Index at = 0;
    found.axes.row(i).cwiseAbs().maxCoeff(&at);
    CHECK(found.axes(i, at) > 0);
  }
  // Projections weighted by the squares: this is what equal singular values leave well defined.
  const auto weighed = [](const RowMatrix& axes, const Vector& s) {
    return ColMatrix(axes.transpose() * s.cwiseAbs2().asDiagonal() * axes);
  };
  const Index r = found.singular.size();
  const ColMatrix a = weighed(found.axes, found.singular),
                  b = weighed(twin.axes.topRows(r), twin.singular.head(r));
  CHECK((a - b).norm() <= tolerance * b.norm());
}

TEST_CASE("principal_axes: they are the singular vectors of the centred rows", "[linalg][principal_axes]") {
  Rng rng(1);
  for (const auto& [rows, columns] : std::vector<std::pair<Index, Index>>{
           {1, 1}, {2, 1}, {40, 1}, {2, 5}, {6, 6}, {7, 6}, {50, 9}, {9, 50}, {1100, 20}, {30, 1300}}) {
    for (const double offset : {0.0, 3.0, 1e5}) {
      CAPTURE(rows, columns, offset);
      const RowMatrix table =
          normal_matrix(rng, rows, columns).rowwise() + (normal_matrix(rng, 1, columns) * offset).row(0);
      const RowsView view[] = {view_of(table)};
      const auto found = principal_axes(view, {});
      REQUIRE(found);
      CHECK(found->rank() == static_cast<std::size_t>(std::min(rows - 1, columns)));
      if (rows > 1) check_against(twin_of(table), *found, 1e-9);
    }
  }
}

TEST_CASE("principal_axes: a falling spectrum leaves the axes of few rows orthonormal",
          "[linalg][principal_axes]") {
  Rng rng(9);
  for (const auto& [rows, columns] : std::vector<std::pair<Index, Index>>{{30, 200}, {200, 30}}) {
    const RowMatrix table = decaying(rng, rows, columns, 0.7, 1.0);  // down to 3e-5 of the first
    const RowsView view[] = {view_of(table)};
    const auto found = principal_axes(view, {});
    REQUIRE(found);
    CHECK(found->rank() >= 29);
    check_against(twin_of(table), *found, 1e-9);
  }
}

TEST_CASE("principal_axes: several tables are one, and sparse ones are dense ones",
          "[linalg][principal_axes]") {
  Rng rng(2);
  for (const auto& [rows, columns] : std::vector<std::pair<Index, Index>>{{60, 12}, {20, 70}, {90, 80}}) {
    RowMatrix table = normal_matrix(rng, rows, columns);
    for (Index i = 0; i < table.size(); ++i) {
      if (rng.uniform() < 0.6) table.data()[i] = 0;
    }
    const Twin twin = twin_of(table);
    const RowMatrix first = table.topRows(rows / 3), second = table.bottomRows(rows - rows / 3);
    const Csr sparse = test::sparse_of(view_of(second));
    const std::vector<RowsView> tables = {view_of(first), sparse.view()};
    check_against(twin, *principal_axes(tables, {}), 1e-10);
    // All axes by iteration: the block spans everything.
    check_against(twin, *principal_axes(tables, {.exact_up_to = 0}), 1e-8);
  }
}

TEST_CASE("principal_axes: iteration finds the leading axes of a falling spectrum",
          "[linalg][principal_axes]") {
  Rng rng(3);
  const RowMatrix table = decaying(rng, 300, 200, 0.9, 2.0);
  const Twin twin = twin_of(table);
  const Csr sparse = test::sparse_of(view_of(table));
  for (const bool as_sparse : {false, true}) {
    const RowsView view[] = {as_sparse ? RowsView(sparse.view()) : RowsView(view_of(table))};
    const auto found = principal_axes(view, {.most = 20, .exact_up_to = 0});
    REQUIRE(found);
    REQUIRE(found->rank() == 20);
    check_against(twin, *found, 1e-4);
    const auto other_seed = principal_axes(view, {.most = 20, .exact_up_to = 0, .seed = 8});
    CHECK((found->singular - other_seed->singular).norm() < 1e-4 * found->singular.norm());
    CHECK(found->axes != other_seed->axes);
  }
}

TEST_CASE("principal_axes: a flat spectrum is met to the stated share", "[linalg][principal_axes]") {
  Rng rng(4);
  const RowMatrix table = normal_matrix(rng, 400, 300);
  const Twin twin = twin_of(table);
  const RowsView view[] = {view_of(table)};
  const auto found = principal_axes(view, {.most = 30, .exact_up_to = 0});
  REQUIRE(found);
  for (Index i = 0; i < 30; ++i) {
    CHECK(found->singular[i] <= twin.singular[i] * (1 + 1e-12));
    CHECK(found->singular[i] > 0.98 * twin.singular[i]);
  }
}

TEST_CASE("principal_axes: small singular values are left out, and none are made up",
          "[linalg][principal_axes]") {
  Rng rng(5);
  // Columns: spread 1, constant 7, spread 1e-9, twice the first.
  RowMatrix table(40, 4);
  for (Index i = 0; i < 40; ++i) {
    const double x = rng.normal();
    table.row(i) << x, 7, 1e-9 * rng.normal(), 2 * x;
  }
  for (const Index rows : {40, 3}) {
    const RowMatrix some = table.topRows(rows);
    for (const std::size_t exact : {std::size_t{1024}, std::size_t{0}}) {
      const RowsView view[] = {view_of(some)};
      const auto found = principal_axes(view, {.exact_up_to = exact});
      REQUIRE(found);
      REQUIRE(found->rank() == 1);
      CHECK(found->axes(0, 3) == Approx(2 / std::sqrt(5)).epsilon(1e-8));
      CHECK(std::abs(found->axes(0, 1)) < 1e-12);
    }
  }
  for (const double value : {0.0, 0.1, 1e9 / 3}) {
    const RowMatrix equal = RowMatrix::Constant(1237, 3, value);
    const Csr sparse = test::sparse_of(view_of(equal));
    for (const RowsView& one : {RowsView(view_of(equal)), RowsView(sparse.view())}) {
      const RowsView view[] = {one};
      const auto found = principal_axes(view, {});
      CHECK(found->rank() == 0);
      CHECK(found->total == 0);
      CHECK(found->mean[1] == Approx(value));
    }
  }
}

TEST_CASE("principal_axes: the number of threads changes no bit", "[linalg][principal_axes]") {
  Rng rng(6);
  const RowMatrix tall = normal_matrix(rng, 3000, 7), wide = normal_matrix(rng, 5, 3000);
  const Csr sparse = test::sparse_of(view_of(tall));
  const std::vector<std::pair<RowsView, std::size_t>> cases = {{view_of(tall), 1024},
                                                               {view_of(wide), 1024},
                                                               {view_of(tall), 0},
                                                               {sparse.view(), 0},
                                                               {view_of(wide), 0}};
  for (const auto& [rows, exact] : cases) {
    const RowsView view[] = {rows};
    const auto one = principal_axes(view, {.exact_up_to = exact, .threads = 1});
    const auto four = principal_axes(view, {.exact_up_to = exact, .threads = 4});
    CHECK(one->axes == four->axes);
    CHECK(one->singular == four->singular);
    CHECK(one->mean == four->mean);
    const std::size_t n = row_count(rows);
    CHECK(coordinates(*one, rows, 0, n, 1) == coordinates(*one, rows, 0, n, 4));
  }
}

TEST_CASE("principal_axes: coordinates are products with the centred row", "[linalg][principal_axes]") {
  Rng rng(7);
  const RowMatrix table = normal_matrix(rng, 1200, 6).array() + 5;
  const RowsView view[] = {view_of(table)};
  const auto axes = principal_axes(view, {});
  const Csr sparse = test::sparse_of(view_of(table));
  for (const RowsView& rows : {RowsView(view_of(table)), RowsView(sparse.view())}) {
    const RowMatrix z = coordinates(*axes, rows, 100, 1000);
    for (const Index i : {0, 511, 512, 999}) {
      for (Index k = 0; k < 6; ++k) {
        const double by_hand = axes->axes.row(k).dot(table.row(100 + i) - axes->mean.transpose());
        CHECK(z(i, k) == Approx(by_hand).margin(1e-12));
      }
    }
  }
}

TEST_CASE("principal_axes: an observer stops every way to them", "[linalg][principal_axes]") {
  Rng rng(8);
  const RowMatrix tall = normal_matrix(rng, 30, 7), wide = normal_matrix(rng, 5, 30);
  for (const std::size_t exact : {std::size_t{1024}, std::size_t{0}}) {
    for (const RowMatrix& table : {tall, wide}) {
      const RowsView view[] = {view_of(table)};
      const auto stop = [](const Progress&) { return Next::kStop; };
      CHECK_FALSE(principal_axes(view, {.exact_up_to = exact, .observer = stop}));
    }
  }
}

TEST_CASE("principal_axes: numbers too large to be squared are told apart", "[linalg][principal_axes]") {
  RowMatrix table = RowMatrix::Identity(4, 4);
  table(2, 1) = 1e200;
  for (const std::size_t exact : {std::size_t{1024}, std::size_t{0}}) {
    const RowsView view[] = {view_of(table)};
    const auto found = principal_axes(view, {.exact_up_to = exact});
    CHECK_FALSE(std::isfinite(found->total));
  }
}

}  // namespace
}  // namespace bagwise
