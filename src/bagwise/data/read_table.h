// Reading instance tables: CSV or SVMlight, plain, .gz or .zst; binary tables; in blocks, on all cores.
//
// The blocks are fixed by the input, never by the number of threads. What bags are is not known here: a bag
// column is a column of text called "groups". Sums per bag are made in bags/reduce_table.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"
#include "bagwise/data/dataset.h"
#include "bagwise/data/table_source.h"

namespace bagwise {

enum class Missing { kError, kMean, kZero };
inline std::vector<std::pair<std::string_view, Missing>> names(Missing) {
  return {{"error", Missing::kError}, {"mean", Missing::kMean}, {"zero", Missing::kZero}};
}

// What the columns of a table are, and which are wanted.
struct TableOptions {
  std::string group_column = "bag";
  std::string share_column = "proportion";
  std::string bound_column = "delta";
  std::string label_column = "label";
  std::string id_column = "id";

  bool want_groups = false;  // true: a table without the group column is an error
  bool want_labels = false;  // never set by training: labels are then not even parsed
  bool want_ids = false;

  std::vector<std::string> features = {};  // only these, in this order; empty: every other column
  std::vector<std::string> exclude = {};   // never these
  std::vector<std::string> one_hot =
      {};                             // text columns to spread into "column=value" features, values sorted
  Missing missing = Missing::kError;  // what an empty cell means

  // For prediction: a model's features in its order. Each must be there (a one-hot feature "column=value"
  // comes from column `column`, a value the model does not know gives zeros); columns the model does not know
  // are passed over. Sparse files give the feature called "7" from index 7. Empty: take the file's own
  // features.
  std::vector<std::string> expected_features = {};
  bool absent_as_zero = false;  // an expected feature that the file lacks is 0 in every row, not an error
  bool settled = false;         // set by table_scout.h: these are the table's own features, found beforehand
  // With missing = mean at prediction: the training means, one per expected feature. Empty: the file's own.
  std::vector<double> fill = {};

  unsigned threads = 0;  // 0: one per core
  // About how much text makes a block. The order in which sums are added follows from it, hence their last
  // bits; whatever the threads.
  std::size_t block_bytes = std::size_t{1} << 20;
};

// What was found out about a table before its rows are read.
struct TableSchema {
  std::vector<std::string> feature_names;
  std::vector<double> fill;  // per feature, what empty cells became; empty unless missing = mean
  bool sparse = false;
  bool has_groups = false, has_shares = false, has_bounds = false, has_labels = false, has_ids = false;
};

// Some consecutive rows of a table: `first_row` counts from 0.
// The values of `rows.groups` are those of this block only.
struct TableBlock {
  Dataset rows;
  std::uint64_t first_row = 0;
  std::uint64_t first_line = 0;  // of the file, from 1
  std::string file = {};         // which these rows are of
};

// Reads the whole table into memory: at most the parsed matrix plus 64 MB.
Result<Dataset> read_table(const TableSource& source, const TableOptions& options,
                           const Observer& observer = {});

// Hands the table block by block, in order, to `consume`, in constant memory; stops at its first error.
Result<TableSchema> stream_table(const TableSource& source, const TableOptions& options,
                                 const std::function<Result<void>(TableBlock&&)>& consume,
                                 const Observer& observer = {});

// One row as it was parsed; everything in it is gone after the call that gets it.
struct TableRow {
  std::span<const double> values;       // one per feature; of a sparse table, those of `index`
  std::span<const std::int32_t> index;  // of a sparse table: ascending
  std::string_view group, id;           // where the table has them (and ids are wanted)
  double share = 0, bound = 0;
  std::int8_t label = 0;   // +1, -1 or 0 = none
  std::uint64_t line = 0;  // within its block, from 0
};

// Many rows of a dense table as they lie in memory; gone after the call that gets them.
struct TableRows {
  DenseView values;
  std::uint64_t line = 0;                         // of the first, within its block, from 0
  std::span<const std::uint32_t> groups;          // per row, into group_names; empty where there are none
  std::span<const std::string_view> group_names;  // distinct
  bool more = false;                       // of rows whose first were in the call before: the same names
  std::span<const double> shares, bounds;  // empty where there are none, as what follows
  std::span<const std::int8_t> labels;
  std::span<const std::string_view> ids;
};

// Takes the rows of one block, in their order, on one thread.
class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void add(const TableRow& row) = 0;
  // Rows of a binary table at once: for sinks that can do better than one by one.
  virtual void add_rows(const TableRows& rows);
  virtual void end() {}  // after the last row of its block, on the same thread
};

// Where a block stands in the table.
struct BlockPlace {
  std::uint64_t rows = 0;
  std::uint64_t first_row = 0;   // from 0
  std::uint64_t first_line = 0;  // of the file, from 1
  std::string_view file = {};    // gone after the call that gets it
};

// Gives every block a sink of its own, fills it on any of the threads, then hands the sinks back in the order
// of the blocks. No row is ever stored on the way.
struct ParallelTable {
  std::function<Result<void>(const TableSchema&)> begin;  // once, before the first
  std::function<std::unique_ptr<RowSink>()> make;         // on any thread
  std::function<Result<void>(std::unique_ptr<RowSink>, const BlockPlace& at)>
      fold;  // in order, on the caller's
};
Result<TableSchema> map_table(const TableSource& source, const TableOptions& options,
                              const ParallelTable& work, const Observer& observer = {});

}  // namespace bagwise
