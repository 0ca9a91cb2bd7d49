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

Model random_committee(Rng& rng, std::size_t members, std::size_t tasks, std::size_t columns, double size) {
  Model model;
  Committee committee;
  double total = 0;
  for (std::size_t m = 0; m < members; ++m) {
    committee.share.push_back(0.01 + rng.uniform());
    total += committee.share.back();
  }
  for (double& share : committee.share) share /= total;
  for (std::size_t t = 0; t < tasks; ++t) {
    const auto rows = static_cast<Eigen::Index>(members), width = static_cast<Eigen::Index>(columns);
    Committee::Planes planes{RowMatrix(rows, width), {}, {}};
    for (Eigen::Index m = 0; m < rows; ++m) {
      for (Eigen::Index j = 0; j < width; ++j) planes.weights(m, j) = size * rng.normal();
      planes.bias.push_back(rng.normal());
      planes.probability.push_back({0.5 + rng.uniform(), rng.normal()});
    }
    committee.tasks.push_back(std::move(planes));
    model.tasks.push_back({"task", std::vector<double>(columns, 0.0), 0, {}});
  }
  model.committee = std::move(committee);
  return model;
}

// The mean of the members' probabilities by plain loops, and 1 less it.
std::pair<long double, long double> slow_shares(const Committee& committee, std::size_t task,
                                                std::span<const double> row) {
  long double positive = 0, negative = 0;
  const Committee::Planes& planes = committee.tasks[task];
  for (std::size_t m = 0; m < committee.size(); ++m) {
    long double f = planes.bias[m];
    for (std::size_t j = 0; j < row.size(); ++j)
      f += static_cast<long double>(
               planes.weights(static_cast<Eigen::Index>(m), static_cast<Eigen::Index>(j))) *
           row[j];
    const long double z = planes.probability[m].slope * f + planes.probability[m].offset;
    positive += committee.share[m] / (1 + std::exp(-z));
    negative += committee.share[m] / (1 + std::exp(z));
  }
  return {positive, negative};
}

TEST_CASE("scorer: a committee's probability is the plain average of its members'", "[methods][scorer]") {
  Rng rng(4);
  for (const std::size_t rows : {0U, 1U, 300U}) {
    const Model model = random_committee(rng, 7, 2, 5, 1);
    const DenseRows x = random_dense(rng, rows, 5, 0.5);
    const Csr sparse = test::sparse_of(x.view());
    for (std::size_t t = 0; t < 2; ++t) {
      const Scorer scorer(model, t);
      const auto f = scorer.scores(x.view(), 1), g = scorer.scores(sparse.view(), 1);
      REQUIRE(f.size() == rows);
      bool right = true;
      for (std::size_t i = 0; i < rows; ++i) {
        const auto [positive, negative] = slow_shares(*model.committee, t, x.row(i));
        right = right && std::abs(scorer.probability(f[i]) - static_cast<double>(positive)) < 1e-12 &&
                std::abs(f[i] - static_cast<double>(std::log(positive / negative))) < 1e-11 &&
                std::abs(f[i] - g[i]) < 1e-12;
      }
      CHECK(right);
      CHECK(scorer.scores(x.view(), 4) == f);
      CHECK(scorer.scores(sparse.view(), 4) == g);
    }
  }
}

TEST_CASE("scorer: rows without end in a committee are those in one block", "[methods][scorer]") {
  Rng rng(5);
  const Model model = random_committee(rng, 3, 1, 2, 1);
  const DenseRows x = random_dense(rng, 2 * 16384, 2, 1);
  const auto f = Scorer(model, 0).scores(x.view(), 4);
  bool right = true;
  for (std::size_t i = 0; i < x.rows(); i += 97) {
    const DenseView one{x.row(i).data(), 1, 2};
    right = right && std::abs(Scorer(model, 0).scores(one, 1)[0] - f[i]) < 1e-12;
  }
  CHECK(right);
}

TEST_CASE("scorer: a committee that has no doubt has finite scores", "[methods][scorer]") {
  Rng rng(6);
  for (const double size : {1e2, 1e4, 1e8, 1e100}) {
    const Model model = random_committee(rng, 4, 1, 3, size);
    const DenseRows x = random_dense(rng, 60, 3, 1);
    const auto f = Scorer(model, 0).scores(x.view(), 1);
    bool right = true;
    for (std::size_t i = 0; i < x.rows(); ++i) {
      right = right && std::isfinite(f[i]);
      if (size > 1e2) continue;  // what long double still holds
      const auto [positive, negative] = slow_shares(*model.committee, 0, x.row(i));
      right = right && std::abs(f[i] - static_cast<double>(std::log(positive) - std::log(negative))) < 1e-9;
    }
    CHECK(right);
  }
  // Members of one mind: the committee is as sure as each of them.
  Model model = random_committee(rng, 2, 1, 1, 1);
  for (const double z : {-2000.0, -745.5, -730.0, 730.0, 745.5, 2000.0}) {
    for (int m = 0; m < 2; ++m) {
      model.committee->tasks[0].weights(m, 0) = z;
      model.committee->tasks[0].bias[static_cast<std::size_t>(m)] = 0;
      model.committee->tasks[0].probability[static_cast<std::size_t>(m)] = {1, 0};
    }
    DenseRows one(1, 1);
    one(0, 0) = 1;
    CHECK(Scorer(model, 0).scores(one.view(), 1)[0] == Approx(z));
  }
}

TEST_CASE("scorer: a score beyond all numbers is an error that names its row", "[methods][scorer]") {
  Model model;
  model.features = {"x"};
  model.tasks = {{"target", {1e300}, 0, {}}};
  DenseRows rows(3, 1);
  rows(0, 0) = 1;
  rows(1, 0) = -2;
  const Scorer scorer(model, 0);
  CHECK(*finite_scores(scorer, rows.view()) == std::vector<double>{1e300, -2e300, 0});
  rows(1, 0) = 1e300;
  const auto wrong = finite_scores(scorer, rows.view(), 1, 40);
  REQUIRE_FALSE(wrong.ok());
  CHECK_THAT(wrong.error().message, Catch::Contains("the score of row 42 is not a finite number"));
}

}  // namespace
}  // namespace bagwise
