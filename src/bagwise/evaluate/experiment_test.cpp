#include "bagwise/evaluate/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "bagwise/evaluate/arms.h"
#include "bagwise/evaluate/grid.h"
#include "bagwise/linalg/dense_copy.h"
#include "bagwise/methods/scorer.h"

namespace bagwise {
namespace {

ExperimentMethod method_of(const std::string& name, const std::vector<GridAxis>& axes, bool tuned = true) {
  ExperimentMethod out;
  out.name = out.title = name;
  out.arms = out.arms_alone = arms_by_metric(*find_method(name), all_combinations(axes));
  out.tuned = tuned;
  out.selection = {.folds = 3, .combine = Combine::kBest};
  return out;
}

ExperimentPlan small_plan() {
  ExperimentPlan out;
  out.name = out.title = "small";
  GeneratorOptions options = generator_preset(GeneratorKind::kGaussian, GeneratorPreset::kRelated, 3);
  options.source_rows = 40;
  options.target_rows = 91;
  options.test_rows = 1;
  options.features = 4;
  out.data = {{"a", "A", options}};
  options.seed = 4;
  out.data.push_back({"b", "B", options});
  out.methods = {method_of("inv-cal", {{"C", {"0.5", "4"}}}), method_of("tl-llp", {{"C", {"1"}}}, false)};
  out.bag_sizes = {3, 7};
  out.noise = {0, 0.5};
  out.folds = 4;
  out.run_folds = 2;
  return out;
}

std::vector<LabelledTasks> load(const ExperimentPlan& plan) {
  ExperimentLoader loader("");
  std::vector<LabelledTasks> out;
  for (const ExperimentData& data : plan.data) {
    auto rows = loader.load(data);
    REQUIRE(rows.ok());
    out.push_back(std::move(*rows));
  }
  return out;
}

// Rows by their values, which are all different.
std::multiset<std::vector<double>> row_set(const RowsView& rows) {
  const DenseRows dense = dense_copy(rows);
  std::multiset<std::vector<double>> out;
  for (std::size_t i = 0; i < dense.rows(); ++i) out.emplace(dense.row(i).begin(), dense.row(i).end());
  return out;
}

TEST_CASE("experiment: a plan has a key for every combination, each once", "[evaluate][experiment]") {
  const auto keys = keys_of(small_plan());
  CHECK(keys.size() == 2 * 2 * 2 * 2 * 2);
  CHECK(std::set<ExperimentKey>(keys.begin(), keys.end()).size() == keys.size());
  for (const ExperimentKey& key : keys) CHECK(key.fold < 2);
  CHECK(keys[0].method == "inv-cal");
  CHECK(keys[1].method == "tl-llp");
  CHECK(keys[2].fold == 1);
}

TEST_CASE("experiment: folds part the target's rows, and no test row is learnt from",
          "[evaluate][experiment]") {
  const ExperimentPlan plan = small_plan();
  const LabelledTasks rows = load(plan)[0];
  const auto all = row_set(rows.target.features.view());
  std::multiset<std::vector<double>> tested;
  for (std::uint64_t fold = 0; fold < plan.folds; ++fold) {
    const auto cell = deal_cell(rows, plan, {"a", "inv-cal", 7, 0, fold});
    REQUIRE(cell.ok());
    const auto test = row_set(cell->test.features.view());
    auto both = row_set(cell->target.features.view());
    for (const auto& row : test) CHECK_FALSE(both.contains(row));
    both.insert(test.begin(), test.end());
    CHECK(both == all);
    tested.insert(test.begin(), test.end());
    CHECK(row_set(cell->source->features.view()) == row_set(rows.source.features.view()));
    // Bags of 7, a last one with the rest; their shares are those of the labels.
    std::map<std::uint32_t, std::size_t> sizes;
    for (const std::uint32_t k : cell->target.bag_of_row) ++sizes[k];
    CHECK(std::ranges::count_if(sizes, [](const auto& one) { return one.second != 7; }) <= 1);
    double positives = 0, known = 0;
    for (const auto& [k, size] : sizes) positives += cell->target.bags.proportions[k] * double(size);
    for (std::size_t i = 0; i < rows.target.rows(); ++i) known += rows.target.labels[i] > 0 ? 1 : 0;
    for (const std::int8_t label : cell->test.labels) known -= label > 0 ? 1 : 0;
    CHECK(positives == Approx(known));
  }
  CHECK(tested == all);
}

TEST_CASE("experiment: every method has the same bags, other folds, sizes and seeds have others",
          "[evaluate][experiment]") {
  ExperimentPlan plan = small_plan();
  const LabelledTasks rows = load(plan)[0];
  const auto bags_of = [&](const ExperimentKey& key) {
    return deal_cell(rows, plan, key)->target.bag_of_row;
  };
  const ExperimentKey key{"a", "inv-cal", 7, 0, 0};
  const auto bags = bags_of(key);
  CHECK(bags_of({"a", "tl-llp", 7, 0.5, 0}) == bags);
  CHECK(bags_of({"a", "inv-cal", 3, 0, 0}) != bags);
  CHECK(bags_of({"a", "inv-cal", 7, 0, 1}) != bags);
  plan.seed = 2;
  CHECK(bags_of(key) != bags);
}

TEST_CASE("experiment: a cell is a tuning on its bags, judged on its fold", "[evaluate][experiment]") {
  const ExperimentPlan plan = small_plan();
  const LabelledTasks rows = load(plan)[0];
  for (const ExperimentKey& key : {ExperimentKey{"a", "inv-cal", 7, 0, 1}, {"a", "tl-llp", 3, 0, 0}}) {
    const auto cell = run_cell(rows, plan, key);
    REQUIRE(cell.ok());
    const auto bags = deal_cell(rows, plan, key);
    std::vector<TrainingTask> tasks = {{"source", reduce(*bags->source, 1), &*bags->source},
                                       {"target", reduce(bags->target, 1), &bags->target}};
    const bool tuned = key.method == "inv-cal";
    Model model;
    if (tuned) {
      const auto found = tune(tasks, plan.methods[0].arms, plan.methods[0].selection, {.threads = 1});
      REQUIRE(found.ok());
      model = found->fit.model;
      CHECK(cell->result.options == found->tried[found->best].setting);
      CHECK(cell->times.settings == 2);
    } else {
      model = find_method("tl-llp")->fit(tasks, {{"C", "1"}}, {.threads = 1})->model;
      CHECK(cell->result.options == OptionTexts{{"C", "1"}});
    }
    const Scorer scorer(model, model.tasks.size() - 1);
    const auto f = scorer.scores(bags->test.features.view());
    double right = 0;
    for (std::size_t i = 0; i < f.size(); ++i) right += (f[i] > 0) == (bags->test.labels[i] > 0) ? 1 : 0;
    CHECK(cell->result.accuracy == right / static_cast<double>(f.size()));
    const auto on_bags = scorer.scores(bags->target.features.view());
    std::vector<double> share(bags->target.bags.size(), 0.0), size(share);
    for (std::size_t j = 0; j < on_bags.size(); ++j) {
      share[bags->target.bag_of_row[j]] += on_bags[j] > 0 ? 1 : 0;
      ++size[bags->target.bag_of_row[j]];
    }
    double error = 0;
    for (std::size_t k = 0; k < share.size(); ++k)
      error += std::abs(share[k] / size[k] - bags->target.bags.proportions[k]);
    CHECK(cell->result.proportion_error == Approx(error / static_cast<double>(share.size())).epsilon(1e-12));
    CHECK(cell->result.balanced_accuracy.has_value());
  }
}

struct Collected {
  std::map<ExperimentKey, ExperimentResult> results;
  std::vector<ExperimentKey> failed;
  std::string faults;
  ExperimentSink sink() {
    return {.done = [this](const CellOutcome& outcome) -> Result<void> {
              results[outcome.result.key] = outcome.result;
              return {};
            },
            .failed =
                [this](const ExperimentKey& key, const Error& error) {
                  failed.push_back(key);
                  faults += error.text() + "\n";
                }};
  }
};

TEST_CASE("experiment: results do not depend on how many cells run at once", "[evaluate][experiment]") {
  const ExperimentPlan plan = small_plan();
  const auto rows = load(plan);
  const auto keys = keys_of(plan);
  Collected one, four;
  REQUIRE(run_experiment(plan, rows, keys, 1, one.sink()).ok());
  REQUIRE(run_experiment(plan, rows, keys, 4, four.sink()).ok());
  INFO(one.faults);
  REQUIRE(one.results.size() == keys.size());
  REQUIRE(four.results.size() == keys.size());
  bool noise_matters = false;
  for (const auto& [key, result] : one.results) {
    const ExperimentResult& other = four.results.at(key);
    CHECK(result.accuracy == other.accuracy);
    CHECK(result.auc == other.auc);
    CHECK(result.proportion_error == other.proportion_error);
    CHECK(result.options == other.options);
    ExperimentKey clean = key;
    clean.noise = 0;
    noise_matters = noise_matters || one.results.at(clean).auc != result.auc;
  }
  CHECK(noise_matters);
}

TEST_CASE("experiment: a cell that fails is told, and the others run", "[evaluate][experiment]") {
  ExperimentPlan plan = small_plan();
  plan.methods[0].selection.folds = 12;  // bags of 7 are too few for that many
  const auto rows = load(plan);
  Collected collected;
  REQUIRE(run_experiment(plan, rows, keys_of(plan), 2, collected.sink()).ok());
  CHECK(collected.failed.size() == 8);
  for (const ExperimentKey& key : collected.failed) CHECK((key.method == "inv-cal" && key.bag_size == 7));
  CHECK(collected.results.size() == 24);
}

TEST_CASE("experiment: it stops when asked to, or when a result cannot be kept", "[evaluate][experiment]") {
  const ExperimentPlan plan = small_plan();
  const auto rows = load(plan);
  Collected collected;
  const auto stopped = run_experiment(plan, rows, keys_of(plan), 1, collected.sink(),
                                      [](const Progress&) { return Next::kStop; });
  CHECK_FALSE(stopped.ok());
  CHECK(collected.results.empty());
  int kept = 0;
  const ExperimentSink full{.done = [&](const CellOutcome&) -> Result<void> {
                              if (++kept == 3) return Error{"the disk is full"};
                              return {};
                            },
                            .failed = {}};
  const auto ended = run_experiment(plan, rows, keys_of(plan), 1, full);
  REQUIRE_FALSE(ended.ok());
  CHECK(ended.error().message == "the disk is full");
  CHECK(kept == 3);
}

TEST_CASE("experiment: time left goes by cells of the same method and bag size", "[evaluate][experiment]") {
  const std::vector<ExperimentTimes> done = {{{"a", "x", 2, 0, 0}, 0, 0, 4, 1, 1},
                                             {{"a", "x", 2, 0, 1}, 0, 0, 6, 1, 1},
                                             {{"a", "x", 8, 0, 0}, 0, 0, 2, 1, 1}};
  const auto left = [&](const ExperimentKey& key) { return *seconds_for(std::vector{key}, done); };
  CHECK(left({"b", "x", 2, 0, 0}) == 5);
  CHECK(left({"b", "x", 4, 0, 0}) == 4);
  CHECK(left({"b", "y", 2, 0, 0}) == 4);
  CHECK(*seconds_for({}, done) == 0);
  CHECK_FALSE(seconds_for({}, {}).has_value());
}

TEST_CASE("experiment: data without labels, of other features, or that are not there are errors",
          "[evaluate][experiment]") {
  ExperimentLoader loader("");
  const auto pair = loader.load({"p", "P", ExperimentPair{.number = 1}});
  REQUIRE_FALSE(pair.ok());
  CHECK_THAT(pair.error().text(), Catch::Contains("20news-19997"));
  CHECK_FALSE(loader.load({"t", "T", ExperimentTables{"", "no/such.csv"}}).ok());
  const LabelledTasks rows = load(small_plan())[0];
  LabelledTasks other = rows;
  CHECK(fingerprint(other) == fingerprint(rows));
  other.target.labels[0] = static_cast<std::int8_t>(-other.target.labels[0]);
  CHECK(fingerprint(other) != fingerprint(rows));
}

}  // namespace
}  // namespace bagwise
