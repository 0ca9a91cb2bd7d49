#include "cli/load_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "bagwise/bags/leak_guard.h"
#include "bagwise/bags/proportions.h"
#include "bagwise/bags/reduce_table.h"
#include "bagwise/bags/same_features.h"
#include "bagwise/core/timing.h"
#include "bagwise/data/write_table.h"
#include "cli/output.h"
#include "cli/table_arguments.h"

namespace bagwise::cli {
namespace {

// Reads one task: sums per bag in one pass, or every row where the method needs them.
Result<LoadedTask> load_task(const TaskFiles& files, const TableOptions& table, const Wanted& wanted,
                             const Observer& observer, Seconds& seconds) {
  LoadedTask out;
  out.task.name = files.name;
  out.task.origin = files.table;
  std::optional<ProportionTable> known;
  if (!files.proportions.empty()) {
    auto read = read_proportions(files.proportions, observer);
    if (!read) return read.error();
    known = std::move(*read);
    out.remarks = known->remarks;
  }
  const ProportionTable* proportions = known ? &*known : nullptr;
  Stopwatch reading;
  if (!wanted.rows || table.missing == Missing::kMean) {
    auto sums = reduce_table(files.table, table, {.moments = wanted.moments}, observer);
    seconds.read += reading.seconds();
    if (!sums) return sums.error();
    out.fill = sums->schema.fill;
    out.sparse = sums->schema.sparse;
    Stopwatch joining;
    auto reduced = attach_proportions(std::move(*sums), files.table, proportions);
    seconds.reduce += joining.seconds();
    if (!reduced) return reduced.error();
    out.task.reduced = std::move(*reduced);
  }
  if (wanted.rows) {
    Stopwatch reading_rows;
    auto instances = read_table(files.table, table, observer);
    seconds.read += reading_rows.seconds();
    if (!instances) return instances.error();
    Stopwatch joining;
    auto rows = attach_proportions(std::move(*instances), files.table, proportions);
    if (!rows) return rows.error();
    out.rows = std::move(*rows);
    out.sparse = out.rows->features.sparse();
    out.task.reduced = reduce(*out.rows, table.threads);
    seconds.reduce += joining.seconds();
  }
  return out;
}

// A name as it is typed for an option that takes several, in a shell.
std::string typed(const std::string& name) {
  std::string cell = csv_cell(name);
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.,:/+=@";
  if (cell.find_first_not_of(kPlain) == std::string::npos) return cell;
  std::string out = "'";
  for (const char c : cell) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

// How to be rid of a feature: a value of a --one-hot column is no column of its own.
std::string way_to_leave_out(const std::string& feature, const TableOptions& table) {
  for (const std::string& column : table.one_hot) {
    if (!feature.starts_with(column + "=")) continue;
    return fmt::format("leave its column out (--exclude {0} in place of --one-hot {0})", typed(column));
  }
  return fmt::format("leave it out with --exclude {}", typed(feature));
}

// The features of the target, then those that only sources have.
std::vector<std::string> union_of_features(const std::list<LoadedTask>& tasks) {
  std::vector<std::string> out = tasks.back().task.reduced.feature_names;
  std::set<std::string> known(out.begin(), out.end());
  for (const LoadedTask& task : tasks) {
    for (const std::string& name : task.task.reduced.feature_names) {
      if (known.insert(name).second) out.push_back(name);
    }
  }
  return out;
}

}  // namespace

bool has_label_column(const std::string& path, const Arguments& arguments) {
  if (is_special(path)) return false;
  TableOptions table = table_options(arguments, true);
  table.want_labels = true;
  bool found = false;
  ParallelTable peek;
  peek.begin = [&](const TableSchema& schema) -> Result<void> {
    found = schema.has_labels && !schema.sparse;
    return Error{"seen enough"};
  };
  peek.make = [] { return std::unique_ptr<RowSink>(); };
  static_cast<void>(map_table(path, table, peek));
  return found;
}

Result<std::vector<TaskFiles>> task_files(const Arguments& arguments, const Method& method) {
  const auto sources = arguments.texts("source");
  const auto proportions = arguments.texts("source-proportions");
  if (!sources.empty() && !method.uses_sources) {
    return Error{fmt::format("--source {}: {} learns from the target alone; leave the source out", sources[0],
                             method.name)};
  }
  if (!proportions.empty() && proportions.size() != sources.size()) {
    return Error{
        fmt::format("--source-proportions stands {} times and --source {} times; expected one for each",
                    proportions.size(), sources.size())};
  }
  for (const OptionInfo& option : method.options) {
    if (sources.empty() && option.name.ends_with("-source") && arguments.has(option.name))
      return Error{fmt::format("--{} is given, but there is no --source", option.name)};
  }
  std::vector<TaskFiles> out;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    out.push_back({i == 0 ? "source" : fmt::format("source-{}", i + 1), sources[i],
                   proportions.empty() ? "" : proportions[i]});
  }
  out.push_back({"target", arguments.text("target"), arguments.text("target-proportions")});
  return out;
}

Result<std::list<LoadedTask>> load_tasks(const Arguments& arguments, const std::vector<TaskFiles>& files,
                                         const Wanted& wanted, const Observer& observer, Seconds& seconds) {
  TableOptions table = table_options(arguments, true);
  table.want_groups = true;
  const auto load = [&](const TaskFiles& one) { return load_task(one, table, wanted, observer, seconds); };
  std::list<LoadedTask> out;
  for (auto one = files.rbegin(); one != files.rend(); ++one) {
    auto loaded = load(*one);
    if (!loaded) return loaded.error();
    const bool aligned =
        arguments.flag("align-features") || (loaded->sparse && (out.empty() || out.back().sparse));
    if (!out.empty() && !aligned) {
      const auto same =
          check_same_features({out.back().task.reduced.feature_names, files.back().table},
                              {loaded->task.reduced.feature_names, one->table},
                              {.lacking = "--align-features takes it as 0 there",
                               .extra = "--exclude leaves it out, --align-features takes it as 0 there"});
      if (!same) return same.error();
    }
    if (!wanted.leaks && !arguments.flag("allow-leak")) {
      const auto ways_out = [&](const std::string& feature) {
        return fmt::format("{} or keep it with --allow-leak", way_to_leave_out(feature, table));
      };
      if (auto checked = check_leaks(loaded->task.reduced, one->table, ways_out); !checked)
        return checked.error();
    }
    out.push_front(std::move(*loaded));
  }
  // Files that list their features otherwise are read once more, in the common order.
  table.expected_features = union_of_features(out);
  table.absent_as_zero = true;
  // Empty cells mean the same in every task, in training and in prediction: the target's means.
  const bool by_mean = table.missing == Missing::kMean;
  if (by_mean) {
    table.fill = out.back().fill;
    table.fill.resize(table.expected_features.size(), 0.0);
  }
  auto one = files.begin();
  for (LoadedTask& task : out) {
    const bool is_source = &task != &out.back();
    if (task.task.reduced.feature_names != table.expected_features || (by_mean && is_source)) {
      auto loaded = load(*one);
      if (!loaded) return loaded.error();
      task = std::move(*loaded);
    }
    ++one;
  }
  return out;
}

void note_tables(const Arguments& arguments, const std::list<LoadedTask>& tasks, Model& model) {
  model.one_hot = split_names(arguments.texts("one-hot"));
  model.missing = arguments.text("missing");
  model.fill = tasks.back().fill;
  std::vector<std::string> all;
  for (const LoadedTask& task : tasks) all.insert(all.end(), task.remarks.begin(), task.remarks.end());
  auto& warnings = model.training.warnings;
  warnings.insert(warnings.begin(), all.begin(), all.end());
}

}  // namespace bagwise::cli
