// The methods there are, behind one type: being in this list is what makes a method exist.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/bags/row_stream.h"
#include "bagwise/comm/communicator.h"
#include "bagwise/core/checkpoint.h"
#include "bagwise/core/observer.h"
#include "bagwise/core/options.h"
#include "bagwise/core/result.h"
#include "bagwise/methods/model.h"

namespace bagwise {

// One task as a method may see it. Where several ranks share it: see Context::comm.
struct TrainingTask {
  std::string name;                  // "target", "source", "source-2", ...
  ReducedBags reduced;               // always
  const BaggedData* rows = nullptr;  // only where the method needs instances
  std::string origin = {};           // where the rows came from, for messages: a file
  RowStream* stream = nullptr;       // the rows instead, where passes over them are enough
};

// What of the rows a fit is to be given besides the sums per bag.
enum class RowsNeeded {
  kNone,    // nothing
  kPasses,  // TrainingTask::rows or TrainingTask::stream
  kAll,     // TrainingTask::rows
};

struct PathState;  // path_state.h

// What surrounds a fit and is no part of the problem.
struct Context {
  std::uint64_t seed = 1;
  unsigned threads = 0;  // 0: one per core; never changes a result
  Observer observer = {};
  // Null: this process alone. Else every rank makes the same call: each has the same sums of all bags (to the
  // bit) and of the rows its own share. All of them get the same model.
  Communicator* comm = nullptr;
  // The bags in TrainingTask::reduced are this rank's alone, and other ranks have others; no bag is on two.
  // Its moments are those of all rows still. Linear methods that need no rows can do with that.
  bool spread_bags = false;
  PathState* path = nullptr;  // of a fit on a path of settings: what the fits before it left
  const Scaling* scaling =
      nullptr;  // fitted elsewhere, instead of by the option; null: the method fits its own
  // Where a method that works in rounds leaves what it has reached and finds what an interrupted fit left.
  // Null: nowhere. What another problem or other options left is an error.
  Checkpoint* checkpoint = nullptr;
};

// The ranks among which bags are spread; null where every rank has all of them.
inline Communicator* spread_over(const Context& context) {
  return context.spread_bags ? context.comm : nullptr;
}

struct Fit {
  Model model;  // with its training report
  double solve_seconds = 0;
  double first_solve_seconds = 0;  // of the first of several rounds; 0: there are none
};

// How closely the convex problems of a path are solved, as a relative gap: far below what settings differ by.
inline constexpr double kPathGap = 3e-3;

// Options by name, as text: what a command line or a grid file has.
using OptionTexts = std::map<std::string, std::string>;

// Settings in the order of a path: each is near the one before it.
using SettingsPath = std::vector<OptionTexts>;

struct Method {
  std::string name;                 // "inv-cal"
  std::string summary;              // one line
  bool uses_sources = false;        // false: sources are an error
  std::vector<OptionInfo> options;  // its own, then those all have (metric)
  // Tasks: sources in order, the target last. Faults of options or data are errors that name them.
  std::function<Result<Fit>(std::span<const TrainingTask>, const OptionTexts&, const Context&)> fit;
  // Fits of all settings of a path to the same tasks, each started from the last where the method can. For
  // choosing among settings: solves are as rough as that allows (kPathGap), and much cheaper than fits.
  std::function<Result<std::vector<Fit>>(std::span<const TrainingTask>, std::span<const OptionTexts>,
                                         const Context&)>
      fit_path = {};
  // Settings worth trying, as paths, where there are that many sources.
  std::function<std::vector<SettingsPath>(std::size_t sources)> default_grid = {};
  // That a fit with these (faultless) options can be given sources; the error says why it cannot.
  std::function<Result<void>(const OptionTexts&)> check_sources = {};
  // Whether with these options the target learns alone, whatever sources there are.
  std::function<bool(const OptionTexts&)> learns_alone = [](const OptionTexts&) { return false; };
  // Faults of options alone, so that they are told before long reading.
  std::function<Result<void>(const OptionTexts&)> check = {};
  // What of the rows a fit with these (faultless) options wants.
  std::function<RowsNeeded(const OptionTexts&)> rows_needed = [](const OptionTexts&) {
    return RowsNeeded::kNone;
  };
  // Whether it wants rows, in memory or in passes; else sums per bag are enough.
  [[nodiscard]] bool needs_instances(const OptionTexts& given) const {
    return rows_needed(given) != RowsNeeded::kNone;
  }
};

const std::vector<Method>& methods();
const Method* find_method(std::string_view name);  // null if there is none of that name

// What of the tasks a fit with these options is given: all of them, or the target alone where sources would
// be an error or make no difference. Alone it is also seen in a metric of its own.
std::span<const TrainingTask> tasks_for(const Method& method, const OptionTexts& options,
                                        std::span<const TrainingTask> tasks);

}  // namespace bagwise
