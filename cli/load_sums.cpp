#include "cli/load_sums.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "bagwise/bags/bag_means.h"
#include "bagwise/bags/reduce_table.h"
#include "bagwise/bags/sums_file.h"
#include "bagwise/comm/over_ranks.h"
#include "bagwise/data/table_scout.h"

namespace bagwise::cli {
namespace {

constexpr double kManyBytes = 1 << 30;  // of bag means: more are solved where they are

// Every rank looks at its share; then all know what the whole table has.
Result<TableOptions> settle_over_ranks(const TableSource& mine, const TableOptions& table, Communicator& comm,
                                       const Observer& observer) {
  auto found = agree(comm, scout_table(mine, table, observer));
  if (!found) return found.error();
  std::optional<TableScout> all;
  for (const std::string& bytes : comm.gather(found->to_bytes())) {
    auto scout = TableScout::from_bytes(bytes, "what another rank found");
    if (!scout) return scout.error();
    if (!all) {
      all = std::move(*scout);
    } else if (auto merged = all->merge(*scout); !merged) {
      return merged.error();
    }
  }
  return settled(table, *all);
}

// A fault that shows only when the rows of several ranks come together: it has no line.
Error of_table(const TableSource& table, Error error) {
  if (!error.file.starts_with(kRowsOfRank)) return error;
  error.message = fmt::format("{}: {}", error.file, error.message);
  error.file = table.name();
  return error;
}

Result<GroupedSums> reduce_share(const TaskFiles& files, const SumsWanted& wanted, Communicator* comm,
                                 const Observer& observer, LoadedSums& out) {
  out.mine = files.table;
  if (comm != nullptr) {
    auto share = agree(*comm, share_of(files.table, comm->rank(), comm->size()));
    if (!share) return share.error();
    out.mine = std::move(*share);
    if (out.table.expected_features.empty()) {
      auto table = settle_over_ranks(out.mine, out.table, *comm, observer);
      if (!table) return table.error();
      out.table = std::move(*table);
    }
  }
  auto sums = reduce_table(out.mine, out.table, {.moments = wanted.moments}, observer);
  if (comm == nullptr) return sums;
  sums = spread_bags(*comm, std::move(sums));
  if (!sums) return of_table(files.table, sums.error());
  if (sum_over_ranks(comm, static_cast<std::size_t>(sums->rows)) == 0)
    return Error{"has no rows; expected at least one", files.table.name()};
  return sums;
}

// The columns of a file of means, called as those of a table of rows.
BagMeansOptions means_options(const TableOptions& table) {
  return {.bag_column = table.group_column,
          .share_column = table.share_column,
          .bound_column = table.bound_column,
          .label_column = table.label_column,
          .id_column = table.id_column,
          .features = table.features,
          .exclude = table.exclude};
}

// Files of sums and means are small beside rows: rank 0 reads them all.
Result<GroupedSums> read_reduced(const TaskFiles& files, const TableOptions& table, Communicator* comm,
                                 const Observer& observer, std::vector<std::string>& remarks) {
  Result<GroupedSums> sums = GroupedSums();
  if (comm == nullptr || comm->rank() == 0) {
    if (files.kind == TaskKind::kMeans) {
      sums = read_bag_means(files.table, means_options(table), observer);
    } else if (auto merged = merge_sums_files(files.paths(), observer); merged) {
      remarks = std::move(merged->remarks);
      sums = std::move(merged->sums);
    } else {
      sums = merged.error();
    }
  }
  if (sums && files.kind == TaskKind::kSums && !sums->blank() && table.expected_features.empty())
    sums = std::move(*sums).chosen(table.features, table.exclude);
  if (comm != nullptr) sums = spread_bags(*comm, std::move(sums));
  if (sums && !table.expected_features.empty()) return std::move(*sums).aligned(table.expected_features);
  return sums;
}

SumsOn place_for(const GroupedSums& owned, const SumsWanted& wanted, Communicator& comm) {
  if (wanted.on_every_rank) return SumsOn::kEvery;
  if (wanted.solve_on == SolveOn::kOne) return SumsOn::kFirst;
  const bool large = bytes_of_means(comm, owned) > kManyBytes;
  return large || wanted.solve_on == SolveOn::kAll ? SumsOn::kOwner : SumsOn::kFirst;
}

// Whether every rank has it.
bool on_all(Communicator* comm, bool mine) {
  double lacking = mine ? 0 : 1;
  if (comm != nullptr) comm->sum({&lacking, 1});
  return lacking == 0;
}

// The name of a task's sums in a checkpoint: tables that are read again with the features of all tasks are
// others.
std::string saved_name(const TaskFiles& files, const TableOptions& table, SumsOn where) {
  const char* const place = where == SumsOn::kFirst ? "first" : where == SumsOn::kEvery ? "every" : "owner";
  return fmt::format("{}{}-{}", files.name, table.expected_features.empty() ? "" : "-aligned", place);
}

// What an earlier run saved, if every rank finds its part of it.
Result<bool> load_saved(const TaskFiles& files, Communicator* comm, const CheckpointFolder& checkpoint,
                        LoadedSums& out) {
  for (const SumsOn where : {SumsOn::kFirst, SumsOn::kEvery, SumsOn::kOwner}) {
    auto saved = together(comm, checkpoint.load_sums(saved_name(files, out.table, where)));
    if (!saved) return saved.error();
    if (!on_all(comm, saved->has_value())) continue;
    out.sums = std::move(**saved);
    out.where = where;
    out.mine = files.table;
    if (comm != nullptr && files.kind == TaskKind::kRows) {
      auto share = agree(*comm, share_of(files.table, comm->rank(), comm->size()));
      if (!share) return share.error();
      out.mine = std::move(*share);
    }
    return true;
  }
  return false;
}

}  // namespace

Result<LoadedSums> load_sums(const TaskFiles& files, const TableOptions& table, const SumsWanted& wanted,
                             Communicator* comm, CheckpointFolder* checkpoint, const Observer& observer) {
  LoadedSums out;
  out.table = table;
  if (files.kind != TaskKind::kRows) checkpoint = nullptr;  // they are sums already
  if (checkpoint != nullptr) {
    auto found = load_saved(files, comm, *checkpoint, out);
    if (!found) return found.error();
    if (*found) return out;
  }
  Result<GroupedSums> sums = files.kind == TaskKind::kRows
                                 ? reduce_share(files, wanted, comm, observer, out)
                                 : read_reduced(files, table, comm, observer, out.remarks);
  if (!sums) return sums.error();
  if (comm != nullptr) {
    out.where = place_for(*sums, wanted, *comm);
    sums = collect_sums(*comm, std::move(*sums), out.where);
    if (!sums) return sums.error();
  }
  out.sums = std::move(*sums);
  if (checkpoint != nullptr) {
    auto saved = together(comm, checkpoint->save_sums(saved_name(files, table, out.where), out.sums));
    if (!saved) return saved.error();
  }
  return out;
}

}  // namespace bagwise::cli
