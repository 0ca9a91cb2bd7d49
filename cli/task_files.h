// Which files the tasks of a training are read from.
#pragma once

#include <string>
#include <vector>

#include "bagwise/core/result.h"
#include "bagwise/data/table_source.h"
#include "bagwise/methods/registry.h"
#include "cli/command.h"

namespace bagwise::cli {

// What the files of a task hold: rows, sums per bag (bagwise reduce), or means per bag (a GROUP BY).
enum class TaskKind { kRows, kSums, kMeans };

struct TaskFiles {
  std::string name;
  TableSource table;
  std::string proportions;  // empty: the table has a column of them
  TaskKind kind = TaskKind::kRows;

  [[nodiscard]] std::vector<std::string> paths() const;
};

// --target, --source and their proportions, -o, --align-features, --allow-leak.
std::vector<Option> task_options();
// The same, where sums and means of bags may stand in the place of rows.
std::vector<Option> task_or_sums_options();

// Sources in order, the target last; globs are expanded.
Result<std::vector<TaskFiles>> task_files(const Arguments& arguments, const Method& method);

// Every file a task is read from.
std::vector<std::string> input_files(const std::vector<TaskFiles>& files);

}  // namespace bagwise::cli
