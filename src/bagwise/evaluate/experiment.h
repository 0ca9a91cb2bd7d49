// Cells of an experiment: one method on bags dealt from labelled rows, judged on the rows of a fold left out.
//
// Protocol: the target's rows are dealt into folds; those of one fold are the test. The others, and all rows
// of the source, are dealt into bags of one size. The method, and all that chooses its options, see bags and
// their proportions only. What is dealt depends on seed, data, bag size and fold alone: every method and
// every level of noise has the same rows in the same bags.
//
// Test    experiment_test.cpp does a cell by plain loops over public functions.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bagwise/comm/communicator.h"
#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"
#include "bagwise/data/dataset.h"
#include "bagwise/evaluate/experiment_data.h"
#include "bagwise/evaluate/experiment_plan.h"

namespace bagwise {

// How a cell came out: what is the same however often, and on whatever number of threads, it is run.
struct ExperimentResult {
  ExperimentKey key;
  double accuracy = 0;  // on the rows of the fold
  std::optional<double> balanced_accuracy, auc;
  double proportion_error = 0;  // mean over the bags learnt from of |share of scores > 0 - known share|
  OptionTexts options;          // the setting chosen, or the best of those averaged
};

// And how long it took, which is not.
struct ExperimentTimes {
  ExperimentKey key;
  double choose = 0;  // seconds: fits on folds of bags,
  double fit = 0;     // and what came after: the fit to all bags, or averaging
  double total = 0;
  std::uint64_t settings = 0;  // that were tried
  std::uint64_t jobs = 1;      // cells that ran at once
};

// The bags to learn from and the rows to judge by.
struct ExperimentBags {
  std::optional<BaggedData> source;
  BaggedData target;
  Dataset test;  // with labels, which nothing that learns or chooses sees
};
Result<ExperimentBags> deal_cell(const LabelledTasks& rows, const ExperimentPlan& plan,
                                 const ExperimentKey& key);

struct CellOutcome {
  ExperimentResult result;
  ExperimentTimes times;
};
// One cell, on one thread.
Result<CellOutcome> run_cell(const LabelledTasks& rows, const ExperimentPlan& plan, const ExperimentKey& key,
                             const Observer& observer = {});

// What happens to the cells of a run; called by one thread at a time.
struct ExperimentSink {
  std::function<Result<void>(const CellOutcome&)> done;  // an error ends the run
  std::function<void(const ExperimentKey&, const Error&)> failed;
};

// Runs the cells `wanted` (which may be any of the plan's), `jobs` at once (0: one per core). `rows` has the
// plan's data in their order. A cell that fails does not end the run. Errors: the sink's; a stop.
// With ranks, which all have the same rows and want the same cells, these are dealt over them, `jobs` at once
// on each; the sink of rank 0 gets what comes of all.
Result<void> run_experiment(const ExperimentPlan& plan, std::span<const LabelledTasks> rows,
                            std::span<const ExperimentKey> wanted, unsigned jobs, const ExperimentSink& sink,
                            const Observer& observer = {}, Communicator* ranks = nullptr);

// How long the cells `left` will take one after the other, going by those that are done: by the mean of their
// method and bag size, else of their method, else of all. Nothing is known where nothing is done.
std::optional<double> seconds_for(std::span<const ExperimentKey> left, std::span<const ExperimentTimes> done);

}  // namespace bagwise
