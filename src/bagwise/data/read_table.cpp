#include "bagwise/data/read_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "bagwise/core/memory_budget.h"
#include "bagwise/core/parallel.h"
#include "bagwise/data/internal/table_reader.h"
#include "bagwise/data/name_table.h"

namespace bagwise {
namespace {

// More would hold more than 64 MB of parsed blocks, and appending them is what bounds the rate by then.
constexpr unsigned kMostThreadsInMemory = 8;

class TableBuilder;

// Stores the rows of a block.
class BlockSink final : public RowSink {
 public:
  BlockSink(const TableSchema& schema, const TableOptions& options)
      : schema_(schema),
        dense_(schema.sparse ? 0 : schema.feature_names.size()),
        labels_(schema.has_labels && options.want_labels),
        ids_(schema.has_ids && options.want_ids) {}

  void add(const TableRow& row) override {
    if (schema_.sparse) {
      sparse_.index.insert(sparse_.index.end(), row.index.begin(), row.index.end());
      sparse_.values.insert(sparse_.values.end(), row.values.begin(), row.values.end());
      sparse_.start.push_back(static_cast<std::int64_t>(sparse_.values.size()));
    } else {
      std::copy(row.values.begin(), row.values.end(), dense_.append(1));
    }
    if (schema_.has_groups) rows_.groups.codes.push_back(groups_.number(row.group));
    if (schema_.has_shares) rows_.shares.push_back(row.share);
    if (schema_.has_bounds) rows_.bounds.push_back(row.bound);
    if (labels_) rows_.labels.push_back(row.label);
    if (ids_) rows_.ids.emplace_back(row.id);
  }

  void add_rows(const TableRows& rows) override {
    const std::size_t count = rows.values.rows;
    if (count == 0) return;
    std::memcpy(dense_.append(count), rows.values.values, count * rows.values.columns * sizeof(double));
    if (schema_.has_groups) {
      if (!rows.more) {
        code_of_.clear();
        for (const std::string_view name : rows.group_names) code_of_.push_back(groups_.number(name));
      }
      for (const std::uint32_t code : rows.groups) rows_.groups.codes.push_back(code_of_[code]);
    }
    if (schema_.has_shares) rows_.shares.insert(rows_.shares.end(), rows.shares.begin(), rows.shares.end());
    if (schema_.has_bounds) rows_.bounds.insert(rows_.bounds.end(), rows.bounds.begin(), rows.bounds.end());
    if (labels_) rows_.labels.insert(rows_.labels.end(), rows.labels.begin(), rows.labels.end());
    if (ids_) rows_.ids.insert(rows_.ids.end(), rows.ids.begin(), rows.ids.end());
  }

  // The rows; of a sparse block `columns` is the number of features, if known yet.
  Dataset take() {
    rows_.groups.values = groups_.names();
    sparse_.columns = schema_.feature_names.size();
    if (schema_.sparse) {
      rows_.features = std::move(sparse_);
    } else {
      rows_.features = std::move(dense_);
    }
    return std::move(rows_);
  }

