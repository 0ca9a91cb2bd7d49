// What every method in the registry must hold to; registering a method is what brings it here.
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "bagwise/comm/self.h"
#include "bagwise/comm/threads.h"
#include "bagwise/evaluate/metrics.h"
#include "bagwise/methods/registry.h"
#include "bagwise/methods/scaling.h"
#include "bagwise/methods/scorer.h"
#include "bagwise/report/model_file.h"
#include "support/bag_problems.h"

namespace bagwise {
namespace {

using test::random_bags;

Result<Fit> fit(const Method& method, const BaggedData& data, const Context& context = {},
                const OptionTexts& options = {}) {
  TrainingTask task{"target", reduce(data, context.threads), &data};
  return method.fit({&task, 1}, options, context);
}

// The same data with its rows and its bags in another order.
BaggedData shuffled(const BaggedData& data, Rng& rng) {
  const auto rows = std::get<DenseView>(data.features.view());
  std::vector<std::size_t> row_order(rows.rows), bag_order(data.bags.size());
  std::iota(row_order.begin(), row_order.end(), std::size_t{0});
  std::iota(bag_order.begin(), bag_order.end(), std::size_t{0});
  shuffle(std::span(row_order), rng);
  shuffle(std::span(bag_order), rng);
  BaggedData out;
  out.feature_names = data.feature_names;
  std::vector<std::uint32_t> new_place(bag_order.size());
  for (std::size_t k = 0; k < bag_order.size(); ++k) {
    new_place[bag_order[k]] = static_cast<std::uint32_t>(k);
    out.bags.names.push_back(data.bags.names[bag_order[k]]);
    out.bags.proportions.push_back(data.bags.proportions[bag_order[k]]);
  }
  DenseRows moved(rows.columns);
  for (const std::size_t i : row_order) {
    std::copy_n(rows.row(i).data(), rows.columns, moved.append(1));
    out.bag_of_row.push_back(new_place[data.bag_of_row[i]]);
  }
  out.features = Features(std::move(moved));
  return out;
}

TEST_CASE("methods: the order of rows and of bags does not matter", "[methods][conformance]") {
  for (const Method& method : methods()) {
    CAPTURE(method.name);
    Rng rng(1);
    for (int round = 0; round < 5; ++round) {
      const BaggedData data = random_bags(rng, 30, 6);
      const auto a = fit(method, data), b = fit(method, shuffled(data, rng));
      REQUIRE(a.ok());
      REQUIRE(b.ok());
      CHECK(a->model.training.objective == Approx(b->model.training.objective).epsilon(2e-6));
      const auto f = Scorer(a->model, 0).scores(data.features.view());
      const auto g = Scorer(b->model, 0).scores(data.features.view());
      for (std::size_t i = 0; i < f.size(); ++i) CHECK(f[i] == Approx(g[i]).margin(0.02));
    }
  }
}

TEST_CASE("methods: singleton pure bags are supervised learning", "[methods][conformance]") {
  for (const Method& method : methods()) {
    CAPTURE(method.name);
    Rng rng(2);
    const auto made = test::random_labelled_bags(rng, 400, 4, /*largest=*/1);
    BaggedData data = made.data;
    for (std::size_t k = 0; k < 400; ++k) data.bags.proportions[k] = made.labels[k] > 0 ? 1 : 0;
    const auto fitted = fit(method, data);
    REQUIRE(fitted.ok());
    CHECK_FALSE(fitted->model.training.warnings.empty());
    // Class means +-1 in each of four features, deviation 2: the best possible accuracy is Phi(1) = 0.841.
    const auto f = Scorer(fitted->model, 0).scores(data.features.view());
    std::vector<double> p;
    for (double score : f) p.push_back(fitted->model.tasks[0].probability.of(score));
    CHECK(label_metrics(f, p, made.labels).accuracy > 0.80);
  }
}

TEST_CASE("methods: the same seed gives the same bits on 1, 2 and 4 threads", "[methods][conformance]") {
  for (const Method& method : methods()) {
    CAPTURE(method.name);
    Rng rng(3);
    // Several blocks of bags; methods that look at single rows have tests of their own for many of them.
    const BaggedData data = random_bags(rng, method.needs_instances({}) ? 60 : 1500, 5, 8);
    const auto one = fit(method, data, {.seed = 7, .threads = 1});
    REQUIRE(one.ok());
    for (const unsigned threads : {1U, 2U, 4U}) {
      const auto many = fit(method, data, {.seed = 7, .threads = threads});
      REQUIRE(many.ok());
      CHECK(model_to_json(one->model) == model_to_json(many->model));
    }
  }
}

TEST_CASE("methods: with sources the same seed gives the same bits, and the target is the last task",
          "[methods][conformance]") {
  for (const Method& method : methods()) {
    if (!method.uses_sources) continue;
    CAPTURE(method.name);
    Rng rng(11);
    const std::vector<BaggedData> data = {random_bags(rng, 40, 5), random_bags(rng, 50, 5),
                                          random_bags(rng, 30, 5)};
    const std::vector<TrainingTask> tasks = {{"source", reduce(data[0]), &data[0]},
                                             {"source-2", reduce(data[1]), &data[1]},
                                             {"target", reduce(data[2]), &data[2]}};
    for (const OptionTexts& options : {OptionTexts{}, OptionTexts{{"metric", "pca"}}}) {
      REQUIRE(method.check_sources(options).ok());
      CHECK(tasks_for(method, options, tasks).size() == 3);
      const auto one = method.fit(tasks, options, {.seed = 7, .threads = 1});
      REQUIRE(one.ok());
      CHECK(one->model.tasks.back().name == "target");
      for (const unsigned threads : {2U, 4U}) {
        const auto many = method.fit(tasks, options, {.seed = 7, .threads = threads});
        REQUIRE(many.ok());
        CHECK(model_to_json(one->model) == model_to_json(many->model));
      }
      const auto loaded = model_from_json(model_to_json(one->model), "model");
      REQUIRE(loaded.ok());
      CHECK(model_to_json(*loaded) == model_to_json(one->model));
    }
  }
}

TEST_CASE("methods: a saved and loaded model is the same model", "[methods][conformance]") {
  for (const Method& method : methods()) {
    CAPTURE(method.name);
    Rng rng(4);
    const BaggedData data = random_bags(rng, 40, 7);
    const auto fitted = fit(method, data, {}, {{"scale", "standard"}});
    REQUIRE(fitted.ok());
    const auto loaded = model_from_json(model_to_json(fitted->model), "model");
    REQUIRE(loaded.ok());
    CHECK(model_to_json(*loaded) == model_to_json(fitted->model));
    CHECK(Scorer(*loaded, 0).scores(data.features.view()) ==
          Scorer(fitted->model, 0).scores(data.features.view()));
  }
}

TEST_CASE("methods: inputs are untouched", "[methods][conformance]") {
  for (const Method& method : methods()) {
    Rng rng(5);
    const BaggedData data = random_bags(rng, 20, 3);
    const TrainingTask task{"target", reduce(data), &data};
    const auto before = task.reduced.sums.pack();
    const auto proportions = data.bags.proportions;
    REQUIRE(method.fit({&task, 1}, {}, {}).ok());
    CHECK(task.reduced.sums.pack() == before);
    CHECK(task.reduced.bags.proportions == proportions);
  }
}

TEST_CASE("methods: ranks that share the rows find the plane of one that has them all",
          "[methods][conformance]") {
  for (const Method& method : methods()) {
    if (method.rows_needed({}) == RowsNeeded::kAll) continue;
    CAPTURE(method.name);
    Rng rng(6);
    const BaggedData data = random_bags(rng, 25, 4);
    const auto rows = std::get<DenseView>(data.features.view());
    for (const Scale scale : {Scale::kNone, Scale::kStandard, Scale::kMaxabs}) {
      const OptionTexts options = {
          {"scale", std::string(names(scale)[static_cast<std::size_t>(scale)].first)}};
      SelfCommunicator self;
      const auto alone = fit(method, data, {.comm = &self}, options);
      REQUIRE(alone.ok());
      for (const int ranks : {1, 2, 4}) {
        std::vector<std::string> models(static_cast<std::size_t>(ranks));
        std::vector<double> objectives(static_cast<std::size_t>(ranks));
        run_thread_ranks(ranks, [&](Communicator& comm) {
          const auto rank = static_cast<std::size_t>(comm.rank());
          BaggedData mine = data;  // every rank knows all bags and their sums, and holds every ranks-th row
          DenseRows part(rows.columns);
          mine.bag_of_row.clear();
          for (std::size_t i = rank; i < rows.rows; i += static_cast<std::size_t>(ranks)) {
            std::copy_n(rows.row(i).data(), rows.columns, part.append(1));
            mine.bag_of_row.push_back(data.bag_of_row[i]);
          }
          mine.features = Features(std::move(part));
          const TrainingTask task{"target", reduce(data, 1), &mine};
          const auto fitted = method.fit({&task, 1}, options, {.threads = 1, .comm = &comm});
          models[rank] = fitted.ok() ? model_to_json(fitted->model) : fitted.error().text();
          objectives[rank] = fitted.ok() ? fitted->model.training.objective : -1;
        });
        for (std::size_t r = 0; r < models.size(); ++r) {
          CHECK(models[r] == models[0]);
          CHECK(objectives[r] == Approx(alone->model.training.objective).epsilon(1e-9));
        }
      }
    }
  }
}

// The bags with which(k) == rank of sums that have all of them.
template <class Which>
ReducedBags own_bags(const ReducedBags& all, std::size_t rank, const Which& which) {
  std::vector<std::uint32_t> mine;
  ReducedBags out = all;
  out.bags = {};
  for (std::size_t k = 0; k < all.bags.size(); ++k) {
    if (which(k) != rank) continue;
    mine.push_back(static_cast<std::uint32_t>(k));
    out.bags.names.push_back(all.bags.names[k]);
    out.bags.proportions.push_back(all.bags.proportions[k]);
    if (!all.bags.noise.empty()) out.bags.noise.push_back(all.bags.noise[k]);
  }
  out.sums = all.sums.reordered(mine);
  return out;
}

TEST_CASE("methods: bags spread over ranks give the plane of one process", "[methods][conformance][spmd]") {
  for (const Method& method : methods()) {
    if (method.needs_instances({})) continue;
    CAPTURE(method.name);
    Rng rng(12);
    std::vector<BaggedData> data = {random_bags(rng, 30, 4), random_bags(rng, 25, 4)};
    for (std::size_t k = 0; k < 25; ++k) data[1].bags.noise.push_back(k % 3 == 0 ? 0.05 : 0.0);
    for (const OptionTexts& more :
         {OptionTexts{}, OptionTexts{{"scale", "standard"}, {"bag-weight", "size"}}}) {
      OptionTexts options = more;
      options["gap"] = "1e-10";
      // Rounds that are solved roughly take ways of their own: to the end, they come to the same point.
      if (method.uses_sources) options.insert({{"tolerance", "1e-11"}, {"max-rounds", "300"}});
      const std::size_t first = method.uses_sources ? 0 : 1;
      std::vector<TrainingTask> tasks;
      for (std::size_t t = first; t < 2; ++t)
        tasks.push_back({t == 0 ? "source" : "target", reduce(data[t])});
      const auto alone = method.fit(tasks, options, {});
      REQUIRE(alone.ok());
      for (const int ranks : {1, 2, 3, 4}) {
        std::vector<std::string> models(static_cast<std::size_t>(ranks)), again = models;
        std::vector<double> objectives(static_cast<std::size_t>(ranks));
        for (auto* into : {&models, &again}) {
          run_thread_ranks(ranks, [&](Communicator& comm) {
            const auto rank = static_cast<std::size_t>(comm.rank()), count = models.size();
            // On 4 ranks one has no bags.
            const auto which = [&](std::size_t k) { return count == 4 ? k % 3 : k % count; };
            std::vector<TrainingTask> mine;
            for (const TrainingTask& task : tasks)
              mine.push_back({task.name, own_bags(task.reduced, rank, which)});
            const auto fitted = method.fit(mine, options, {.threads = 1, .comm = &comm, .spread_bags = true});
            (*into)[rank] = fitted.ok() ? model_to_json(fitted->model) : fitted.error().text();
            objectives[rank] = fitted.ok() ? fitted->model.training.objective : -1;
          });
        }
        for (std::size_t r = 0; r < models.size(); ++r) {
          CHECK(models[r] == models[0]);
          CHECK(again[r] == models[0]);
          CHECK(objectives[r] == Approx(alone->model.training.objective).epsilon(1e-9));
        }
        const auto loaded = model_from_json(models[0], "model");
        REQUIRE(loaded.ok());
        CHECK(loaded->training.bags == alone->model.training.bags);
        CHECK(loaded->training.instances == alone->model.training.instances);
      }
    }
  }
}

TEST_CASE("methods: bags of one proportion are refused on every rank", "[methods][conformance][spmd]") {
  Rng rng(13);
  BaggedData data = random_bags(rng, 12, 3);
  for (double& p : data.bags.proportions) p = 0.5;
  const ReducedBags all = reduce(data);
  for (const char* name : {"inv-cal", "tl-llp"}) {
    run_thread_ranks(3, [&](Communicator& comm) {
      const TrainingTask mine{"target", own_bags(all, static_cast<std::size_t>(comm.rank()),
                                                 [](std::size_t k) { return k % 2; })};
      const auto fitted = find_method(name)->fit({&mine, 1}, {}, {.comm = &comm, .spread_bags = true});
      CHECK((!fitted.ok() && fitted.error().message.find("all 12 bags") != std::string::npos));
    });
  }
}

TEST_CASE("methods: the metric pca keeps what holds without it", "[methods][conformance][metric]") {
  const OptionTexts pca = {{"metric", "pca"}};
  for (const Method& method : methods()) {
    CAPTURE(method.name);
    Rng rng(10);
    const BaggedData data = random_bags(rng, 40, 6);
    REQUIRE(method.check(pca).ok());
    CHECK(method.needs_instances(pca));
    const TrainingTask task{"target", reduce(data), &data};
    const auto before = task.reduced.sums.pack();
    const auto one = method.fit({&task, 1}, pca, {.seed = 7, .threads = 1});
    REQUIRE(one.ok());
    CHECK(task.reduced.sums.pack() == before);
    CHECK(one->model.features == data.feature_names);
    CHECK(one->model.training.features == 6);
    CHECK(one->model.scaling.kind == "none");
    CHECK(one->model.metric.kind == "pca");
    CHECK(one->model.metric.rank == 6);
    CHECK(one->model.metric.variance_kept == Approx(1));
    CHECK(one->model.options.back().first == "metric");
    CHECK(to_text(one->model.options.back().second) == "pca");
    CHECK(model_to_json(one->model) ==
          model_to_json(fit(method, data, {.seed = 7, .threads = 4}, pca)->model));
    const auto moved = fit(method, shuffled(data, rng), {.seed = 7}, pca);
    REQUIRE(moved.ok());
    CHECK(moved->model.training.objective == Approx(one->model.training.objective).epsilon(2e-6));
    const auto f = Scorer(one->model, 0).scores(data.features.view());
    const auto g = Scorer(moved->model, 0).scores(data.features.view());
    for (std::size_t i = 0; i < f.size(); ++i) CHECK(f[i] == Approx(g[i]).margin(0.02));
    const auto loaded = model_from_json(model_to_json(one->model), "model");
    REQUIRE(loaded.ok());
    CHECK(model_to_json(*loaded) == model_to_json(one->model));
    CHECK_FALSE(fit(method, data, {.observer = [](const Progress&) { return Next::kStop; }}, pca).ok());
  }
}

TEST_CASE("methods: every option is listed, checked and kept", "[methods][conformance]") {
  for (const Method& method : methods()) {
    CAPTURE(method.name);
    Rng rng(8);
    const BaggedData data = random_bags(rng, 12, 2);
    CHECK_FALSE(method.summary.empty());
    CHECK(find_method(method.name) == &method);
    OptionTexts defaults;
    for (const OptionInfo& option : method.options) {
      CAPTURE(option.name);
      CHECK_FALSE(option.help.empty());
      defaults[option.name] = to_text(option.default_value);
    }
    const auto plain = fit(method, data), spelt_out = fit(method, data, {}, defaults);
    REQUIRE(spelt_out.ok());
    CHECK(model_to_json(plain->model) == model_to_json(spelt_out->model));
    CHECK(plain->model.options.size() == method.options.size());
    const auto unknown = fit(method, data, {}, {{"no-such-option", "1"}});
    REQUIRE_FALSE(unknown.ok());
    CHECK_THAT(unknown.error().message, Catch::Contains("no-such-option"));
    if (!method.uses_sources) {
      const TrainingTask task{"target", reduce(data), &data};
      const std::vector<TrainingTask> two = {task, task};
      CHECK_FALSE(method.fit(two, {}, {}).ok());
      CHECK(tasks_for(method, {}, two).size() == 1);
    }
  }
  CHECK(find_method("no-such-method") == nullptr);
}

TEST_CASE("methods: an observer can stop a fit, which says so", "[methods][conformance]") {
  for (const Method& method : methods()) {
    Rng rng(9);
    const BaggedData data = random_bags(rng, 200, 20);
    const auto fitted = fit(method, data, {.observer = [](const Progress&) { return Next::kStop; }});
    REQUIRE(fitted.ok());
    CHECK(fitted->model.training.termination == "stopped");
    CHECK_FALSE(fitted->model.training.warnings.empty());
  }
}

}  // namespace
}  // namespace bagwise
