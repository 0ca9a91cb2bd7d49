// Runs of made-up experiments, for tests of reports.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bagwise/core/random.h"
#include "bagwise/report/experiment_journal.h"

namespace bagwise::test {

// A plan of `data` sets named 1, 2, ... and methods named a, b, ..., without a result.
inline ExperimentRun planned_run(std::size_t data, std::size_t methods, std::vector<std::uint64_t> bag_sizes,
                                 std::uint64_t folds, std::vector<double> noise = {0}) {
  ExperimentRun run;
  ExperimentPlan& plan = run.plan;
  plan.name = "made-up";
  plan.title = "Made-up";
  for (std::size_t i = 1; i <= data; ++i)
    plan.data.push_back({fmt::format("{}", i), fmt::format("Set {}", i), GeneratorOptions{}});
  for (std::size_t i = 0; i < methods; ++i) {
    const char letter = static_cast<char>('a' + i);
    plan.methods.push_back(
        {.name = std::string(1, letter),
         .title = fmt::format("Method {}", static_cast<char>(letter - 'a' + 'A')),
         .arms = {{.method = find_method("inv-cal"), .paths = {{{{"C", "1"}}, {{"C", "2"}}}}}},
         .arms_alone = {},
         .selection = {}});
  }
  plan.bag_sizes = std::move(bag_sizes);
  plan.noise = std::move(noise);
  plan.folds = plan.run_folds = folds;
  return run;
}

// The same with a result for every key, whose accuracy a function of the key gives.
template <class Accuracy>
ExperimentRun finished_run(ExperimentRun run, const Accuracy& accuracy) {
  for (const ExperimentKey& key : keys_of(run.plan)) {
    run.results.push_back({.key = key,
                           .accuracy = accuracy(key),
                           .balanced_accuracy = 0.5,
                           .auc = {},
                           .proportion_error = 0.25,
                           .options = {{"C", key.fold == 0 ? "2" : "1"}}});
    run.times.push_back({.key = key, .choose = 2, .fit = 1, .total = 3, .settings = 2});
  }
  std::sort(run.results.begin(), run.results.end(),
            [](const auto& a, const auto& b) { return a.key < b.key; });
  return run;
}

inline ExperimentRun random_run(std::uint64_t seed, std::size_t data, std::size_t methods,
                                std::vector<std::uint64_t> bag_sizes, std::uint64_t folds,
                                std::vector<double> noise = {0}) {
  Rng rng(seed);
  return finished_run(planned_run(data, methods, std::move(bag_sizes), folds, std::move(noise)),
                      [&](const ExperimentKey&) { return static_cast<double>(50 + rng.below(50)) / 100; });
}

}  // namespace bagwise::test
