#include "bagwise/bags/reduce_table.h"

#include <fmt/format.h>

#include <atomic>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "bagwise/bags/feature_moments.h"
#include "bagwise/core/memory_budget.h"
#include "bagwise/data/csv_records.h"
#include "bagwise/data/name_table.h"

namespace bagwise {
namespace {

BagSums::Layout layout_of(const TableSchema& schema) {
  return BagSums::layout_for(schema.sparse, schema.feature_names.size());
}

// The sums of one block: only bags that occur in it.
class SumsSink final : public RowSink {
 public:
  SumsSink(const TableSchema& schema, const ReduceOptions& options)
      : sums(0, schema.feature_names.size(), layout_of(schema)),
        moments(options.moments ? schema.feature_names.size() : 0),
        schema_(schema),
        options_(options) {}

  void add(const TableRow& row) override {
    // Rows of one bag often follow each other: then the name need not be looked up.
    const std::uint64_t hash = NameTable::hash(row.group);
    if (hash != last_hash_ || names.size() == 0 || row.group != names.name(last_)) find_bag(row, hash);
    if (schema_.has_shares && row.share != shares[last_].value && !conflict) {
      conflict = Conflict{last_, row.share, shares[last_].value, row.line};
    }
    const double bound = schema_.has_bounds ? row.bound : options_.bound;
    if (schema_.sparse) {
      sums.add_sparse_row(last_, row.index, row.values, bound);
      if (options_.moments) moments.add_sparse_row(row.index, row.values);
    } else {
      sums.add_row(last_, row.values, bound);
      if (options_.moments) moments.add_row(row.values);
    }
  }

  // A binary table names its bags once per block: no text is looked at for a row.
  void add_rows(const TableRows& rows) override {
    constexpr auto kUnseen = std::numeric_limits<std::uint32_t>::max();
    if (!rows.more) bag_of_.assign(rows.group_names.size(), kUnseen);
    bags_.resize(rows.values.rows);
    for (std::size_t i = 0; i < bags_.size(); ++i) {
      std::uint32_t& bag = bag_of_[rows.groups[i]];
      const double share = rows.shares.empty() ? 0 : rows.shares[i];
      if (bag == kUnseen) {
        bag = names.number(rows.group_names[rows.groups[i]]);
        if (schema_.has_shares && bag >= shares.size()) shares.push_back({share, rows.line + i});
      }
      if (schema_.has_shares && share != shares[bag].value && !conflict)
        conflict = Conflict{bag, share, shares[bag].value, rows.line + i};
      bags_[i] = bag;
    }
    sums.grow(names.size());
    sums.add_rows(bags_, rows.values, rows.bounds, options_.bound);
    if (options_.moments) moments.add_rows(rows.values);
  }

  struct Share {
    double value = 0;
    std::uint64_t line = 0;  // within the block, where the bag first occurs
  };
  struct Conflict {
    std::uint32_t bag = 0;
    double found = 0, expected = 0;
    std::uint64_t line = 0;
  };
  NameTable names;
  std::vector<Share> shares;  // per bag, if the table has them
  std::optional<Conflict> conflict;
  BagSums sums;
  FeatureMoments moments;

 private:
  void find_bag(const TableRow& row, std::uint64_t hash) {
    last_ = names.number(row.group, hash);
    last_hash_ = hash;
    if (last_ < sums.bags()) return;
    sums.grow(std::size_t{last_} + 1);
    if (schema_.has_shares) shares.push_back({row.share, row.line});
  }

  const TableSchema& schema_;
  const ReduceOptions& options_;
  std::uint32_t last_ = 0;
  std::uint64_t last_hash_ = 0;
  std::vector<std::uint32_t> bag_of_;  // per name of the rows that come
  std::vector<std::uint32_t> bags_;    // of these rows
};

Error not_constant(std::string_view file, std::uint64_t line, const TableOptions& options,
                   std::string_view bag, double found, double expected) {
  return {fmt::format("bag {} has proportion {} here but {} before; expected one proportion per bag",
                      shown_text(bag), found, expected),
          std::string(file), line, options.share_column};
}

}  // namespace

Result<GroupedSums> reduce_table(const TableSource& source, const TableOptions& options,
                                 const ReduceOptions& reduce, const Observer& observer) {
  TableOptions wanted = options;
  wanted.want_groups = true;
  wanted.want_labels = false;
  wanted.want_ids = false;

  GroupedSums out;
  NameTable names;
  std::vector<std::uint32_t> to;
  MemoryMeter meter("the sums per bag",
                    "give the table in a sparse form (docs/guide/files.md), or take fewer bags or features");
  ParallelTable work;
  work.begin = [&](const TableSchema& schema) -> Result<void> {
    out.schema = schema;
    out.one_hot = options.one_hot;
    out.missing = options.missing;
    out.has_moments = reduce.moments;
    out.origins = {source.name()};
    out.sums = BagSums(0, schema.feature_names.size(), layout_of(schema));
    out.moments = FeatureMoments(reduce.moments ? schema.feature_names.size() : 0);
    return {};
  };
  // A block has about as many bags as the one before: room for them at once saves copying as they come.
  std::atomic<std::size_t> expected_bags = 0;
  work.make = [&]() -> std::unique_ptr<RowSink> {
    auto sink = std::make_unique<SumsSink>(out.schema, reduce);
    sink->sums.reserve(expected_bags);
    return sink;
  };
  work.fold = [&](std::unique_ptr<RowSink> sink, const BlockPlace& at) -> Result<void> {
    const auto& block = static_cast<const SumsSink&>(*sink);
    to.resize(block.names.size());
    expected_bags = to.size();
    auto conflict = block.conflict;  // the first of the block: within it, or with an earlier one
    for (std::size_t k = 0; k < to.size(); ++k) {
      to[k] = names.number(block.names.name(k), block.names.hash_of(k));
      if (!out.schema.has_shares) continue;
      const SumsSink::Share& share = block.shares[k];
      if (to[k] == out.shares.size()) {
        out.shares.push_back(share.value);
      } else if (share.value != out.shares[to[k]] && (!conflict || share.line < conflict->line)) {
        conflict =
            SumsSink::Conflict{static_cast<std::uint32_t>(k), share.value, out.shares[to[k]], share.line};
      }
    }
    if (conflict) {
      return not_constant(at.file, at.first_line + conflict->line, options, block.names.name(conflict->bag),
                          conflict->found, conflict->expected);
    }
    if (out.sums.layout() == BagSums::Layout::kDense) {
      const double bytes = 2.0 * sizeof(double) * static_cast<double>(names.size() * out.sums.features());
      if (auto fits = meter.hold(bytes); !fits) return Error{fits.error().message, std::string(at.file)};
    }
    out.sums.grow(names.size());
    out.sums.merge(block.sums, to);
    if (reduce.moments) out.moments.merge(block.moments);
    out.rows += at.rows;
    return {};
  };
  if (auto schema = map_table(source, wanted, work, observer); !schema) return schema.error();
  out.names = names.names();
  out.origin_of_bag.assign(out.names.size(), 0);
  return out;
}

}  // namespace bagwise
