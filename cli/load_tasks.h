// From files to the tasks a method is trained on.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bagwise/core/observer.h"
#include "bagwise/methods/registry.h"
#include "cli/command.h"
#include "cli/load_sums.h"
#include "cli/task_files.h"

namespace bagwise::cli {

struct Seconds {
  double read = 0, reduce = 0, solve = 0, total = 0;
  double first_solve = 0;  // of the first of several rounds
};

// One task in memory; `fill` is what its empty cells became.
struct LoadedTask {
  TrainingTask task;
  std::optional<BaggedData> rows;
  std::unique_ptr<RowStream> stream;  // the rows, where they are passed over and not held
  SumsOn where = SumsOn::kFirst;      // of several ranks: who has the sums
  std::vector<double> fill;
  Missing missing = Missing::kError;  // of sums: what empty cells became when they were made
  std::vector<std::string> one_hot;   // of sums: the columns that were spread
  bool sparse = false;                // a file of sparse rows: features it does not mention are 0
  std::vector<std::string> remarks;   // on its proportions, for the warnings of the fit
};

// Whether the table has a column of labels, without reading any. A sparse file always has a place for them,
// and a pipe can be read only once: of these nothing is said.
bool has_label_column(const TableSource& source, const Arguments& arguments);

// What to read of the tables: every row, rows to pass over, or sums per bag alone; and, for scaling, the
// moments of each feature. Leaks are an error unless they are wanted, too.
struct Wanted {
  RowsNeeded rows = RowsNeeded::kNone;
  bool moments = false, leaks = false;
  Communicator* comm = nullptr;  // ranks that share the tables; null: this process reads them alone
  SolveOn solve_on = SolveOn::kAutomatic;
  CheckpointFolder* checkpoint = nullptr;  // where sums are kept, and found again
};

// All tasks, with the same features in the same order; `seconds` gets the time of reading and joining.
Result<std::list<LoadedTask>> load_tasks(const Arguments& arguments, const std::vector<TaskFiles>& files,
                                         const Wanted& wanted, const Observer& observer, Seconds& seconds);

// What prediction has to know of how the tables were read; and what reading had to say of the proportions,
// before the warnings of the fit: its last one says why it ended.
void note_tables(const Arguments& arguments, const std::list<LoadedTask>& tasks, Model& model);

}  // namespace bagwise::cli
