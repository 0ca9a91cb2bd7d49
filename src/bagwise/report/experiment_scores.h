// The results of an experiment arranged for comparing: cases, what each method came to in them, who is ahead.
//
// A case is a data set with a bag size and a share of noise. A method has finished a case when all folds
// that are to be run are done; its score there is the mean over them. Methods are compared on the common
// cases only: those that every method tried has finished, so that a run under way flatters nobody.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bagwise/evaluate/rank_statistics.h"
#include "bagwise/report/experiment_journal.h"

namespace bagwise {

struct ExperimentCase {
  std::size_t data = 0, size = 0, noise = 0;  // places in the plan
};

// One method in one case.
struct CaseResult {
  std::vector<const ExperimentResult*> folds;  // null where not done
  CaseScores accuracy;                         // per fold
  std::optional<SampleMean> mean;              // over folds, once all are done
};

// A mean over cases. `error` is what it owes to the spread over folds: sqrt(sum of the cases' squared errors)
// over their number; none where only one fold is run. How much cases differ from each other, which is no
// fault of a method, is not in it.
struct MeanOverCases {
  std::size_t cases = 0;
  double mean = 0;
  std::optional<double> error = {};
};

// A method on the common cases.
struct MethodScore {
  std::size_t method = 0;  // its place in the plan
  MeanOverCases accuracy;
  std::size_t best = 0;                  // in how many cases no other is better,
  std::size_t shared = 0;                // in how many of them another is as good
  double rank = 0;                       // mean over cases, 1 the best
  std::optional<double> published = {};  // mean of the figures published for these cases, if for all
};

struct ExperimentScores {
  const ExperimentRun* run = nullptr;            // what this is about; it must outlive this
  std::size_t done = 0, planned = 0;             // results
  std::vector<ExperimentCase> cases;             // by data, bag size and noise, as in the plan
  std::vector<std::vector<CaseResult>> results;  // [case][method]
  std::vector<std::size_t> tried;                // methods that have finished a case
  std::vector<std::size_t> common;               // cases that all of these have finished
  RankTest ranks;                                // of the tried methods, in their order
  std::vector<MethodScore> methods;              // the tried ones, the highest mean first

  [[nodiscard]] const ExperimentPlan& plan() const { return run->plan; }
  [[nodiscard]] const std::string& title(std::size_t method) const { return plan().methods[method].title; }
};

// Results of what is not in the plan are passed over.
ExperimentScores score_experiment(const ExperimentRun& run);

using CaseFilter = std::function<bool(const ExperimentCase&)>;

// Over the common cases that a filter lets through.
std::vector<std::size_t> common_cases(const ExperimentScores& scores, const CaseFilter& filter);
MeanOverCases mean_over(const ExperimentScores& scores, std::size_t method,
                        const std::vector<std::size_t>& cases);
// The figure published for a method in a case; only cases without noise have any.
const PublishedFigure* published_figure(const ExperimentScores& scores, std::size_t method,
                                        const ExperimentCase& at);
std::optional<double> published_mean(const ExperimentScores& scores, std::size_t method,
                                     const std::vector<std::size_t>& cases);

// Two methods on the common cases, by their means over folds; and how many cases differ clearly by
// themselves, by the spread of the difference over folds.
struct MethodPair {
  PairedDifference over_cases;
  std::size_t clearly_above = 0, clearly_below = 0;
};
MethodPair compare_methods(const ExperimentScores& scores, std::size_t a, std::size_t b);
// Within one case, fold by fold.
PairedDifference compare_in_case(const ExperimentScores& scores, std::size_t at, std::size_t a,
                                 std::size_t b);

}  // namespace bagwise
