#include "bagwise/evaluate/diagnosis_model.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "bagwise/evaluate/diagnosis_findings.h"
#include "bagwise/methods/inv_cal/inv_cal.h"
#include "bagwise/methods/scorer.h"
#include "support/bag_problems.h"

namespace bagwise {
namespace {

TrainingTask task_of(const BaggedData& data) {
  TrainingTask out;
  out.name = "target";
  out.reduced = reduce(data);
  out.rows = &data;
  return out;
}

Model trained(const TrainingTask& task, const OptionTexts& options = {}) {
  auto fit = find_method("inv-cal")->fit({&task, 1}, options, {});
  REQUIRE(fit);
  return fit->model;
}

TEST_CASE("diagnosis_model: bags are judged by the number their rows' probabilities allow",
          "[evaluate][diagnosis]") {
  BaggedData data;
  data.feature_names = {"x"};
  data.features = Features(DenseRows(24, 1));
  data.bags.names = {"a", "b", "c"};
  data.bags.proportions = {0.5, 1, 0.25};
  for (std::uint32_t i = 0; i < 24; ++i) data.bag_of_row.push_back(i / 8);
  const std::vector<double> f(24, -1.0), q(24, 0.25);
  const auto bags = fit_by_bag(data, f, q);
  REQUIRE(bags.size() == 3);
  CHECK(bags[0].shares.rows == 8);
  CHECK(bags[0].shares.hard == 0);
  CHECK(bags[0].shares.soft == Approx(0.25));
  CHECK(bags[0].interval.low == 0);
  CHECK(bags[0].interval.high == 0.625);  // P(X >= 5) = 0.0273, P(X >= 6) = 0.0042
  CHECK(bags[0].p_value == Approx(2 * 0.11382).epsilon(1e-3));
  CHECK(bags[1].p_value == Approx(2 * std::pow(0.25, 8)));
  CHECK(bags[1].adjusted == Approx(3 * bags[1].p_value));
  CHECK(bags[0].adjusted == Approx(2 * bags[0].p_value));
  CHECK_FALSE(bags[1].fits);
  CHECK(bags[0].fits);
  CHECK(bags[2].p_value == 1);
}

TEST_CASE("diagnosis_model: the interval of a mean is that of draws", "[evaluate][diagnosis]") {
  Rng rng(2);
  std::vector<double> values(400);
  for (double& v : values) v = rng.normal();
  const Estimate found = bootstrap_mean(values, 2000, rng);
  const double reach = 1.96 * spread_of(values).deviation / 20;
  CHECK(found.value == Approx(spread_of(values).mean));
  CHECK(found.interval.low == Approx(found.value - reach).margin(0.02));
  CHECK(found.interval.high == Approx(found.value + reach).margin(0.02));
}

TEST_CASE("diagnosis_model: the accuracy from bags alone holds that of the hidden labels",
          "[evaluate][diagnosis]") {
  Rng rng(3);
  int held = 0;
  for (int trial = 0; trial < 8; ++trial) {
    const auto labelled = test::random_labelled_bags(rng, 120, 4, 6);
    const TrainingTask task = task_of(labelled.data);
    const Model model = trained(task);
    const auto found = diagnose_model(model, {&task, 1}, {.draws = 0});
    REQUIRE(found);
    REQUIRE(found->held_out);
    REQUIRE(found->held_out->accuracy);
    const auto f = Scorer(model, 0).scores(labelled.data.features.view());
    double right = 0;
    for (std::size_t i = 0; i < f.size(); ++i) right += (f[i] > 0) == (labelled.labels[i] > 0) ? 1 : 0;
    held += found->held_out->accuracy->interval.holds(right / static_cast<double>(f.size())) ? 1 : 0;
    CHECK(found->held_out->proportion_error.value >= found->proportion_error.value * 0.9);
    CHECK(found->held > 0.8);
  }
  CHECK(held >= 6);
}

TEST_CASE("diagnosis_model: the same bits for any number of threads", "[evaluate][diagnosis]") {
  Rng rng(4);
  const BaggedData data = test::random_bags(rng, 24, 3);
  const TrainingTask task = task_of(data);
  for (const OptionTexts& options :
       {OptionTexts{}, OptionTexts{{"scale", "standard"}}, OptionTexts{{"kernel", "rbf"}}}) {
    const Model model = trained(task, options);
    const auto one = diagnose_model(model, {&task, 1}, {.threads = 1, .folds = 4, .draws = 10});
    const auto many = diagnose_model(model, {&task, 1}, {.threads = 3, .folds = 4, .draws = 10});
    REQUIRE(one);
    REQUIRE(many);
    REQUIRE(one->held_out);
    CHECK(one->held_out->mean_confidence == many->held_out->mean_confidence);
    CHECK(one->proportion_error.interval.low == many->proportion_error.interval.low);
    CHECK(one->bootstrap.has_value() == !model.expansion.has_value());
    if (!one->bootstrap) continue;
    REQUIRE(one->bootstrap->weights.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(one->bootstrap->weights[i].interval.low == many->bootstrap->weights[i].interval.low);
      CHECK(one->bootstrap->weights[i].interval.high == many->bootstrap->weights[i].interval.high);
      CHECK(one->bootstrap->weights[i].weight > 0);  // the classes differ along (1, 1, 1)
      CHECK(one->bootstrap->weights[i].interval.low < one->bootstrap->weights[i].interval.high);
    }
  }
}

TEST_CASE("diagnosis_model: weights without meaning change their sign", "[evaluate][diagnosis]") {
  Rng rng(5);
  BaggedData data = test::random_bags(rng, 60, 2);
  DenseRows rows(data.bag_of_row.size(), 3);
  const RowsView view = data.features.view();
  for (std::size_t i = 0; i < rows.rows(); ++i) {
    rows(i, 0) = std::get<DenseView>(view).row(i)[0];
    rows(i, 1) = std::get<DenseView>(view).row(i)[1];
    rows(i, 2) = rng.normal();
  }
  data.features = Features(std::move(rows));
  data.feature_names.emplace_back("noise");
  const TrainingTask task = task_of(data);
  const auto found = diagnose_model(trained(task), {&task, 1}, {.folds = 0, .draws = 60});
  REQUIRE(found);
  CHECK_FALSE(found->held_out);
  for (const WeightInterval& one : found->bootstrap->weights) {
    INFO(one.feature);
    CHECK(one.interval.holds(0) == (one.feature == "noise"));
    CHECK((one.other_sign > 0.025) == (one.feature == "noise"));
  }
}

TEST_CASE("diagnosis_model: an observer stops it, and foreign data is refused",
          "[evaluate][diagnosis][badargs]") {
  Rng rng(6);
  const BaggedData data = test::random_bags(rng, 24, 3);
  const TrainingTask task = task_of(data);
  Model model = trained(task);
  const auto stopped = diagnose_model(model, {&task, 1}, {}, [](const Progress&) { return Next::kStop; });
  CHECK_FALSE(stopped);
  model.features[1] = "other";
  const auto foreign = diagnose_model(model, {&task, 1});
  REQUIRE_FALSE(foreign);
  CHECK_THAT(foreign.error().message, Catch::Contains("features"));
  model = trained(task);
  model.method = "of-tomorrow";
  const auto unknown = diagnose_model(model, {&task, 1});
  REQUIRE(unknown);
  CHECK_FALSE(unknown->held_out);
  REQUIRE(unknown->remarks.size() == 1);
  model = trained(task);
  model.tasks.insert(model.tasks.begin(), model.tasks[0]);
  CHECK_FALSE(diagnose_model(model, {&task, 1}));
}

}  // namespace
}  // namespace bagwise
