#include "bagwise/report/model_page.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "bagwise/report/model_parts.h"
#include "support/xml_check.h"

namespace bagwise {
namespace {

using test::read_xml;

// A transfer model of two tasks whose names, features and bags are all `name` with a number.
Model transfer_model(const std::string& name) {
  Model model;
  model.method = "tl-llp";
  for (int j = 0; j < 5; ++j) model.features.push_back(fmt::format("{}{}", name, j));
  model.scaling = {"standard", {1, 1, 1, 1, 1}, {1, 2, 0.5, 1, 1}};
  model.shared_weights = {1, -1, 0.5, 0, 0};
  model.tasks = {{name + "s", {1.5, -1, 0, 0, 0}, 0.25, {}}, {name, {1, -2, 0.5, 0, -0.1}, -0.5, {}}};
  model.options = {{"C", 1.0}, {"kernel", std::string("linear")}};
  TrainingReport& report = model.training;
  report.termination = "iteration-limit";
  report.objective_history = {5, 4, 3.5};
  report.rounds = 3;
  report.instances = 20;
  report.bags = 4;
  report.features = 5;
  report.shared_norm = 1.5;
  report.warnings = {name + " warns"};
  for (const TaskModel& task : model.tasks) {
    TaskReport one;
    one.name = task.name;
    one.instances = 20;
    one.angles = {10, 0};
    for (int k = 0; k < 4; ++k) {
      one.bag_names.push_back(fmt::format("{}-{}", name, k));
      one.residual.push_back(0.1 * k - 0.2);
      one.shift.push_back(0);
      one.at_bound.push_back(false);
    }
    report.tasks.push_back(std::move(one));
  }
  return model;
}

Diagnosis diagnosis_of(const std::string& name) {
  Diagnosis out;
  out.tasks.resize(2);
  out.tasks[0].name = name + "s";
  out.tasks[1].name = name;
  out.transfers.resize(1);
  out.transfers[0].source = name + "s";
  out.remarks = {name + " remark"};
  ModelDiagnosis model;
  model.method = "tl-llp";
  model.task = name;
  for (int k = 0; k < 3; ++k) {
    BagFit bag;
    bag.shares.bag = fmt::format("{}-{}", name, k);
    bag.shares.rows = static_cast<std::uint64_t>(5 + k);
    bag.shares.known = 0.25 * k;
    bag.shares.hard = 0.2 * k;
    bag.shares.soft = 0.3;
    bag.fits = k != 1;
    bag.p_value = 0.1 * (3 - k);
    model.bags.push_back(bag);
  }
  model.bootstrap = BootstrapDiagnosis{.draws = 5, .failed = 0, .weights = {{name, 1, {0.5, 1.5}, 0}}};
  out.model = std::move(model);
  return out;
}

std::size_t figures(const std::string& page) {
  std::size_t out = 0;
  for (std::size_t at = 0; (at = page.find("<figure>", at)) != std::string::npos; ++at) ++out;
  return out;
}

TEST_CASE("model_page: has a figure for each thing there is to see", "[report][model_page]") {
  const Model model = transfer_model("n");
  const std::string alone = model_page(model, std::nullopt);
  CHECK(read_xml(alone, {"meta"}).fault == "");
  CHECK(figures(alone) == 5);  // objective, weights and residuals of two tasks
  CHECK(alone.find("n warns") != std::string::npos);
  CHECK(alone.find("ended by iteration-limit") != std::string::npos);
  const std::string whole = model_page(model, diagnosis_of("n"));
  CHECK(read_xml(whole, {"meta"}).fault == "");
  CHECK(figures(whole) == 7);  // and proportions, intervals
  CHECK(whole.find("proportions.csv") != std::string::npos);
}

TEST_CASE("model_page: names from data stay names", "[report][model_page]") {
  const std::string bad = "\"><img src=x onerror=alert(1)></svg></style><script>alert(1)</script>";
  const auto elements_of = [](const std::string& name) {
    const auto read =
        read_xml(model_page(transfer_model(name), diagnosis_of(name), {.file = name}), {"meta"});
    REQUIRE(read.fault == "");
    std::vector<std::string> out = read.elements;
    std::erase(out, "title");  // a name that is cut has all of it as a tooltip
    return out;
  };
  CHECK(elements_of(bad) == elements_of("name"));
}

TEST_CASE("model_page: kernel models, averages and models that say little have pages",
          "[report][model_page]") {
  Model kernel = transfer_model("n");
  kernel.expansion = Expansion{};
  const std::string page = model_page(kernel, std::nullopt);
  CHECK(read_xml(page, {"meta"}).fault == "");
  CHECK(page.find("no weight for each feature") != std::string::npos);
  CHECK(figures(page) == 3);

  Model average = transfer_model("n");
  average.training = {};
  average.selection.emplace();
  average.selection->criterion = "miscount";
  average.selection->settings = 2;
  average.selection->best = "C=1";
  average.committee.emplace();
  average.committee->settings = {"C=1", "C=<2>"};
  average.committee->setting = {0, 1, 1};
  average.committee->share = {0.2, 0.5, 0.3};
  const std::string averaged = model_page(average, std::nullopt);
  CHECK(read_xml(averaged, {"meta"}).fault == "");
  CHECK(averaged.find("C=&lt;2&gt;") < averaged.find("C=1</th>"));  // the heavier first
  CHECK(averaged.find("0.8000") != std::string::npos);

  Model bare;
  bare.method = "x";
  bare.tasks = {{"target", {}, 0, {}}};
  CHECK(read_xml(model_page(bare, std::nullopt), {"meta"}).fault == "");
}

TEST_CASE("model_page: the same model has the same bytes", "[report][model_page]") {
  const Model model = transfer_model("n");
  CHECK(model_page(model, diagnosis_of("n")) == model_page(model, diagnosis_of("n")));
}

TEST_CASE("model_parts: the shared and the own part are the weight, the largest first",
          "[report][model_parts]") {
  const Model model = transfer_model("n");
  for (std::size_t t = 0; t < 2; ++t) {
    const auto weights = largest_weights(model, t, 4);
    REQUIRE(weights.size() == 4);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const WeightParts& one = weights[i];
      CHECK(one.shared + one.own == Approx(one.weight));
      // On raw values: the weight in the scaled space times the scaling's factor.
      CHECK(one.weight == Approx(model.tasks[t].weights[one.feature] * model.scaling.factor[one.feature]));
      CHECK(one.shared == Approx(model.shared_weights[one.feature] * model.scaling.factor[one.feature]));
      if (i > 0) CHECK(std::abs(one.weight) <= std::abs(weights[i - 1].weight));
    }
  }
  CHECK(cosine_to_target(model, 1) == Approx(1));
  Model without = model;
  without.shared_weights.clear();
  CHECK_FALSE(has_shared_part(without));
  CHECK(largest_weights(without, 0, 1)[0].own == largest_weights(without, 0, 1)[0].weight);
}

}  // namespace
}  // namespace bagwise
