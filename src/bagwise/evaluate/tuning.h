// Tuning: choosing options, and methods, on held-out bags, and making one model of what was learnt.
//
// See     docs/guide/tuning.md for users, docs/design/selection.md for how good the choices are.
// Test    tuning_test.cpp does the same by plain loops over single fits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bagwise/comm/communicator.h"
#include "bagwise/core/result.h"
#include "bagwise/evaluate/bag_cross_validation.h"
#include "bagwise/evaluate/relatedness.h"
#include "bagwise/methods/registry.h"

namespace bagwise {

// best: fit the best setting to all bags. average: keep the fold models of all settings as a committee, in
// which setting s weighs exp(-(value_s - least)/tau). plane: one plane, their weighted mean.
//
// Few bags tell little of whether a source helps. Where a method is tried with transfer and without, both
// kinds are weighed by how related the source looks instead (transfer_gate.h). For `best` a setting's value
// counts less tau times the logarithm of its kind's share.
enum class Combine { kBest, kAverage, kPlane };
inline std::vector<std::pair<std::string_view, Combine>> names(Combine) {
  return {{"best", Combine::kBest}, {"average", Combine::kAverage}, {"plane", Combine::kPlane}};
}

// grid: every setting on every fold. halving: every setting on the first fold, the better third of them on
// the second too, and so on.
enum class Search { kGrid, kHalving };
inline std::vector<std::pair<std::string_view, Search>> names(Search) {
  return {{"grid", Search::kGrid}, {"halving", Search::kHalving}};
}

struct TuneOptions {
  std::uint64_t folds = 5, repeats = 1;
  Criterion criterion = Criterion::kMiscount;
  Combine combine = Combine::kAverage;
  Search search = Search::kGrid;
  double tau = 4;
  // Ranks that share the fits on folds, each with all the data; all get the same result. Null: no others.
  Communicator* ranks = nullptr;
};

// One setting that was tried.
struct Tried {
  std::size_t arm = 0;
  OptionTexts setting;
  std::size_t folds = 0;  // it was tried on: fewer than all if halving dropped it
  double value = 0;       // the criterion summed over these folds, a mean over repeats
};

struct Tuned {
  Fit fit;
  std::vector<Tried> tried;            // in the order of the grids
  std::size_t best = 0;                // into tried
  std::optional<Relatedness> related;  // of the sources, where transfer was in question
  double transfer_share = 0;           // what it made of that
  std::size_t members = 0;             // planes that were combined; 0 for best
  std::vector<double> arm_shares;      // what each arm has in the model; they add up to 1
  double choose_seconds = 0;           // of the fits on folds, and
  double final_seconds = 0;            // of what came after
};

// "inv-cal C=1 epsilon=0.1", with the metric where there is one.
std::string full_text(const Arm& arm, const OptionTexts& setting);

// Tasks: sources in order, the target last and with its rows (all with rows where an arm needs them).
// Settings that take no sources are given the target alone. Errors: fewer bags than folds, faults of a grid
// or of a fit, `average` or `plane` of kernel models, a stop.
Result<Tuned> tune(std::span<const TrainingTask> tasks, const std::vector<Arm>& arms,
                   const TuneOptions& options, const Context& context, const Memory& memory = {});

}  // namespace bagwise
