#include "bagwise/methods/inv_cal/inv_cal.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "bagwise/methods/scorer.h"
#include "support/bag_problems.h"

namespace bagwise {
namespace {

using test::random_bags;

// The stated objective, by plain loops over rows: bag means, clipped logits, tubes, costs.
double stated_objective(const BaggedData& data, const InvCalOptions& o, const Model& model) {
  const std::size_t n = data.bags.size(), d = data.feature_names.size();
  std::vector<std::vector<long double>> mean(n, std::vector<long double>(d, 0));
  std::vector<long double> size(n, 0);
  const auto rows = std::get<DenseView>(data.features.view());
  for (std::size_t i = 0; i < data.bag_of_row.size(); ++i) {
    const std::size_t k = data.bag_of_row[i];
    size[k] += 1;
    for (std::size_t j = 0; j < d; ++j) mean[k][j] += rows.row(i)[j];
  }
  const TaskModel& plane = model.tasks.back();
  long double sum = 0;
  for (double w : plane.weights) sum += static_cast<long double>(w) * w / 2;
  const long double mean_size =
      static_cast<long double>(data.bag_of_row.size()) / static_cast<long double>(n);
  for (std::size_t k = 0; k < n; ++k) {
    long double f = plane.bias;
    for (std::size_t j = 0; j < d; ++j) f += plane.weights[j] * mean[k][j] / size[k];
    const long double c = o.clip ? static_cast<long double>(*o.clip) : 1 / (2 * size[k] + 2);
    const long double p = std::min(std::max(static_cast<long double>(data.bags.proportions[k]), c), 1 - c);
    const long double y = std::log(p / (1 - p));
    const long double eps = o.tube == Tube::kConstant ? o.epsilon : o.epsilon / (p * (1 - p));
    const long double cost = o.bag_weight == BagWeight::kNone ? o.C : o.C * size[k] / mean_size;
    sum += cost * std::max(0.0L, std::abs(f - y) - eps);
  }
  return static_cast<double>(sum);
}

TEST_CASE("inv_cal: the reported objective is the stated problem's, for every option", "[methods][inv_cal]") {
  Rng rng(3);
  for (int round = 0; round < 40; ++round) {
    const BaggedData data = random_bags(rng, 5 + rng.below(20), 1 + rng.below(8));
    InvCalOptions o;
    o.C = 0.1 * static_cast<double>(1 + rng.below(50));
    o.epsilon = round % 3 == 0 ? 0.0 : 0.1;
    o.tube = round % 2 == 0 ? Tube::kConstant : Tube::kCalibrated;
    o.bag_weight = round % 5 < 2 ? BagWeight::kSize : BagWeight::kNone;
    if (round % 4 == 0) o.clip = 0.05;
    o.gap = 1e-9;
    const auto fit = fit_inv_cal({"target", reduce(data)}, o, {});
    REQUIRE(fit.ok());
    const TrainingReport& report = fit->model.training;
    CHECK(report.objective == Approx(stated_objective(data, o, fit->model)).epsilon(1e-9));
    CHECK(*report.relative_gap <= 1e-9);
    CHECK(*report.dual_objective <= report.objective);
    CHECK(report.termination == "converged");
    // No nearby plane is better: the problem is convex, so this is no accident.
    for (int k = 0; k < 20; ++k) {
      Model other = fit->model;
      for (double& w : other.tasks[0].weights) w += 1e-2 * rng.normal();
      other.tasks[0].bias += 1e-2 * rng.normal();
      CHECK(stated_objective(data, o, other) >= report.objective * (1 - 1e-8));
    }
  }
}

TEST_CASE("inv_cal: targets, tubes and costs are written as the page has them", "[methods][inv_cal][known]") {
  CHECK(inverse_calibration(0.5) == 0);
  CHECK(inverse_calibration(0.75) == Approx(std::log(3)));
  CHECK(clipped_proportion(0, 4, {}) == Approx(0.1));
  CHECK(clipped_proportion(1, 4, {}) == Approx(0.9));
  CHECK(clipped_proportion(0.3, 4, {}) == 0.3);
  CHECK(clipped_proportion(0, 4, 0.02) == 0.02);
  CHECK(tube_width(Tube::kConstant, 0.1, 0.2) == 0.1);
  CHECK(tube_width(Tube::kCalibrated, 0.1, 0.2) == Approx(0.1 / 0.16));
  BagSums sums(2, 1);
  const std::vector<double> one = {1.0};
  for (int i = 0; i < 4; ++i) sums.add_row(i == 0 ? 0 : 1, one, 0);
  CHECK(bag_weights(sums, BagWeight::kSize) == std::vector<double>{0.5, 1.5});
  CHECK(bag_weights(sums, BagWeight::kNone) == std::vector<double>{1, 1});
}

TEST_CASE("inv_cal: scaling changes units, not what a scaled problem means", "[methods][inv_cal]") {
  Rng rng(9);
  const BaggedData data = random_bags(rng, 30, 5);
  const auto rows = std::get<DenseView>(data.features.view());
  for (const Scale scale : {Scale::kStandard, Scale::kMaxabs}) {
    InvCalOptions o{.gap = 1e-10, .scale = scale};
    const auto scaled = fit_inv_cal({"target", reduce(data)}, o, {});
    REQUIRE(scaled.ok());
    // The same by hand: scale the rows first, fit without scaling.
    DenseRows by_hand(rows.rows, rows.columns);
    for (std::size_t j = 0; j < rows.columns; ++j) {
      double mean = 0, square = 0, largest = 0;
      for (std::size_t i = 0; i < rows.rows; ++i) mean += rows.row(i)[j] / static_cast<double>(rows.rows);
      for (std::size_t i = 0; i < rows.rows; ++i) {
        square += std::pow(rows.row(i)[j] - mean, 2) / static_cast<double>(rows.rows);
        largest = std::max(largest, std::abs(rows.row(i)[j]));
      }
      for (std::size_t i = 0; i < rows.rows; ++i) {
        by_hand(i, j) = scale == Scale::kStandard ? (rows.row(i)[j] - mean) / std::sqrt(square)
                                                  : rows.row(i)[j] / largest;
      }
    }
    BaggedData other = data;
    other.features = Features(by_hand);
    o.scale = Scale::kNone;
    const auto plain = fit_inv_cal({"target", reduce(other)}, o, {});
    REQUIRE(plain.ok());
    CHECK(scaled->model.training.objective == Approx(plain->model.training.objective).epsilon(1e-8));
    const auto a = Scorer(scaled->model, 0).scores(data.features.view());
    const auto b = Scorer(plain->model, 0).scores(other.features.view());
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).epsilon(1e-4).margin(1e-4));
  }
}

