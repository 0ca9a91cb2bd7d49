#include "bagwise/methods/mean_map/mean_map.h"

#include <Eigen/LU>
#include <catch2/catch.hpp>
#include <cmath>

#include "bagwise/methods/bag_checks.h"
#include "bagwise/methods/scorer.h"
#include "support/bag_problems.h"

namespace bagwise {
namespace {

using test::random_bags;

Result<Fit> fit(const BaggedData& data, const MeanMapOptions& options = {}, const Context& context = {}) {
  return fit_mean_map({"target", reduce(data), &data}, options, context);
}

std::size_t rows_of(const BaggedData& data) { return data.bag_of_row.size(); }
double entry(const BaggedData& data, std::size_t row, std::size_t feature) {
  return std::get<DenseView>(data.features.view()).row(row)[feature];
}

// The least squares of the header for one feature, by its 2 x 2 normal equations and Cramer's rule.
struct TwoMeans {
  long double positive = 0, negative = 0, share = 0;
};
TwoMeans brute_force_means(const BaggedData& data, std::size_t feature) {
  long double pp = 0, pq = 0, qq = 0, p_sum = 0, q_sum = 0, positives = 0;
  for (std::size_t i = 0; i < rows_of(data); ++i) {
    // A row at a time: sum_k |B_k| |m_k - ...|^2 and sum_i |x_i - ...|^2 differ by a constant.
    const long double p = data.bags.proportions[data.bag_of_row[i]], q = 1 - p;
    const long double x = feature < data.feature_names.size() ? entry(data, i, feature) : 1;
    pp += p * p;
    pq += p * q;
    qq += q * q;
    p_sum += p * x;
    q_sum += q * x;
    positives += p;
  }
  const long double determinant = pp * qq - pq * pq;
  return {(p_sum * qq - q_sum * pq) / determinant, (q_sum * pp - p_sum * pq) / determinant,
          positives / static_cast<long double>(rows_of(data))};
}

TEST_CASE("mean_map: class means are those of brute-force least squares", "[methods][mean_map]") {
  Rng rng(1);
  for (int round = 0; round < 20; ++round) {
    const BaggedData data = random_bags(rng, 2 + rng.below(20), 4);
    const ClassMeans means = class_means(reduce(data).sums, data.bags.proportions);
    const Vector operator_sum = mean_operator_sum(means, {});
    for (std::size_t j = 0; j <= 4; ++j) {
      const TwoMeans twin = brute_force_means(data, j);
      const auto at = static_cast<Eigen::Index>(j);
      if (j < 4) {
        CHECK(means.positive()[at] == Approx(static_cast<double>(twin.positive)).epsilon(1e-9).margin(1e-9));
        CHECK(means.negative()[at] == Approx(static_cast<double>(twin.negative)).epsilon(1e-9).margin(1e-9));
      }
      const long double mu = twin.share * twin.positive - (1 - twin.share) * twin.negative;
      const auto expected = static_cast<double>(mu * static_cast<long double>(rows_of(data)));
      CHECK(operator_sum[at] == Approx(expected).epsilon(1e-9).margin(1e-9));
    }
  }
}

TEST_CASE("mean_map: no other class means fit the bags better", "[methods][mean_map]") {
  Rng rng(2);
  const BaggedData data = random_bags(rng, 12, 1);
  const ReducedBags reduced = reduce(data);
  const ClassMeans means = class_means(reduced.sums, data.bags.proportions);
  const DenseRows bag_means = reduced.sums.means();
  const auto misfit = [&](double positive, double negative) {
    double sum = 0;
    for (std::size_t k = 0; k < data.bags.size(); ++k) {
      const double p = data.bags.proportions[k], off = bag_means(k, 0) - p * positive - (1 - p) * negative;
      sum += static_cast<double>(reduced.sums.count(k)) * off * off;
    }
    return sum;
  };
  const double best = misfit(means.positive()[0], means.negative()[0]);
  for (const double h : {0.1, -0.1}) {
    CHECK(misfit(means.positive()[0] + h, means.negative()[0]) > best);
    CHECK(misfit(means.positive()[0], means.negative()[0] + h) > best);
  }
}

TEST_CASE("mean_map: scaled rows have the scaled mean operator", "[methods][mean_map]") {
  Rng rng(3);
  BaggedData data = random_bags(rng, 15, 3);
  const Scaling scaling{"standard", {0.5, -2, 3}, {2, 0.25, 1}};
  const ClassMeans means = class_means(reduce(data).sums, data.bags.proportions);
  BaggedData moved = data;
  DenseRows rows(rows_of(data), 3);
  for (std::size_t i = 0; i < rows_of(data); ++i)
    for (std::size_t j = 0; j < 3; ++j) rows(i, j) = entry(data, i, j);
  apply(scaling, rows);
  moved.features = Features(std::move(rows));
  const Vector a = mean_operator_sum(means, scaling);
  const Vector b = mean_operator_sum(class_means(reduce(moved).sums, moved.bags.proportions), {});
  for (Eigen::Index j = 0; j < 4; ++j) CHECK(a[j] == Approx(b[j]).epsilon(1e-10).margin(1e-10));
}

// F of the header at a model's plane, and the largest entry of its gradient, from the rows and brute force.
struct Stated {
  long double value = 0, slope = 0;
};
Stated stated_problem(const BaggedData& data, double lambda, const Plane& plane) {
  const std::size_t d = data.feature_names.size();
  Stated out;
  std::vector<long double> gradient(d + 1, 0);
  for (std::size_t i = 0; i < rows_of(data); ++i) {
    long double f = plane.bias;
    for (std::size_t j = 0; j < d; ++j) f += plane.weights[static_cast<Eigen::Index>(j)] * entry(data, i, j);
    out.value += std::abs(f) + std::log1p(std::exp(-2 * std::abs(f)));
    for (std::size_t j = 0; j <= d; ++j) gradient[j] += std::tanh(f) * (j < d ? entry(data, i, j) : 1);
  }
  for (std::size_t j = 0; j <= d; ++j) {
    const TwoMeans means = brute_force_means(data, j);
    const long double mu = means.share * means.positive - (1 - means.share) * means.negative;
    const long double w = j < d ? plane.weights[static_cast<Eigen::Index>(j)] : plane.bias;
    const auto n = static_cast<long double>(rows_of(data));
    out.value += lambda / 2 * w * w - n * w * mu;
    out.slope = std::max(out.slope, std::abs(gradient[j] - n * mu + lambda * w));
  }
  return out;
}

TEST_CASE("mean_map: the model minimises the stated problem and reports its value", "[methods][mean_map]") {
  Rng rng(4);
  for (const double lambda : {0.01, 1.0, 30.0}) {
    const BaggedData data = random_bags(rng, 60, 5);
    const auto fitted = fit(data, {.lambda = lambda});
    REQUIRE(fitted.ok());
    const TrainingReport& report = fitted->model.training;
    const Stated stated = stated_problem(data, lambda, raw_plane(fitted->model, 0));
    CHECK(report.objective == Approx(static_cast<double>(stated.value)).epsilon(1e-11));
    CHECK(stated.slope < 1e-5);
    CHECK(report.termination == "converged");
    REQUIRE(report.dual_objective);
    CHECK(*report.dual_objective <= report.objective);
    CHECK(*report.relative_gap <= 1e-8);
    CHECK(report.instances == rows_of(data));
    CHECK(report.bags == 60);
    CHECK(fitted->model.tasks[0].probability.slope == 2);
    CHECK(fitted->model.tasks[0].probability.offset == 0);
  }
}

TEST_CASE("mean_map: pure bags of one row are logistic regression", "[methods][mean_map]") {
  Rng rng(5);
  const auto made = test::random_labelled_bags(rng, 300, 3, 1);
  BaggedData data = made.data;
  for (std::size_t k = 0; k < 300; ++k) data.bags.proportions[k] = made.labels[k] > 0 ? 1 : 0;
  const auto fitted = fit(data);
  REQUIRE(fitted.ok());
  const auto f = Scorer(fitted->model, 0).scores(data.features.view());
  // sum_j log(exp(f) + exp(-f)) - y f = sum_j log(1 + exp(-2 y f)), whose gradient is lambda w.
  double value = 0;
  Vector pull = Vector::Zero(4);
  const Plane plane = raw_plane(fitted->model, 0);
  for (std::size_t i = 0; i < f.size(); ++i) {
    const double y = made.labels[i];
    value += std::log1p(std::exp(-2 * y * f[i]));
    const double error = 2 * y / (1 + std::exp(2 * y * f[i]));
    for (std::size_t j = 0; j < 3; ++j) pull[static_cast<Eigen::Index>(j)] += error * entry(data, i, j);
    pull[3] += error;
  }
  value += 0.5 * (plane.weights.squaredNorm() + plane.bias * plane.bias);
  CHECK(fitted->model.training.objective == Approx(value).epsilon(1e-10));
  for (Eigen::Index j = 0; j < 3; ++j) CHECK(pull[j] == Approx(plane.weights[j]).margin(1e-5));
  CHECK(pull[3] == Approx(plane.bias).margin(1e-5));
  // And probabilities are those of the labels: they add up to the positives but for the pull of lambda.
  double expected = 0, positives = 0;
  for (std::size_t i = 0; i < f.size(); ++i) {
    expected += Scorer(fitted->model, 0).probability(f[i]);
    positives += made.labels[i] > 0 ? 1 : 0;
  }
  CHECK(expected == Approx(positives).margin(1));
}

TEST_CASE("mean_map: scaling in the model is scaling of the rows", "[methods][mean_map]") {
  Rng rng(6);
  const BaggedData data = random_bags(rng, 40, 4);
  const ReducedBags reduced = reduce(data);
  for (const Scale scale : {Scale::kStandard, Scale::kMaxabs}) {
    const auto scaling = fit_scaling(scale, reduced.moments, data.feature_names);
    REQUIRE(scaling.ok());
    BaggedData other = data;
    other.features = scaled_rows(*scaling, data.features.view(), 0, rows_of(data));
    const auto scaled = fit(data, {.scale = scale}), plain = fit(other);
    REQUIRE(scaled.ok());
    REQUIRE(plain.ok());
    CHECK(scaled->model.training.objective == Approx(plain->model.training.objective).epsilon(1e-9));
    const auto a = Scorer(scaled->model, 0).scores(data.features.view());
    const auto b = Scorer(plain->model, 0).scores(other.features.view());
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).epsilon(1e-6).margin(1e-6));
  }
}

