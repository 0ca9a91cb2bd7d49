// Cells of an experiment: one method on bags dealt from labelled rows, judged on the rows of a fold left out.
//
// Protocol: the target's rows are dealt into folds; those of one fold are the test. The others, and all rows
// of the source, are dealt into bags of one size. The method and all that chooses its options see bags and
// their proportions only.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"
#include "bagwise/data/dataset.h"
#include "bagwise/evaluate/experiment_plan.h"

namespace bagwise {

// How a cell came out: what is the same however often, and on whatever machine, it is run.
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
};

}  // namespace bagwise
