// Bags and tables of sizes that differ by orders of magnitude.
#include "support/nasty_fits.h"
#include "support/nasty_problems.h"

namespace bagwise {
namespace {

// A bag of a million rows, of which only the sums are there, beside bags of one to four.
TEST_CASE("torture: a bag of a million rows beside tiny ones", "[torture][sizes]") {
  constexpr std::uint64_t kRows = 1'000'000;
  for (const double p : {0.0, 1e-7, test::kLeast, 0.3, test::kNearlyOne, 1.0}) {
    std::vector<BaggedData> data = test::make_nasty({}, 2, false);
    std::vector<TrainingTask> tasks = test::tasks_of(data);
    for (TrainingTask& task : tasks) {
      ReducedBags& bags = task.reduced;
      const std::vector<double> high = {3e6, -1e6, 0, 2.5e5}, low(4, 0.0);
      bags.sums.set(0, {kRows, {}, high, low});
      bags.bags.proportions[0] = p;
    }
    for (const char* method : {"inv-cal", "tl-llp"}) {
      for (const char* weight : {"none", "size"}) {
        CAPTURE(p, method, weight);
        const Method& found = *find_method(method);
        const auto given = std::span(tasks).last(found.uses_sources ? 2 : 1);
        const auto fit = found.fit(given, {{"bag-weight", weight}}, {.threads = 1});
        REQUIRE(fit.ok());
        CHECK(fit->model.training.termination == "converged");
        CHECK(model_from_json(model_to_json(fit->model), "model").ok());
        CHECK(fit->model.training.instances > kRows);
        // The large bag's mean, by its target: the half of a row that the clip leaves it.
        const double clip = 1 / (2e6 + 2), share = std::clamp(p, clip, 1 - clip);
        const TaskModel& target = fit->model.tasks.back();
        const double f = 3 * target.weights[0] - target.weights[1] + 0.25 * target.weights[3] + target.bias;
        CHECK(fit->model.training.tasks.back().residual[0] ==
              Approx(f - std::log(share / (1 - share))).epsilon(1e-6).margin(1e-8));
      }
    }
  }
}

// Rows of 100,000 features, all of them or a few of each.
std::vector<BaggedData> wide_tables(std::size_t tasks, bool sparse) {
  constexpr std::size_t kBags = 20, kFeatures = 100'000;
  std::vector<BaggedData> out;
  Rng rng(41);
  for (std::size_t t = 0; t < tasks; ++t) {
    BaggedData data;
    for (std::size_t j = 0; j < kFeatures; ++j) data.feature_names.push_back(fmt::format("x{}", j));
    DenseRows dense(kFeatures);
    Csr few;
    few.columns = kFeatures;
    for (std::size_t k = 0; k < kBags; ++k) {
      data.bags.names.push_back(fmt::format("bag{:02}", k));
      data.bags.proportions.push_back(static_cast<double>(k % 3) / 2);
      data.bag_of_row.push_back(static_cast<std::uint32_t>(k));
      const double lean = data.bags.proportions[k] - 0.5;
      if (sparse) {
        for (std::size_t j = k; j < kFeatures; j += 5000) {
          few.index.push_back(static_cast<std::int32_t>(j));
          few.values.push_back(rng.normal() + lean);
        }
        few.start.push_back(static_cast<std::int64_t>(few.values.size()));
      } else {
        double* row = dense.append(1);
        for (std::size_t j = 0; j < kFeatures; ++j)
          row[j] = (j % 1000 == k ? lean : 0.01 * lean) + (j % 97 == 0 ? rng.normal() : 0.0);
      }
    }
    data.features = sparse ? Features(std::move(few)) : Features(std::move(dense));
    out.push_back(std::move(data));
  }
  return out;
}

TEST_CASE("torture: a hundred thousand features and twenty bags", "[torture][sizes]") {
  for (const bool sparse : {false, true}) {
    const auto tables = wide_tables(2, sparse);
    const std::vector<BaggedData> alone(tables.begin() + 1, tables.end());
    for (const Method& method : methods()) {
      CAPTURE(method.name, sparse);
      if (!sparse && method.name.ends_with("psvm"))
        continue;  // many machines over rows that long take seconds
      test::Variant variant{method.name};
      if (method.name == "alter-psvm") variant.options = {{"restarts", "1"}, {"reheat", "false"}};
      test::expect_fit(variant, method.uses_sources && sparse ? tables : alone, {});
    }
    test::expect_fit({"inv-cal", {{"kernel", "rbf"}}}, alone, {});
  }
}

}  // namespace
}  // namespace bagwise
