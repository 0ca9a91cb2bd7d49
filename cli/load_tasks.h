// From files to the tasks a method is trained on.
#pragma once

#include <list>
#include <optional>
#include <string>
#include <vector>

#include "bagwise/core/observer.h"
#include "bagwise/methods/registry.h"
#include "cli/command.h"

namespace bagwise::cli {

struct TaskFiles {
  std::string name, table, proportions;  // no proportions: the table has a column of them
};

struct Seconds {
  double read = 0, reduce = 0, solve = 0, total = 0;
  double first_solve = 0;  // of the first of several rounds
};

// One task in memory; `fill` is what its empty cells became.
struct LoadedTask {
  TrainingTask task;
  std::optional<BaggedData> rows;
  std::vector<double> fill;
  bool sparse = false;               // a file of sparse rows: features it does not mention are 0
  std::vector<std::string> remarks;  // on its proportions, for the warnings of the fit
};

// Whether the table has a column of labels, without reading any. A sparse file always has a place for them,
// and a pipe can be read only once: of these nothing is said.
bool has_label_column(const std::string& path, const Arguments& arguments);

// Sources in order, the target last.
Result<std::vector<TaskFiles>> task_files(const Arguments& arguments, const Method& method);

// What to read of the tables: every row or sums per bag; and, for scaling, the moments of each feature.
// Leaks are an error unless they are wanted, too.
struct Wanted {
  bool rows = false, moments = false, leaks = false;
};

// All tasks, with the same features in the same order; `seconds` gets the time of reading and joining.
Result<std::list<LoadedTask>> load_tasks(const Arguments& arguments, const std::vector<TaskFiles>& files,
                                         const Wanted& wanted, const Observer& observer, Seconds& seconds);

// What prediction has to know of how the tables were read; and what reading had to say of the proportions,
// before the warnings of the fit: its last one says why it ended.
void note_tables(const Arguments& arguments, const std::list<LoadedTask>& tasks, Model& model);

}  // namespace bagwise::cli
