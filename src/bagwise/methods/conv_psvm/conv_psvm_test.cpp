#include "bagwise/methods/conv_psvm/conv_psvm.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "bagwise/methods/scorer.h"
#include "support/bag_problems.h"
#include "support/dumb_svm.h"
#include "support/labelings.h"

namespace bagwise {
namespace {

using test::random_bags;

Result<Fit> fit(const BaggedData& data, const ConvPsvmOptions& options = {}, const Context& context = {}) {
  return fit_conv_psvm({"target", reduce(data), &data}, options, context);
}

// A few rows in bags, and a labeling to begin with.
struct Tiny {
  DenseRows rows;
  FeasibleLabels feasible;
  Labels first;
};
Tiny tiny_problem(Rng& rng, std::size_t features) {
  const std::vector<std::size_t> starts = {0, 3, 5, 8};
  const std::vector<double> proportions = {1.0 / 3, 0.5, 2.0 / 3};
  Tiny out{DenseRows(8, features), FeasibleLabels(starts, proportions, 0.1), {}};
  std::vector<double> gain(8);
  for (std::size_t j = 0; j < 8; ++j) {
    gain[j] = rng.normal();
    for (std::size_t c = 0; c < features; ++c) out.rows(j, c) = rng.normal() + 0.5;
  }
  out.first = out.feasible.best(gain);
  return out;
}

TEST_CASE("conv_psvm: the value falls to no less than the relaxation over all labelings",
          "[methods][conv_psvm]") {
  Rng rng(1);
  for (int round = 0; round < 8; ++round) {
    const std::size_t features = round % 2 == 0 ? 1 : 2 + rng.below(3);
    const Tiny tiny = tiny_problem(rng, features);
    const double cost = round % 4 < 2 ? 0.5 : 5;
    CAPTURE(round, features, cost);
    const Cuts cuts = cutting_planes(tiny.rows.view(), features, tiny.feasible, {tiny.first},
                                     {.C = cost, .gap = 1e-8, .tolerance = 0}, {});
    CHECK(cuts.end == CutsEnd::kConverged);
    const test::SquareMatrix k = test::inner_products(tiny.rows.view());
    const auto all = test::every_feasible_labeling(tiny.feasible);
    CHECK(all.size() == 18);
    const test::Bracket relaxed = test::dumb_simplex_kernel(k, all, cost, 400);
    const double value = cuts.master.report.primal;
    CHECK(value >= static_cast<double>(relaxed.dual) * (1 - 1e-6));
    // With one coordinate the best labeling is always found, so the relaxation is reached.
    if (features == 1) CHECK(cuts.master.report.dual <= static_cast<double>(relaxed.primal) * (1 + 1e-6));
    for (const Labels& y : cuts.labels) {
      CHECK(std::ranges::find(all, y) != all.end());
      CHECK(value <= static_cast<double>(test::dumb_simplex_kernel(k, {y}, cost).primal) * (1 + 1e-6));
    }
  }
}

TEST_CASE("conv_psvm: the master's value never rises with the rounds", "[methods][conv_psvm]") {
  Rng rng(2);
  for (int round = 0; round < 6; ++round) {
    const BaggedData data = random_bags(rng, 25, 3 + rng.below(10));
    const auto fitted = fit(data, {.C = round % 2 == 0 ? 0.1 : 10, .tolerance = 1e-3, .max_rounds = 15});
    REQUIRE(fitted.ok());
    const TrainingReport& report = fitted->model.training;
    REQUIRE(report.objective_history.size() >= 2);
    CHECK(report.rounds == static_cast<int>(report.objective_history.size()));
    CHECK(report.objective == report.objective_history.back());
    for (std::size_t k = 1; k < report.objective_history.size(); ++k)
      CHECK(report.objective_history[k] <= report.objective_history[k - 1] * (1 + 1e-6));
    CHECK(*report.relative_gap <= 1e-6);
    CHECK(*report.dual_objective <= report.objective);
  }
}

TEST_CASE("conv_psvm: the stated rules end the rounds", "[methods][conv_psvm]") {
  Rng rng(3);
  const BaggedData data = random_bags(rng, 40, 6);
  const auto limited = fit(data, {.tolerance = 0, .max_rounds = 3});
  REQUIRE(limited.ok());
  CHECK(limited->model.training.termination == "round-limit");
  CHECK(limited->model.training.rounds == 3);
  REQUIRE_FALSE(limited->model.training.warnings.empty());
  CHECK_THAT(limited->model.training.warnings.back(), Catch::Contains("max-rounds = 3"));
  const auto rough = fit(data, {.tolerance = 0.2});
  REQUIRE(rough.ok());
  CHECK(rough->model.training.termination == "converged");
  // One labeling alone is feasible: one round, an ordinary SVM.
  BaggedData pure = data;
  for (std::size_t k = 0; k < 40; ++k) pure.bags.proportions[k] = k % 2 == 0 ? 0.0 : 1.0;
  const auto supervised = fit(pure);
  REQUIRE(supervised.ok());
  CHECK(supervised->model.training.rounds == 1);
  CHECK(supervised->model.training.termination == "converged");
  CHECK_THAT(supervised->model.training.warnings[0], Catch::Contains("supervised"));
}

TEST_CASE("conv_psvm: the common labels are the first eigenvector of the labelings' mixture",
          "[methods][conv_psvm]") {
  Rng rng(4);
  for (int round = 0; round < 10; ++round) {
    const std::size_t n = 2 + rng.below(12), count = 1 + rng.below(5);
    std::vector<Labels> labels(count, Labels(n));
    std::vector<double> mu(count);
    for (auto& y : labels) {
      for (auto& label : y) label = rng.below(2) == 0 ? -1 : 1;
    }
    for (double& m : mu) m = rng.uniform();
    const double sum = std::accumulate(mu.begin(), mu.end(), 0.0);
    for (double& m : mu) m /= sum;
    const auto times = [&](const Vector& x) {
      Vector out = Vector::Zero(x.size());
      for (std::size_t s = 0; s < count; ++s) {
        double product = 0;
        for (std::size_t j = 0; j < n; ++j) product += labels[s][j] * x[static_cast<Eigen::Index>(j)];
        for (std::size_t j = 0; j < n; ++j)
          out[static_cast<Eigen::Index>(j)] += mu[s] * product * labels[s][j];
      }
      return out;
    };
    const Vector v = common_labels(labels, mu);
    CHECK(v.squaredNorm() == Approx(static_cast<double>(n)));
    const double value = v.dot(times(v)) / v.squaredNorm();
    CHECK((times(v) - value * v).norm() <= 1e-8 * value * v.norm());
    for (int k = 0; k < 20; ++k) {
      Vector other(v.size());
      for (double& x : other) x = rng.normal();
      CHECK(other.dot(times(other)) / other.squaredNorm() <= value * (1 + 1e-9));
    }
  }
}

TEST_CASE("conv_psvm: the sign is the one that fits the proportions", "[methods][conv_psvm]") {
  const std::vector<std::size_t> starts = {0, 4, 8};
  Vector f(8);
  f << 1, -1, -1, -1, 1, 1, 1, -2;
  CHECK_FALSE(opposite_fits_better(f, starts, std::vector<double>{0.25, 0.75}));
  CHECK(opposite_fits_better(f, starts, std::vector<double>{0.75, 0.25}));
  CHECK(opposite_fits_better(-f, starts, std::vector<double>{0.25, 0.75}));
  // Where both fit alike nothing is turned; where the sums are equal the squares decide.
  CHECK_FALSE(opposite_fits_better(f, starts, std::vector<double>{0.5, 0.5}));
  Vector g(4);
  g << 1, -1, 1, 1;  // shares 1/2 and 1, the opposite's 1/2 and 0; bags of 2 and p = 1/2, 1/2: alike
  CHECK_FALSE(opposite_fits_better(g, std::vector<std::size_t>{0, 2, 4}, std::vector<double>{0.5, 0.5}));
  Rng rng(5);
  for (int round = 0; round < 10; ++round) {
    const auto made = test::random_labelled_bags(rng, 30, 4);
    const auto fitted = fit(made.data, {.tolerance = 0.02});
    REQUIRE(fitted.ok());
    const auto scores = Scorer(fitted->model, 0).scores(made.data.features.view());
    double misfit[2] = {0, 0};
    std::vector<double> positives(30, 0), negatives(30, 0), size(30, 0);
    for (std::size_t j = 0; j < scores.size(); ++j) {
      const std::size_t k = made.data.bag_of_row[j];
      size[k] += 1;
      positives[k] += scores[j] > 0 ? 1 : 0;
      negatives[k] += scores[j] < 0 ? 1 : 0;
    }
    for (std::size_t k = 0; k < 30; ++k) {
      misfit[0] += std::abs(positives[k] - size[k] * made.data.bags.proportions[k]);
      misfit[1] += std::abs(negatives[k] - size[k] * made.data.bags.proportions[k]);
    }
    CHECK(misfit[0] <= misfit[1] + 1e-9);
  }
}

TEST_CASE("conv_psvm: neither order nor names of bags nor the form of the table change a bit",
          "[methods][conv_psvm]") {
  Rng rng(6);
  const BaggedData data = random_bags(rng, 20, 5);
  const auto a = fit(data, {.tolerance = 0.01});
  REQUIRE(a.ok());
  // Rows backwards, bags backwards, and names that keep the order of names but are nothing like numbers.
  const auto rows = std::get<DenseView>(data.features.view());
  BaggedData other;
  other.feature_names = data.feature_names;
  Csr sparse;
  sparse.columns = rows.columns;
  for (std::size_t i = rows.rows; i-- > 0;) {
    for (std::size_t j = 0; j < rows.columns; ++j) {
      sparse.index.push_back(static_cast<std::int32_t>(j));
      sparse.values.push_back(rows.row(i)[j]);
    }
    sparse.start.push_back(static_cast<std::int64_t>(sparse.values.size()));
    other.bag_of_row.push_back(19 - data.bag_of_row[i]);
  }
  for (std::size_t k = 20; k-- > 0;) {
    other.bags.names.push_back(fmt::format("ward {:c} of the old town", static_cast<char>('a' + k)));
    other.bags.proportions.push_back(data.bags.proportions[k]);
  }
  DenseRows dense(rows.columns);
  for (std::size_t i = rows.rows; i-- > 0;) std::ranges::copy(rows.row(i), dense.append(1));
  other.features = Features(std::move(dense));
  const auto b = fit(other, {.tolerance = 0.01});
  REQUIRE(b.ok());
  CHECK(a->model.tasks[0].weights == b->model.tasks[0].weights);
  CHECK(a->model.training.objective_history == b->model.training.objective_history);
  other.features = Features(std::move(sparse));
  const auto c = fit(other, {.tolerance = 0.01});
  REQUIRE(c.ok());
  CHECK(a->model.training.objective == Approx(c->model.training.objective).epsilon(0.02));
}

TEST_CASE("conv_psvm: kernels by all rows and by as many landmarks are the same kernel",
          "[methods][conv_psvm]") {
  Rng rng(7);
  const auto made = test::random_labelled_bags(rng, 25, 3, 4);
  for (const KernelKind kind : {KernelKind::kRbf, KernelKind::kPoly}) {
    ConvPsvmOptions options{.kernel = kind, .gamma = 0.2, .degree = 2, .tolerance = 0.01};
    const auto whole = fit(made.data, options);
    REQUIRE(whole.ok());
    REQUIRE(whole->model.expansion);
    CHECK(whole->model.tasks[0].weights.size() <= made.labels.size());
    CHECK(*whole->model.training.relative_gap <= 1e-6);
    options.nystrom = static_cast<int>(made.labels.size());
    const auto landmarks = fit(made.data, options);
    REQUIRE(landmarks.ok());
    CHECK(landmarks->model.training.objective == Approx(whole->model.training.objective).epsilon(0.02));
    // Both tell the classes apart better than chance does.
    for (const auto* model : {&whole->model, &landmarks->model}) {
      const auto f = Scorer(*model, 0).scores(made.data.features.view());
      std::size_t right = 0;
      for (std::size_t j = 0; j < f.size(); ++j) right += (f[j] > 0) == (made.labels[j] > 0) ? 1 : 0;
      CHECK(static_cast<double>(right) > 0.7 * static_cast<double>(f.size()));
    }
  }
}

TEST_CASE("conv_psvm: data and options that cannot be used are refused by name",
          "[methods][conv_psvm][badargs]") {
  Rng rng(8);
  const auto message = [](const BaggedData& data, const ConvPsvmOptions& o = {}) {
    const auto fitted = fit(data, o);
    return fitted.ok() ? std::string() : fitted.error().message;
  };
  BaggedData same = random_bags(rng, 4, 2);
  same.bags.proportions.assign(4, 0.25);
  CHECK_THAT(message(same), Catch::Contains("all 4 bags") && Catch::Contains("0.25"));
  CHECK_THAT(message(random_bags(rng, 1, 2)), Catch::Contains("1 bag"));
  BaggedData good = random_bags(rng, 6, 2);
  CHECK_THAT(message(good, {.C = -1}), Catch::Contains("C = -1 breaks C > 0"));
  CHECK_THAT(message(good, {.epsilon = -1, .max_rounds = 0}),
             Catch::Contains("epsilon") && Catch::Contains("max-rounds"));
  CHECK_THAT(message(good, {.gamma = 1.0}), Catch::Contains("gamma"));
  const auto no_rows = fit_conv_psvm({"target", reduce(good)}, {}, {});
  REQUIRE_FALSE(no_rows.ok());
  CHECK_THAT(no_rows.error().message, Catch::Contains("rows"));
  DenseRows large(std::get<DenseView>(good.features.view()).rows, 2);
  for (std::size_t i = 0; i < large.rows(); ++i) large(i, 0) = i % 2 == 0 ? 1e200 : 2e200;
  good.features = Features(std::move(large));
  CHECK_THAT(message(good), Catch::Contains("too large"));
}

}  // namespace
}  // namespace bagwise