 private:
  friend class TableBuilder;
  const TableSchema& schema_;
  Dataset rows_;
  DenseRows dense_;
  Csr sparse_;
  NameTable groups_;
  std::vector<std::uint32_t> code_of_;  // per name of the rows that come
  bool labels_, ids_;
};

template <class T>
void append(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// Puts blocks together into one table.
class TableBuilder {
 public:
  explicit TableBuilder(const TableSchema& schema)
      : schema_(schema), dense_(schema.sparse ? 0 : schema.feature_names.size()) {}

  void add(BlockSink& block) {
    if (schema_.sparse) {
      const auto base = static_cast<std::int64_t>(sparse_.values.size());
      append(sparse_.index, block.sparse_.index);
      append(sparse_.values, block.sparse_.values);
      for (std::size_t i = 1; i < block.sparse_.start.size(); ++i) {
        sparse_.start.push_back(base + block.sparse_.start[i]);
      }
      for (const std::int32_t i : block.sparse_.index)
        width_ = std::max(width_, static_cast<std::size_t>(i) + 1);
    } else if (block.dense_.rows() > 0) {
      std::memcpy(dense_.append(block.dense_.rows()), block.dense_.row(0).data(),
                  block.dense_.rows() * dense_.columns() * sizeof(double));
    }
    std::vector<std::uint32_t> to(block.groups_.size());
    for (std::size_t k = 0; k < to.size(); ++k)
      to[k] = groups_.number(block.groups_.name(k), block.groups_.hash_of(k));
    for (const std::uint32_t code : block.rows_.groups.codes) out_.groups.codes.push_back(to[code]);
    append(out_.shares, block.rows_.shares);
    append(out_.bounds, block.rows_.bounds);
    append(out_.labels, block.rows_.labels);
    append(out_.ids, block.rows_.ids);
  }

  // What the rows take.
  [[nodiscard]] double bytes() const {
    return static_cast<double>(dense_.rows() * dense_.columns() * sizeof(double) +
                               sparse_.values.size() * (sizeof(double) + sizeof(std::int32_t)));
  }

  Dataset take() {
    out_.feature_names = schema_.feature_names;
    if (schema_.sparse && out_.feature_names.empty()) {
      for (std::size_t i = 1; i <= width_; ++i) out_.feature_names.push_back(fmt::format("{}", i));
    }
    out_.groups.values = groups_.names();
    if (schema_.sparse) {
      sparse_.columns = out_.feature_names.size();
      out_.features = std::move(sparse_);
    } else {
      dense_.shrink_to_fit();
      out_.features = std::move(dense_);
    }
    return std::move(out_);
  }

 private:
  const TableSchema& schema_;
  Dataset out_;
  DenseRows dense_;
  Csr sparse_;
  std::size_t width_ = 0;
  NameTable groups_;
};

}  // namespace

void RowSink::add_rows(const TableRows& rows) {
  TableRow row;
  for (std::size_t i = 0; i < rows.values.rows; ++i) {
    row.values = rows.values.row(i);
    if (!rows.groups.empty()) row.group = rows.group_names[rows.groups[i]];
    if (!rows.shares.empty()) row.share = rows.shares[i];
    if (!rows.bounds.empty()) row.bound = rows.bounds[i];
    if (!rows.labels.empty()) row.label = rows.labels[i];
    if (!rows.ids.empty()) row.id = rows.ids[i];
    row.line = rows.line + i;
    add(row);
  }
}

Result<Dataset> read_table(const TableSource& source, const TableOptions& options, const Observer& observer) {
  auto file = internal::TableReader::open(source, options, internal::Purpose::kReadWhole, observer);
  if (!file) return file.error();
  const TableSchema& schema = (*file)->schema();
  const unsigned threads = options.threads == 0 ? default_threads() : options.threads;
  TableBuilder builder(schema);
  MemoryMeter meter("the rows of this table",
                    "use a method that needs sums per bag alone or reads rows in passes "
                    "(docs/guide/scale.md), or take fewer rows or features");
  auto rows = (*file)->read(
      std::min(threads, kMostThreadsInMemory),
      [&]() -> std::unique_ptr<RowSink> { return std::make_unique<BlockSink>(schema, options); },
      [&](std::unique_ptr<RowSink> sink, const BlockPlace& at) -> Result<void> {
        builder.add(static_cast<BlockSink&>(*sink));
        if (auto fits = meter.hold(builder.bytes()); !fits)
          return Error{fits.error().message, std::string(at.file)};
        return {};
      },
      observer);
  if (!rows) return rows.error();
  return builder.take();
}

Result<TableSchema> stream_table(const TableSource& source, const TableOptions& options,
                                 const std::function<Result<void>(TableBlock&&)>& consume,
                                 const Observer& observer) {
  auto file = internal::TableReader::open(source, options, internal::Purpose::kRead, observer);
  if (!file) return file.error();
  const TableSchema& schema = (*file)->schema();
  auto rows = (*file)->read(
      options.threads,
      [&]() -> std::unique_ptr<RowSink> { return std::make_unique<BlockSink>(schema, options); },
      [&](std::unique_ptr<RowSink> sink, const BlockPlace& at) -> Result<void> {
        if (at.rows == 0) return {};
        TableBlock block{static_cast<BlockSink&>(*sink).take(), at.first_row, at.first_line,
                         std::string(at.file)};
        block.rows.feature_names = schema.feature_names;
        return consume(std::move(block));
      },
      observer);
  if (!rows) return rows.error();
  return schema;
}

Result<TableSchema> map_table(const TableSource& source, const TableOptions& options,
                              const ParallelTable& work, const Observer& observer) {
  auto file = internal::TableReader::open(source, options, internal::Purpose::kRead, observer);
  if (!file) return file.error();
  if (auto begun = work.begin((*file)->schema()); !begun) return begun.error();
  if (auto rows = (*file)->read(options.threads, work.make, work.fold, observer); !rows) return rows.error();
  return (*file)->schema();
}

}  // namespace bagwise
