#include "bagwise/methods/alter_psvm/alter_psvm.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "bagwise/methods/scorer.h"
#include "bagwise/solver/svm.h"
#include "support/bag_problems.h"

namespace bagwise {
namespace {

Result<Fit> fit(const BaggedData& data, const AlterPsvmOptions& options, const Context& context = {}) {
  const TrainingTask task{"target", reduce(data), &data};
  return fit_alter_psvm({&task, 1}, options, context);
}

// The least of the objective over labels for the model's plane on raw rows: every labeling of every bag.
double brute_objective(const BaggedData& data, const Model& model, const AlterPsvmOptions& options) {
  const auto f = Scorer(model, 0).scores(data.features.view());
  double out = 0;
  for (const double w : model.tasks[0].weights) out += w * w / 2;
  for (std::size_t k = 0; k < data.bags.size(); ++k) {
    std::vector<double> values;
    for (std::size_t i = 0; i < f.size(); ++i) {
      if (data.bag_of_row[i] == k) values.push_back(f[i]);
    }
    const auto n = static_cast<double>(values.size());
    double best = 1e300;
    for (std::uint32_t set = 0; set < (1U << values.size()); ++set) {
      double value = 0, positives = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const bool positive = (set >> i & 1U) != 0;
        positives += positive ? 1 : 0;
        value += options.C * std::max(0.0, 1 - (positive ? values[i] : -values[i]));
      }
      value += options.C_p * n *
               std::max(0.0, std::abs(positives / n - data.bags.proportions[k]) - options.epsilon);
      best = std::min(best, value);
    }
    out += best;
  }
  return out;
}

TEST_CASE("alter_psvm: the objective is the stated problem's at the model, labels at their best",
          "[methods][alter_psvm]") {
  Rng rng(1);
  for (const double epsilon : {0.0, 0.15}) {
    const BaggedData data = test::random_bags(rng, 20, 3, 7);
    AlterPsvmOptions options;
    options.C = 0.7;
    options.C_p = 3;
    options.epsilon = epsilon;
    options.restarts = 3;
    const auto fitted = fit(data, options);
    REQUIRE(fitted.ok());
    const TrainingReport& report = fitted->model.training;
    CHECK(report.termination == "converged");
    CHECK(report.objective == Approx(brute_objective(data, fitted->model, options)).epsilon(1e-8));
    CHECK(report.objective_history.back() == Approx(report.objective).epsilon(1e-12));
    CHECK(report.rounds == static_cast<int>(report.objective_history.size()));
    CHECK(report.solver_steps.size() == report.objective_history.size());
    CHECK(std::is_sorted(report.objective_history.rbegin(), report.objective_history.rend()));
    CHECK(*report.relative_gap <= 1e-6);
    CHECK(*report.dual_objective <= *report.convex_objective);
    REQUIRE(report.starts.size() == 4);
    CHECK(report.starts[0].init == "inv-cal");
    double lowest = 1e300;
    for (const StartReport& start : report.starts) lowest = std::min(lowest, start.objective);
    CHECK(lowest >= report.objective);
    options.reheat = false;
    CHECK(fit(data, options)->model.training.objective == lowest);
  }
}

TEST_CASE("alter_psvm: starts are as asked, and more of them never end higher", "[methods][alter_psvm]") {
  Rng rng(2);
  const BaggedData data = test::random_bags(rng, 25, 4, 8);
  AlterPsvmOptions options;
  options.init = Init::kRandom;
  options.reheat = false;  // else fewer starts may end lower
  double before = 1e300;
  for (const int restarts : {1, 2, 5}) {
    options.restarts = restarts;
    const auto fitted = fit(data, options);
    REQUIRE(fitted.ok());
    CHECK(fitted->model.training.starts.size() == static_cast<std::size_t>(restarts));
    CHECK(fitted->model.training.objective <= before);
    before = fitted->model.training.objective;
  }
  options.init = Init::kInvCal;
  const auto one = fit(data, options);
  REQUIRE(one.ok());
  REQUIRE(one->model.training.starts.size() == 1);
  CHECK(one->model.training.starts[0].init == "inv-cal");
  options.init = Init::kBoth;
  const auto all = fit(data, options);
  CHECK(all->model.training.objective == std::min(before, one->model.training.objective));
  const auto other = fit(data, {.init = Init::kRandom, .restarts = 1}, {.seed = 99});
  const auto same = fit(data, {.init = Init::kRandom, .restarts = 1}, {.seed = 99});
  CHECK(other->model.tasks[0].weights == same->model.tasks[0].weights);
}

TEST_CASE("alter_psvm: pure bags of one row make an ordinary support vector machine",
          "[methods][alter_psvm]") {
  Rng rng(3);
  auto made = test::random_labelled_bags(rng, 80, 3, 1);
  for (std::size_t k = 0; k < 80; ++k) made.data.bags.proportions[k] = made.labels[k] > 0 ? 1 : 0;
  AlterPsvmOptions options;
  options.C = 0.5;
  options.C_p = 1e6;
  options.restarts = 1;
  const auto fitted = fit(made.data, options);
  REQUIRE(fitted.ok());
  const auto svm = make_linear_svm(made.data.features.view(), 1);
  const SvmSolution& known = svm->solve(made.labels, 0.5, 1e-9, {});
  CHECK(fitted->model.training.objective == Approx(known.report.primal).epsilon(2e-6));
  CHECK(fitted->model.training.warnings.size() == 1);
}

TEST_CASE("alter_psvm: kernels separate what no plane can", "[methods][alter_psvm]") {
  Rng rng(4);
  // A disc in a ring: positives inside.
  BaggedData data;
  std::vector<std::int8_t> labels;
  DenseRows rows(2);
  for (std::size_t k = 0; k < 40; ++k) {
    double positives = 0;
    const double share = rng.uniform();
    for (int i = 0; i < 5; ++i) {
      const bool inside = rng.uniform() < share;
      const double angle = 6.283 * rng.uniform(),
                   radius = inside ? 0.5 * rng.uniform() : 1.5 + 0.5 * rng.uniform();
      double* row = rows.append(1);
      row[0] = radius * std::cos(angle);
      row[1] = radius * std::sin(angle);
      labels.push_back(inside ? 1 : -1);
      positives += inside ? 1 : 0;
      data.bag_of_row.push_back(static_cast<std::uint32_t>(k));
    }
    data.bags.names.push_back(fmt::format("b{:02}", k));
    data.bags.proportions.push_back(positives / 5);
  }
  data.feature_names = {"x", "y"};
  data.features = Features(std::move(rows));
  for (const KernelKind kind : {KernelKind::kRbf, KernelKind::kPoly}) {
    for (const int nystrom : {0, 60}) {
      CAPTURE(static_cast<int>(kind), nystrom);
      AlterPsvmOptions options;
      options.kernel = kind;
      options.degree = 2;
      options.gamma = 1.0;
      options.nystrom = nystrom;
      options.restarts = 2;
      options.C = 10;
      const auto fitted = fit(data, options);
      REQUIRE(fitted.ok());
      REQUIRE(fitted->model.expansion.has_value());
      const auto f = Scorer(fitted->model, 0).scores(data.features.view());
      std::size_t right = 0;
      for (std::size_t i = 0; i < f.size(); ++i) right += (f[i] > 0) == (labels[i] > 0) ? 1 : 0;
      CHECK(right > 194);    // of 200
      options.cache = 1e-6;  // room for one column
      if (nystrom == 0) {
        CHECK(fit(data, options)->model.tasks[0].weights == fitted->model.tasks[0].weights);
      }
    }
  }
}

TEST_CASE("alter_psvm: a model that calls every row the same is told", "[methods][alter_psvm]") {
  Rng rng(5);
  BaggedData data = test::random_bags(rng, 20, 2, 6);
  for (double& p : data.bags.proportions) p = 0.02;
  data.bags.proportions[0] = 0.01;
  const auto fitted = fit(data, {.C = 0.01, .restarts = 1});
  REQUIRE(fitted.ok());
  REQUIRE_FALSE(fitted->model.training.warnings.empty());
  CHECK_THAT(fitted->model.training.warnings.back(), Catch::Contains("negative class for every"));
}

TEST_CASE("alter_psvm: without rows it says so", "[methods][alter_psvm]") {
  Rng rng(6);
  const BaggedData data = test::random_bags(rng, 5, 2);
  const TrainingTask task{"target", reduce(data)};
  CHECK_FALSE(fit_alter_psvm({&task, 1}, {}, {}).ok());
}

TEST_CASE("alter_psvm: after a stop no start but the first is begun", "[methods][alter_psvm]") {
  Rng rng(9);
  const BaggedData data = test::random_bags(rng, 10, 3, 6);
  AlterPsvmOptions options;
  options.init = Init::kRandom;
  options.restarts = 40;
  const auto stopped =
      fit(data, options, {.threads = 1, .observer = [](const Progress&) { return Next::kStop; }});
  REQUIRE(stopped);
  CHECK(stopped->model.training.termination == "stopped");
  CHECK(stopped->model.training.starts.size() == 1);
  CHECK(fit(data, options, {.threads = 1})->model.training.starts.size() == 40);
}

}  // namespace
}  // namespace bagwise
