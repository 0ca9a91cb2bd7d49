// A kernel model, as a method that knows kernels would leave it, through the commands that read models.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bagwise/report/model_file.h"
#include "cli/run_binary.h"

namespace bagwise::test {
namespace {

// f(x) = 2 exp(-|x - (1, 0)|^2 / 2) - exp(-|x|^2 / 2) - 0.5 for the target, minus that for the source; x as
// scaled.
Model kernel_model() {
  Model model;
  model.method = "tl-llp";
  model.features = {"x1", "x2"};
  model.scaling = {"standard", {1, 0}, {0.5, 1}};
  DenseRows rows(2, 2);
  rows(0, 0) = 1;
  model.expansion = Expansion{{KernelKind::kRbf, 0.5, 3}, std::move(rows)};
  model.tasks = {{"source", {-2, 1}, 0.5, {}}, {"target", {2, -1}, -0.5, {}}};
  model.shared_weights = {0.1, 0.2};
  model.training.termination = "converged";
  return model;
}

double score(double x1, double x2) {
  const double a = (x1 - 1) * 0.5;
  const auto k = [&](double z) { return std::exp(-0.5 * ((a - z) * (a - z) + x2 * x2)); };
  return 2 * k(1) - k(0) - 0.5;
}

TEST_CASE("cli: predict, evaluate and inspect take a kernel model", "[cli][predict]") {
  const Workplace place(Files{{"x.csv", "x2,x1,label\n0,3,1\n0.5,2,1\n-1,0,0\n4,4,0\n"}});
  REQUIRE(save_model(place.path("m.json"), kernel_model()).ok());
  const double expected[] = {score(3, 0), score(2, 0.5), score(0, -1), score(4, 4)};
  for (const std::string task : {"target", "source"}) {
    const Outcome predicted = place.run("predict --model m.json --input x.csv --task " + task);
    INFO(predicted.err);
    REQUIRE(predicted.status == 0);
    const auto lines = split(predicted.out, '\n');
    REQUIRE(lines.size() >= 5);
    for (std::size_t i = 0; i < 4; ++i) {
      const double f = std::stod(split(lines[i + 1], ',')[1]);
      CHECK(f == Approx(task == "target" ? expected[i] : -expected[i]).epsilon(1e-12));
    }
  }
  const Outcome evaluated = place.run("evaluate --model m.json --input x.csv --json");
  INFO(evaluated.err);
  REQUIRE(evaluated.status == 0);
  CHECK(nlohmann::json::parse(evaluated.out)["accuracy"] == 1.0);
  CHECK(place.run("inspect m.json").status == 0);
  const Outcome inspected = place.run("inspect m.json --json");
  REQUIRE(inspected.status == 0);
  CHECK(nlohmann::json::parse(inspected.out)["tasks"].size() == 2);
}

}  // namespace
}  // namespace bagwise::test
