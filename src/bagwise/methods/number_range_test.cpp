#include "bagwise/methods/number_range.h"

#include <catch2/catch.hpp>
#include <functional>
#include <limits>

#include "support/bag_problems.h"

namespace bagwise {
namespace {

using Options = std::vector<std::pair<std::string, OptionValue>>;

BaggedData table(double unit) {
  Rng rng(3);
  BaggedData data = test::random_bags(rng, 6, 2, 1);
  DenseRows rows(data.bag_of_row.size(), 2);
  for (std::size_t i = 0; i < rows.rows(); ++i) rows(i, 0) = 1, rows(i, 1) = unit;
  data.features = Features(std::move(rows));
  return data;
}

TEST_CASE("number_range: the cause is the largest feature, of its task and its file",
          "[methods][number_range]") {
  const BaggedData usual = table(2), large = table(1e200);
  const std::vector<TrainingTask> tasks = {{"source", reduce(large), &large, "s.csv"},
                                           {"target", reduce(usual), &usual, "t.csv"}};
  const Error told = with_cause(overflow_error(), tasks, {});
  CHECK(told.file == "s.csv");
  CHECK_THAT(told.message,
             Catch::StartsWith("the numbers are too large to compute with: feature \"x1\" of the "
                               "source reaches 1e+200; divide"));
}

TEST_CASE("number_range: the cause is an option where the data are of usual size",
          "[methods][number_range]") {
  const BaggedData usual = table(2);
  const std::vector<TrainingTask> tasks = {{"target", reduce(usual), &usual, "t.csv"}};
  const Options options = {
      {"C", 1e300}, {"lambda", std::vector<double>{1, 1e-200}}, {"epsilon", 0.0}, {"gap", 1e-12}};
  const Error told = with_cause(overflow_error(), tasks, options);
  CHECK(told.file.empty());
  CHECK_THAT(told.message, Catch::Contains(": C = 1e+300, lambda = 1,1e-200; expected"));
  CHECK_THAT(with_cause(overflow_error(), tasks, {}).message, Catch::Contains("no feature is above 2"));
  CHECK(with_cause(Error{"else"}, tasks, options).message == "else");
}

TEST_CASE("number_range: a degree counts for the kernel poly alone", "[methods][number_range]") {
  const BaggedData usual = table(2);
  const std::vector<TrainingTask> tasks = {{"target", reduce(usual), &usual}};
  const auto told = [&](const char* kernel) {
    return with_cause(overflow_error(), tasks,
                      {{"kernel", std::string(kernel)}, {"degree", std::int64_t{20}}})
        .message;
  };
  CHECK_THAT(told("poly"), Catch::Contains("degree = 20"));
  CHECK_THAT(told("rbf"), !Catch::Contains("degree = 20"));
}

TEST_CASE("number_range: sums that are no numbers are found, those that are not", "[methods][number_range]") {
  Rng rng(4);
  for (const double size : {1e300, 1.7e308, -1.7e308}) {
    BaggedData data = test::random_bags(rng, 6, 2, 4);
    data.bag_of_row.assign(data.bag_of_row.size(), 1);
    DenseRows rows(data.bag_of_row.size(), 2);
    for (std::size_t i = 0; i < rows.rows(); ++i) rows(i, 1) = size;
    data.features = Features(std::move(rows));
    TrainingTask task{"target", reduce(data), &data, "t.csv"};
    const auto checked = check_sums({&task, 1});
    CHECK(checked.ok() == (size == 1e300));
    if (!checked)
      CHECK_THAT(checked.error().text(),
                 Catch::StartsWith("t.csv: feature \"x1\" of the target is too large"));
    task.reduced.moments = FeatureMoments(0);  // sums that came without
    CHECK(check_sums({&task, 1}).ok() == (size == 1e300));
  }
}

TEST_CASE("number_range: every number of a model is looked at", "[methods][number_range]") {
  const auto make = [] {
    Model model;
    model.features = {"x"};
    model.scaling = {"maxabs", {0}, {1}};
    model.tasks = {{"target", {1}, 0, {}}};
    model.training.tasks = {TaskReport{}};
    model.training.starts = {StartReport{}};
    return model;
  };
  CHECK(check_finite(make()).ok());
  const double none = std::numeric_limits<double>::infinity();
  const std::vector<std::function<void(Model&)>> faults = {
      [&](Model& m) { m.tasks[0].weights[0] = none; },
      [&](Model& m) { m.tasks[0].bias = none; },
      [&](Model& m) { m.tasks[0].probability.slope = none; },
      [&](Model& m) { m.tasks[0].probability.offset = none; },
      [&](Model& m) { m.scaling.factor[0] = none; },
      [&](Model& m) { m.scaling.shift[0] = none; },
      [&](Model& m) { m.shared_weights = {none}; },
      [&](Model& m) { m.training.objective = none; },
      [&](Model& m) { m.training.dual_objective = none; },
      [&](Model& m) { m.training.relative_gap = none; },
      [&](Model& m) { m.training.convex_objective = none; },
      [&](Model& m) { m.training.shared_norm = none; },
      [&](Model& m) { m.training.objective_history = {none}; },
      [&](Model& m) { m.training.starts[0].objective = none; },
      [&](Model& m) { m.training.tasks[0].residual = {none}; },
      [&](Model& m) { m.training.tasks[0].shift = {none}; },
      [&](Model& m) { m.training.tasks[0].angles = {none}; },
      [&](Model& m) { m.training.tasks[0].norm = none; },
      [&](Model& m) { m.training.tasks[0].own_norm = none; },
      [&](Model& m) { m.training.tasks[0].shared_part = none; },
      // Finite, but not once the scaling is folded in.
      [&](Model& m) { m.tasks[0].weights[0] = 1e200, m.scaling.factor[0] = 1e200; },
  };
  for (std::size_t i = 0; i < faults.size(); ++i) {
    CAPTURE(i);
    Model model = make();
    faults[i](model);
    CHECK_FALSE(check_finite(model).ok());
  }
}

}  // namespace
}  // namespace bagwise
