#include "cli/load_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "bagwise/bags/leak_guard.h"
#include "bagwise/bags/proportions.h"
#include "bagwise/bags/reduce_table.h"
#include "bagwise/bags/same_features.h"
#include "bagwise/bags/streamed_rows.h"
#include "bagwise/core/timing.h"
#include "bagwise/data/csv_records.h"
#include "bagwise/data/write_table.h"
#include "cli/output.h"
#include "cli/peek.h"
#include "cli/table_arguments.h"

namespace bagwise::cli {
namespace {

// More text than this is not held in memory by methods that can pass over it.
constexpr std::uintmax_t kMuchText = std::uintmax_t{1} << 30;

std::uintmax_t bytes_of(const TaskFiles& files) {
  std::uintmax_t sum = 0;
  for (const std::string& path : files.paths()) {
    std::error_code code;
    const std::uintmax_t size = std::filesystem::file_size(path, code);
    if (!code) sum += size;
  }
  return sum;
}

// Whether rows are read again for every pass, rather than held.
bool streams(const Arguments& arguments, const TaskFiles& files, const Wanted& wanted) {
  if (wanted.rows != RowsNeeded::kPasses) return false;
  const std::string asked = arguments.text("rows");
  return wanted.comm != nullptr || asked == "stream" || (asked != "memory" && bytes_of(files) > kMuchText);
}

// Of ranks that have other bags each, proportions of bags that are elsewhere; but each has to be somewhere.
Result<void> keep_own_bags(Communicator& comm, const GroupedSums& sums, const std::string& table,
                           ProportionTable& known) {
  const std::set<std::string_view> own(sums.names.begin(), sums.names.end());
  std::vector<double> found;  // per listed bag, on how many ranks
  for (const auto& bag : known.bags) found.push_back(own.contains(bag.first) ? 1 : 0);
  comm.sum(found);
  std::size_t at = 0;
  for (const auto& [name, bag] : known.bags) {
    if (found[at++] > 0) continue;
    return Error{fmt::format("bag {} has a proportion but no row in {}; expected at least one",
                             shown_text(name), table),
                 known.file, bag.line};
  }
  std::erase_if(known.bags, [&](const auto& bag) { return !own.contains(bag.first); });
  return {};
}

// Sums with their proportions. A rank that has no sums has nothing to join.
Result<void> join_sums(const TaskFiles& files, LoadedSums sums, std::optional<ProportionTable> known,
                       Communicator* comm, LoadedTask& out) {
  out.fill = sums.sums.schema.fill;
  out.missing = sums.sums.missing;
  out.one_hot = sums.sums.one_hot;
  out.sparse = sums.sums.schema.sparse;
  out.where = sums.where;
  if (comm != nullptr && sums.where == SumsOn::kFirst && comm->rank() != 0) {
    out.task.reduced.feature_names = std::move(sums.sums.schema.feature_names);
    return {};
  }
  if (comm != nullptr && sums.where == SumsOn::kOwner && known) {
    if (auto kept = keep_own_bags(*comm, sums.sums, files.table.name(), *known); !kept) return kept;
  }
  auto reduced = attach_proportions(std::move(sums.sums), files.table.name(), known ? &*known : nullptr);
  if (!reduced) return reduced.error();
  out.task.reduced = std::move(*reduced);
  return {};
}

Result<void> load_rows(const TaskFiles& files, const TableOptions& table, const ProportionTable* known,
                       const Observer& observer, Seconds& seconds, LoadedTask& out) {
  Stopwatch reading;
  auto instances = read_table(files.table, table, observer);
  seconds.read += reading.seconds();
  if (!instances) return instances.error();
  Stopwatch joining;
  auto rows = attach_proportions(std::move(*instances), files.table.name(), known);
  if (!rows) return rows.error();
  out.rows = std::move(*rows);
  out.sparse = out.rows->features.sparse();
  out.task.reduced = reduce(*out.rows, table.threads);
  seconds.reduce += joining.seconds();
  return {};
}

// Reads one task: sums per bag in one pass, or every row where the method needs them.
Result<LoadedTask> load_task(const Arguments& arguments, const TaskFiles& files, const TableOptions& table,
                             const Wanted& wanted, const Observer& observer, Seconds& seconds) {
  Communicator* const comm = wanted.comm;
  LoadedTask out;
  out.task.name = files.name;
  out.task.origin = files.table.name();
  std::optional<ProportionTable> known;
  if (!files.proportions.empty()) {
    auto read = together(comm, read_proportions(files.proportions, observer));
    if (!read) return read.error();
    known = std::move(*read);
    out.remarks = known->remarks;
  }
  const bool stream = streams(arguments, files, wanted);
  const bool hold = wanted.rows != RowsNeeded::kNone && !stream;
  if (files.kind != TaskKind::kRows && wanted.rows != RowsNeeded::kNone) {
    return Error{fmt::format("the {} is given by sums or means of bags; this method and its options need the "
                             "rows themselves",
                             files.name),
                 files.table.name()};
  }
  if (hold && comm != nullptr) {
    return Error{"this method and its options need all rows in one process; run it without mpirun"};
  }
  if (!hold || table.missing == Missing::kMean) {
    Stopwatch reading;
    auto sums =
        load_sums(files, table, {wanted.moments, stream, wanted.solve_on}, comm, wanted.checkpoint, observer);
    seconds.read += reading.seconds();
    if (!sums) return sums.error();
    Stopwatch joining;
    out.remarks.insert(out.remarks.end(), sums->remarks.begin(), sums->remarks.end());
    const TableSource mine = sums->mine;
    const TableOptions read_as = sums->table;
    auto joined = together(comm, join_sums(files, std::move(*sums), known, comm, out));
    seconds.reduce += joining.seconds();
    if (!joined) return joined.error();
    if (stream) {
      auto rows = together(comm, StreamedRows::open(mine, read_as, out.task.reduced.feature_names,
                                                    out.task.reduced.bags.names));
      if (!rows) return rows.error();
      out.stream = std::move(*rows);
    }
  }
  if (hold) {
    if (auto read = load_rows(files, table, known ? &*known : nullptr, observer, seconds, out); !read)
      return read.error();
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

// That no feature is the label under another name. Of bags that are on several ranks only all together tell.
Result<void> guard_labels(const LoadedTask& loaded, const TableOptions& table, Communicator* comm) {
  const ReducedBags& data = loaded.task.reduced;
  const auto ways_out = [&](const std::string& feature) {
    return fmt::format("{} or keep it with --allow-leak", way_to_leave_out(feature, table));
  };
  if (comm != nullptr && loaded.where == SumsOn::kOwner)
    return check_leaks(merge_leaks(*comm, scan_for_leaks(data)), data.feature_names, loaded.task.origin,
                       ways_out);
  const bool here = comm == nullptr || loaded.where == SumsOn::kEvery || comm->rank() == 0;
  return together(comm, here ? check_leaks(data, loaded.task.origin, ways_out) : Result<void>());
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

bool has_label_column(const TableSource& source, const Arguments& arguments) {
  for (const TablePart& part : source.parts) {
    if (is_special(part.path)) return false;
  }
  TableOptions table = table_options(arguments, true);
  table.want_labels = true;
  const auto schema = peek_schema(source.parts.front().path, table);
  return schema && schema->has_labels && !schema->sparse;
}

Result<std::list<LoadedTask>> load_tasks(const Arguments& arguments, const std::vector<TaskFiles>& files,
                                         const Wanted& wanted, const Observer& observer, Seconds& seconds) {
  TableOptions table = table_options(arguments, true);
  table.want_groups = true;
  const auto load = [&](const TaskFiles& one) {
    return load_task(arguments, one, table, wanted, observer, seconds);
  };
  std::list<LoadedTask> out;
  for (auto one = files.rbegin(); one != files.rend(); ++one) {
    auto loaded = load(*one);
    if (!loaded) return loaded.error();
    const bool aligned =
        arguments.flag("align-features") || (loaded->sparse && (out.empty() || out.back().sparse));
    if (!out.empty() && !aligned) {
      const auto same =
          check_same_features({out.back().task.reduced.feature_names, files.back().table.name()},
                              {loaded->task.reduced.feature_names, one->table.name()},
                              {.lacking = "--align-features takes it as 0 there",
                               .extra = "--exclude leaves it out, --align-features takes it as 0 there"});
      if (!same) return same.error();
    }
    if (!wanted.leaks && !arguments.flag("allow-leak")) {
      if (auto checked = guard_labels(*loaded, table, wanted.comm); !checked) return checked.error();
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
  const LoadedTask& target = tasks.back();
  model.one_hot = arguments.has("one-hot") ? split_names(arguments.texts("one-hot")) : target.one_hot;
  model.missing = arguments.text("missing");
  if (target.missing == Missing::kZero) model.missing = "zero";
  model.fill = target.fill;
  std::vector<std::string> all;
  for (const LoadedTask& task : tasks) all.insert(all.end(), task.remarks.begin(), task.remarks.end());
  auto& warnings = model.training.warnings;
  warnings.insert(warnings.begin(), all.begin(), all.end());
}

}  // namespace bagwise::cli