TEST_CASE("mean_map: proportions that differ little are a warning with the condition number",
          "[methods][mean_map]") {
  Rng rng(7);
  BaggedData data = random_bags(rng, 30, 3);
  const auto warnings = [&](double spread) {
    for (std::size_t k = 0; k < 30; ++k) data.bags.proportions[k] = 0.5 + (k % 2 == 0 ? spread : -spread);
    const auto fitted = fit(data);
    REQUIRE(fitted.ok());
    return fitted->model.training.warnings;
  };
  CHECK(warnings(0.1).empty());
  const auto told = warnings(0.001);
  REQUIRE_FALSE(told.empty());
  // sqrt(largest / least eigenvalue) = 0.5 / 0.001
  CHECK_THAT(told[0], Catch::Contains("condition number 5") && Catch::Contains("times as large"));
  const ClassMeans means = class_means(reduce(data).sums, data.bags.proportions);
  CHECK(means.deviation == Approx(0.001).epsilon(0.02));
  // The condition number against the eigenvalues of the normal equations' matrix.
  Eigen::Matrix2d normal = Eigen::Matrix2d::Zero();
  for (const std::uint32_t k : data.bag_of_row) {
    const Eigen::Vector2d p(data.bags.proportions[k], 1 - data.bags.proportions[k]);
    normal += p * p.transpose();
  }
  const double trace = normal.trace(), root = std::sqrt(trace * trace - 4 * normal.determinant());
  CHECK(means.condition == Approx(std::sqrt((trace + root) / (trace - root))).epsilon(1e-6));
}

