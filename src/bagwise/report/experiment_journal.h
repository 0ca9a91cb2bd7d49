// The folder of an experiment: experiment.json (what is run), results.jsonl (a line per finished cell, in the
// order they came) and timings.jsonl (their times).
//
// A line of results says the same whenever and wherever a cell is run; so the sorted lines of a run that was
// killed and went on are those of one that was not. A last line that is not whole is what a crash leaves: it
// is cut off, and its cell run again.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "bagwise/core/line_file.h"
#include "bagwise/core/result.h"
#include "bagwise/evaluate/experiment.h"
#include "bagwise/report/experiment_file.h"

namespace bagwise {

// All that a folder holds.
struct ExperimentRun {
  ExperimentPlan plan;
  std::vector<ExperimentResult> results;  // by key, each once
  std::vector<ExperimentTimes> times;     // by key, each once
};

// Reads a folder, finished or not. Errors: no such files, a line that is none of an experiment.
Result<ExperimentRun> read_experiment(const std::string& folder);

class ExperimentJournal {
 public:
  // Opens the folder, which must exist, for one run at a time. What is there must be of the same experiment:
  // the same seed and folds, and under the same name the same data and the same method; it may have others,
  // too. `data` are the data's fingerprints, by name.
  static Result<ExperimentJournal> open(const std::string& folder, const ExperimentFile& experiment,
                                        const std::map<std::string, std::string>& data);

  [[nodiscard]] const std::vector<ExperimentResult>& found() const { return found_; }
  [[nodiscard]] const std::vector<ExperimentTimes>& found_times() const { return found_times_; }
  // On the disk when it returns.
  Result<void> append(const CellOutcome& outcome);

 private:
  ExperimentJournal(LineFile results, LineFile timings)
      : results_(std::move(results)), timings_(std::move(timings)) {}

  LineFile results_, timings_;
  std::vector<ExperimentResult> found_;
  std::vector<ExperimentTimes> found_times_;
};

}  // namespace bagwise
