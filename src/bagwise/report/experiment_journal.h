// The folder of an experiment: experiment.json (what is run), results.jsonl (a line per finished cell) and
// timings.jsonl (its times).
#pragma once

#include <string>
#include <vector>

#include "bagwise/core/result.h"
#include "bagwise/evaluate/experiment.h"

namespace bagwise {

// All that a folder holds.
struct ExperimentRun {
  ExperimentPlan plan;
  std::vector<ExperimentResult> results;  // by key, each once
  std::vector<ExperimentTimes> times;     // by key, each once
};

// Reads a folder, finished or not; a last line that is not whole is passed over. Errors: no such files, a
// line that is none of an experiment.
Result<ExperimentRun> read_experiment(const std::string& folder);

}  // namespace bagwise
