// The tables of an experiment's report, each as one value (report_table.h).
//
// Accuracies are shown per cent with two decimals, as they were published; CSV has shares with every digit.
#pragma once

#include <vector>

#include "bagwise/report/experiment_scores.h"
#include "bagwise/report/report_table.h"

namespace bagwise {

// What was run: learner, metric, sources, settings tried and how one was chosen.
ReportTable methods_table(const ExperimentScores& scores);
// Per method over the common cases: mean, wins, mean rank; first the best.
ReportTable summary_table(const ExperimentScores& scores);
// A row per case, a column per method: mean and deviation over folds, the best in bold, with what was
// published beside it.
ReportTable accuracy_table(const ExperimentScores& scores);
// Means over the common cases of a bag size, and over all.
ReportTable bag_size_table(const ExperimentScores& scores);
// Each method with every other that is behind it on average.
ReportTable pairs_table(const ExperimentScores& scores);
// Case by case, the best method less each other.
ReportTable differences_table(const ExperimentScores& scores);
// Means over bag sizes by the share of noise: over all data sets, and for each.
ReportTable noise_table(const ExperimentScores& scores);
// All measures, means over the common cases.
ReportTable measures_table(const ExperimentScores& scores);
// Seconds per method; and by data set.
ReportTable times_table(const ExperimentScores& scores);
ReportTable data_times_table(const ExperimentScores& scores);
// Which values of options were chosen most often.
ReportTable options_table(const ExperimentScores& scores);

// All that have something to tell.
std::vector<ReportTable> experiment_tables(const ExperimentScores& scores);

// Mean seconds on the common cases of a data set, or of all; none where no time is known.
struct MeanTimes {
  double choose = 0, fit = 0, total = 0, settings = 0;
};
std::optional<MeanTimes> mean_times(const ExperimentScores& scores, std::size_t method,
                                    std::optional<std::size_t> data);

}  // namespace bagwise