TEST_CASE("inv_cal: data that cannot be learnt from is refused by name", "[methods][inv_cal][badargs]") {
  Rng rng(13);
  const auto message = [](const BaggedData& data, const InvCalOptions& o = {}) {
    const auto fit = fit_inv_cal({"target", reduce(data)}, o, {});
    return fit.ok() ? std::string() : fit.error().message;
  };
  BaggedData same = random_bags(rng, 4, 2);
  same.bags.proportions.assign(4, 0.25);
  CHECK_THAT(message(same), Catch::Contains("all 4 bags") && Catch::Contains("0.25"));
  CHECK_THAT(message(random_bags(rng, 1, 2)), Catch::Contains("1 bag"));
  const BaggedData good = random_bags(rng, 6, 2);
  CHECK(message(good).empty());
  CHECK_THAT(message(good, {.C = -1}), Catch::Contains("C = -1 breaks C > 0"));
  CHECK_THAT(message(good, {.clip = 0.5}), Catch::Contains("clip = 0.5"));
  CHECK_THAT(message(good, {.epsilon = -0.1, .gap = 0}),
             Catch::Contains("epsilon") && Catch::Contains("gap"));
}

TEST_CASE("inv_cal: all-pure bags are accepted with a remark", "[methods][inv_cal]") {
  Rng rng(15);
  BaggedData data = random_bags(rng, 8, 3);
  for (std::size_t k = 0; k < 8; ++k) data.bags.proportions[k] = k % 2 == 0 ? 0.0 : 1.0;
  const auto fit = fit_inv_cal({"target", reduce(data)}, {}, {});
  REQUIRE(fit.ok());
  REQUIRE(fit->model.training.warnings.size() == 1);
  CHECK_THAT(fit->model.training.warnings[0], Catch::Contains("supervised"));
}

}  // namespace
}  // namespace bagwise
