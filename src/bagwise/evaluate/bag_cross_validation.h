// Cross validation over bags: every path of settings is fitted without the bags of a fold and judged on them.
//
// A piece of work is one path on one fold. Pieces are independent, run on all cores, and give the same bits
// whatever the number of threads; what was done before can be recalled instead of done again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/comm/communicator.h"
#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"
#include "bagwise/evaluate/arms.h"
#include "bagwise/evaluate/bag_criteria.h"
#include "bagwise/methods/registry.h"

namespace bagwise {

// One setting on one fold: its criterion on the fold's bags, and its planes on raw values, one per task (none
// of a kernel model, or where they are not kept).
struct FoldOutcome {
  double value = 0;
  std::vector<TaskModel> planes;
};
using PathOutcome = std::vector<FoldOutcome>;  // one per setting

// The same bags every time: a piece is known by its key.
struct Memory {
  std::function<std::optional<PathOutcome>(const std::string& key)> recall = {};
  std::function<void(const std::string& key, const PathOutcome&)> keep = {};  // one call at a time
};

class BagCrossValidation {
 public:
  // Tasks: sources in order, the target last, the target with its rows; they must outlive it. Ranks, if there
  // are any, all have the same; what is recalled and kept is rank 0's.
  BagCrossValidation(std::span<const TrainingTask> tasks,
                     const std::vector<std::vector<std::uint32_t>>& folds, Criterion criterion,
                     bool keep_planes, Context context, Memory memory, Communicator* ranks = nullptr);

  [[nodiscard]] std::size_t folds() const { return folds_.size(); }

  // All paths of the arm on the folds [from, from + count): outcomes by path, then by fold. `done` and
  // `total` are settings times folds, for the observer. Errors: of the first piece that has one; a stop.
  Result<std::vector<std::vector<PathOutcome>>> run(const Arm& arm, std::size_t from, std::size_t count,
                                                    double done, double total);

 private:
  // The bags held out, their rows bag by bag, as they were read.
  struct HeldOut {
    std::vector<std::uint32_t> rest;  // the bags that are not
    Bags bags;
    std::vector<std::size_t> bag_start;
    Features rows;
  };
  struct Mapped;  // the tasks in an arm's metric

  Result<Mapped> map_arm(const Arm& arm, std::span<const TrainingTask> tasks, std::size_t from,
                         std::size_t count) const;
  using Outcomes = std::vector<std::vector<PathOutcome>>;  // by path, then by fold
  // The same pieces over ranks: all of them have all outcomes at the end.
  Result<void> run_over_ranks(const Arm& arm, const std::map<std::size_t, Mapped>& mapped,
                              std::span<const std::size_t> given, std::size_t from, const Observer& observer,
                              std::size_t total, Outcomes& out);
  Result<PathOutcome> run_piece(const Arm& arm, const Mapped& mapped, const SettingsPath& path,
                                std::size_t fold, const Observer& observer) const;

  std::span<const TrainingTask> tasks_;
  std::vector<HeldOut> folds_;
  Criterion criterion_;
  bool keep_planes_;
  Context context_;
  Memory memory_;
  Communicator* ranks_;
};

// The key of a piece: method, metric, settings and fold, not the data.
std::string piece_key(const Arm& arm, const SettingsPath& path, std::size_t fold);

}  // namespace bagwise