TEST_CASE("mean_map: what cannot be learnt from is refused by name", "[methods][mean_map][badargs]") {
  Rng rng(8);
  const auto message = [](const BaggedData& data, const MeanMapOptions& options = {}) {
    const auto fitted = fit(data, options);
    return fitted.ok() ? std::string() : fitted.error().message;
  };
  BaggedData same = random_bags(rng, 4, 2);
  same.bags.proportions.assign(4, 0.25);
  CHECK_THAT(message(same), Catch::Contains("all 4 bags") && Catch::Contains("0.25"));
  // A fifth proportion, of a bag without rows, does not help.
  same.bags.names.emplace_back("empty");
  same.bags.proportions.push_back(0.75);
  CHECK_THAT(message(same), Catch::Contains("0.25") && Catch::Contains("two different"));
  BaggedData good = random_bags(rng, 6, 2);
  CHECK(message(good).empty());
  CHECK_THAT(message(good, {.lambda = 0, .tolerance = 2}),
             Catch::Contains("lambda = 0 breaks lambda > 0") && Catch::Contains("tolerance"));
  const auto sums_only = fit_mean_map({"target", reduce(good)}, {}, {});
  REQUIRE_FALSE(sums_only.ok());
  CHECK_THAT(sums_only.error().message, Catch::Contains("needs its rows"));
  DenseRows huge(rows_of(good), 2);
  for (std::size_t i = 0; i < huge.rows(); ++i) huge(i, 1) = i % 2 == 0 ? 1e300 : 1;
  good.features = Features(std::move(huge));
  CHECK_THAT(message(good), Catch::Contains("too large"));
}

