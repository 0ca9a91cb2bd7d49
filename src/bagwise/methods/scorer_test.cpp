#include "bagwise/methods/scorer.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "bagwise/core/random.h"
#include "bagwise/methods/scaling.h"
#include "support/sparse_rows.h"

namespace bagwise {
namespace {

DenseRows random_dense(Rng& rng, std::size_t rows, std::size_t columns, double filled) {
  DenseRows out(rows, columns);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j)
      if (rng.uniform() < filled) out(i, j) = rng.normal();
  }
  return out;
}

std::vector<double> random_numbers(Rng& rng, std::size_t count) {
  std::vector<double> out(count);
  for (double& v : out) v = rng.normal();
  return out;
}

Scaling random_scaling(Rng& rng, const std::string& kind, std::size_t columns) {
  Scaling out{kind, {}, {}};
  if (kind == "none") return out;
  for (std::size_t j = 0; j < columns; ++j) {
    out.shift.push_back(kind == "standard" ? rng.normal() : 0.0);
    out.factor.push_back(0.5 + rng.uniform());
  }
  return out;
}

// f of one row by plain loops: scale, then the plane or the expansion.
double slow_score(const Model& model, std::size_t task, std::span<const double> row) {
  std::vector<double> x(row.begin(), row.end());
  for (std::size_t j = 0; j < x.size() && !model.scaling.factor.empty(); ++j)
    x[j] = (x[j] - model.scaling.shift[j]) * model.scaling.factor[j];
  const TaskModel& by = model.tasks[task];
  double f = by.bias;
  if (!model.expansion) {
    for (std::size_t j = 0; j < x.size(); ++j) f += by.weights[j] * x[j];
    return f;
  }
  const DenseView z = std::get<DenseView>(model.expansion->rows.view());
  for (std::size_t i = 0; i < z.rows; ++i) {
    double distance = 0;
    for (std::size_t j = 0; j < x.size(); ++j) distance += std::pow(x[j] - z.row(i)[j], 2);
    f += by.weights[i] * std::exp(-model.expansion->kernel.gamma * distance);
  }
  return f;
}

TEST_CASE("scorer: planes and expansions score raw rows by the stated formula", "[methods][scorer]") {
  Rng rng(1);
  for (const std::string kind : {"none", "standard", "maxabs"}) {
    for (const bool with_kernel : {false, true}) {
      for (const std::size_t rows : {0U, 1U, 700U}) {
        const std::size_t columns = 5, terms = with_kernel ? 300 : columns;
        Model model;
        model.scaling = random_scaling(rng, kind, columns);
        const DenseRows z = random_dense(rng, terms, columns, 0.2), x = random_dense(rng, rows, columns, 0.2);
        if (with_kernel) model.expansion = Expansion{{KernelKind::kRbf, 0.3, 3}, z};
        for (const char* name : {"source", "target"})
          model.tasks.push_back({name, random_numbers(rng, terms), rng.normal(), {2, 0.5}});
        Model sparse_model = model;
        if (with_kernel) sparse_model.expansion->rows = test::sparse_of(z.view());
        const Csr sparse = test::sparse_of(x.view());
        for (std::size_t t = 0; t < 2; ++t) {
          for (const Model* by : {&model, &sparse_model}) {
            const Scorer scorer(*by, t);
            for (const RowsView& view : {RowsView(x.view()), RowsView(sparse.view())}) {
              const auto f = scorer.scores(view, 1);
              REQUIRE(f.size() == rows);
              bool right = true;
              for (std::size_t i = 0; i < rows; ++i)
                right = right && std::abs(f[i] - slow_score(model, t, x.row(i))) < 1e-11;
              CAPTURE(kind, with_kernel, rows, t, view.index());
              CHECK(right);
              CHECK(scorer.scores(view, 2) == f);
              CHECK(scorer.scores(view, 3) == f);
            }
            CHECK(scorer.probability(0.25) == Approx(1 / (1 + std::exp(-1.0))));
          }
        }
      }
    }
  }
}

TEST_CASE("scorer: rows in several blocks are those in one", "[methods][scorer]") {
  Rng rng(2);
  Model model;
  model.scaling = random_scaling(rng, "standard", 2);
  model.expansion = Expansion{{KernelKind::kRbf, 0.7, 3}, random_dense(rng, 3, 2, 1)};
  model.tasks.push_back({"target", random_numbers(rng, 3), 0.5, {}});
  const DenseRows x = random_dense(rng, 40000, 2, 1);
  const auto f = Scorer(model, 0).scores(x.view(), 2);
  bool right = true;
  for (std::size_t i = 0; i < x.rows(); ++i)
    right = right && std::abs(f[i] - slow_score(model, 0, x.row(i))) < 1e-11;
  CHECK(right);
}

TEST_CASE("scorer: a kernel model has no plane", "[methods][scorer]") {
  Model model;
  model.scaling = {"standard", {1, 2}, {3, 4}};
  model.expansion = Expansion{{KernelKind::kRbf, 1, 3}, DenseRows(5, 2)};
  model.tasks.push_back({"target", std::vector<double>(5, 1.0), 0.5, {}});
  const Plane plane = raw_plane(model, 0);
  CHECK(plane.weights.size() == 0);
  CHECK(plane.bias == 0.5);
}

TEST_CASE("scaling: sparse rows stay sparse unless a shift fills them up", "[methods][scaling]") {
  Rng rng(3);
  const DenseRows dense = random_dense(rng, 30, 4, 0.3);
  const Csr sparse = test::sparse_of(dense.view());
  for (const std::string kind : {"none", "standard", "maxabs"}) {
    const Scaling scaling = random_scaling(rng, kind, 4);
    const Features a = scaled_rows(scaling, dense.view(), 5, 11);
    const Features b = scaled_rows(scaling, sparse.view(), 5, 11);
    CHECK_FALSE(a.sparse());
    CHECK(b.sparse() == (kind != "standard"));
    RowMatrix x, y;
    const RowMatrix identity = RowMatrix::Identity(4, 4);
    kernel_block({}, a.view(), DenseView{identity.data(), 4, 4}, x);
    kernel_block({}, b.view(), DenseView{identity.data(), 4, 4}, y);
    REQUIRE(x.rows() == 11);
    CHECK(x == y);
    for (std::size_t i = 0; i < 11; ++i) {
      for (std::size_t j = 0; j < 4; ++j) {
        const double expected =
            kind == "none" ? dense(5 + i, j) : (dense(5 + i, j) - scaling.shift[j]) * scaling.factor[j];
        CHECK(x(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) == expected);
      }
    }
  }
}

}  // namespace
}  // namespace bagwise
