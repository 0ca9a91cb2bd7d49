// The sums per bag of a task, from whatever its files hold; over all ranks where there are several.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "bagwise/bags/grouped_sums.h"
#include "bagwise/comm/agree.h"
#include "bagwise/core/observer.h"
#include "bagwise/methods/merge_over_ranks.h"
#include "cli/checkpoint.h"
#include "cli/task_files.h"

namespace bagwise::cli {

// Where the bag means of several ranks are solved: rank 0, or all with each its own bags; automatic: all
// where the means would take more than a gigabyte.
enum class SolveOn { kAutomatic, kOne, kAll };
inline std::vector<std::pair<std::string_view, SolveOn>> names(SolveOn) {
  return {{"auto", SolveOn::kAutomatic}, {"one", SolveOn::kOne}, {"all", SolveOn::kAll}};
}

// How sums are read, besides the table's options.
struct SumsWanted {
  bool moments = false;
  bool on_every_rank = false;  // rows are passed over later, by each rank its share
  SolveOn solve_on = SolveOn::kAutomatic;
};

struct LoadedSums {
  GroupedSums sums;
  SumsOn where = SumsOn::kFirst;
  TableSource mine;                       // of rows: this rank's share
  TableOptions table;                     // as the share was read
  std::vector<std::string> remarks = {};  // on the files
};

// With ranks it is collective, and a fault of one is the fault of all. Rows whose sums a checkpoint
// has are not read again.
Result<LoadedSums> load_sums(const TaskFiles& files, const TableOptions& table, const SumsWanted& wanted,
                             Communicator* comm, CheckpointFolder* checkpoint, const Observer& observer);

// What every rank found: a fault of one is the fault of all.
inline Result<void> together(Communicator* comm, const Result<void>& mine) {
  return comm == nullptr ? mine : agree(*comm, mine);
}
template <class T>
Result<T> together(Communicator* comm, Result<T> mine) {
  return comm == nullptr ? std::move(mine) : agree(*comm, std::move(mine));
}

}  // namespace bagwise::cli