TEST_CASE("mean_map: a model of one class for every row says so", "[methods][mean_map]") {
  Rng rng(9);
  BaggedData data = random_bags(rng, 30, 2);
  for (double& p : data.bags.proportions) p = 0.1 + 0.2 * p;  // few positives, and features that tell nothing
  DenseRows flat(rows_of(data), 2);
  flat(0, 0) = 1e-3;
  data.features = Features(std::move(flat));
  const auto fitted = fit(data);
  REQUIRE(fitted.ok());
  bool told = false;
  for (const std::string& warning : fitted->model.training.warnings)
    told = told || warning.find("negative class for every") != std::string::npos;
  CHECK(told);
}

TEST_CASE("mean_map: class means that no labels have are told", "[methods][mean_map]") {
  // Two rows at 0 and 1 in bags of one: with labels for them the objective is above 0, however small lambda.
  BaggedData data;
  DenseRows rows(4, 1);
  for (std::size_t i = 0; i < 4; ++i) rows(i, 0) = i < 2 ? 0 : 1;
  data.features = Features(std::move(rows));
  data.feature_names = {"x"};
  data.bags = {{"a", "b", "c", "d"}, {0, 0, 1, 1}};
  data.bag_of_row = {0, 1, 2, 3};
  const auto pure = fit(data, {.lambda = 1e-6});
  REQUIRE(pure.ok());
  CHECK(pure->model.training.objective > 0);
  CHECK(pure->model.training.warnings.size() == 1);  // supervised data
  // With half the spread of proportions the class means must be twice as far apart, farther than any rows.
  data.bags.proportions = {0.25, 0.25, 0.75, 0.75};
  const auto beyond = fit(data, {.lambda = 1e-6});
  REQUIRE(beyond.ok());
  CHECK(beyond->model.training.objective < 0);
  REQUIRE(beyond->model.training.warnings.size() == 1);
  CHECK_THAT(beyond->model.training.warnings[0],
             Catch::Contains("no labels") && Catch::Contains("larger lambda"));
}

TEST_CASE("mean_map: rows far from 0 for their spread are solved or told of", "[methods][mean_map]") {
  Rng rng(11);
  BaggedData data = random_bags(rng, 60, 3);
  DenseRows far(rows_of(data), 3);
  for (std::size_t i = 0; i < far.rows(); ++i)
    for (std::size_t j = 0; j < 3; ++j) far(i, j) = entry(data, i, j) + 1e8;
  data.features = Features(std::move(far));
  const auto fitted = fit(data), scaled = fit(data, {.scale = Scale::kStandard});
  REQUIRE(fitted.ok());
  REQUIRE(scaled.ok());
  CHECK(*scaled->model.training.relative_gap <= 1e-8);
  CAPTURE(scaled->model.training.warnings);
  CHECK(scaled->model.training.warnings.empty());
  if (*fitted->model.training.relative_gap > 1e-8) {
    REQUIRE_FALSE(fitted->model.training.warnings.empty());
    CHECK_THAT(fitted->model.training.warnings[0], Catch::Contains("scale standard"));
  }
}

TEST_CASE("mean_map: a gradient that was not reached is told", "[methods][mean_map]") {
  Rng rng(10);
  const BaggedData data = random_bags(rng, 30, 3);
  int calls = 0;
  const auto stopped = fit(
      data, {}, {.observer = [&](const Progress&) { return ++calls == 2 ? Next::kStop : Next::kContinue; }});
  REQUIRE(stopped.ok());
  CHECK(stopped->model.training.termination == "stopped");
  CHECK_FALSE(stopped->model.training.warnings.empty());
}

}  // namespace
}  // namespace bagwise
