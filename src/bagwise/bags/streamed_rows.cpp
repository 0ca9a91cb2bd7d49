#include "bagwise/bags/streamed_rows.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "bagwise/data/csv_records.h"

namespace bagwise {
namespace {

// Takes the rows of a block up and hands them on some at a time, so that they are worked on by the thread
// that parsed them and while they are in its cache.
class BlockSink final : public RowSink {
 public:
  struct Unknown {
    std::string bag;
    std::uint64_t line = 0;  // within the block
  };

  BlockSink(const TableSchema& schema, const NameTable& bags, const RowStream::Work& work)
      : schema_(schema),
        bags_(bags),
        work_(work),
        dense_(schema.feature_names.size()),
        most_(std::clamp<std::size_t>(kValues / std::max<std::size_t>(1, schema.feature_names.size()), kFew,
                                      kMany)) {
    sparse_.columns = schema.feature_names.size();
  }

  void add(const TableRow& row) override {
    if (unknown) return;
    // Rows of one bag often follow each other: then the name need not be looked up.
    if (last_ >= bags_.size() || row.group != bags_.name(last_)) {
      last_ = bags_.find(row.group);
      if (last_ == bags_.size()) {
        unknown = Unknown{std::string(row.group), row.line};
        return;
      }
    }
    bag_of_row_.push_back(static_cast<std::uint32_t>(last_));
    if (schema_.has_bounds) bounds_.push_back(row.bound);
    if (schema_.sparse) {
      sparse_.index.insert(sparse_.index.end(), row.index.begin(), row.index.end());
      sparse_.values.insert(sparse_.values.end(), row.values.begin(), row.values.end());
      sparse_.start.push_back(static_cast<std::int64_t>(sparse_.values.size()));
    } else {
      std::copy(row.values.begin(), row.values.end(), dense_.append(1));
    }
    if (bag_of_row_.size() >= (schema_.sparse ? kMany : most_)) hand_on();
  }

  void end() override {
    if (!bag_of_row_.empty() && !unknown) hand_on();
  }

  std::vector<RowStream::Part> parts;
  std::optional<Unknown> unknown;

 private:
  // Rows at a time: as many as fill a part of the second-level cache.
  static constexpr std::size_t kValues = 32768, kFew = 128, kMany = 1024;

  void hand_on() {
    RowsView rows = dense_.view();
    if (schema_.sparse) rows = sparse_.view();
    parts.push_back(work_({rows, bag_of_row_, bounds_}));
    dense_ = DenseRows(dense_.columns());
    sparse_.start = {0};
    sparse_.index.clear();
    sparse_.values.clear();
    bag_of_row_.clear();
    bounds_.clear();
  }

  const TableSchema& schema_;
  const NameTable& bags_;
  const RowStream::Work& work_;
  std::size_t last_ = std::size_t(-1);
  DenseRows dense_;
  Csr sparse_;
  std::vector<std::uint32_t> bag_of_row_;
  std::vector<double> bounds_;
  std::size_t most_;
};

Error changed(const std::string& path, const std::string& how) {
  return {
      fmt::format("{} since the file was read before; expected it to stay as it is while it is used", how),
      path};
}

}  // namespace

std::vector<std::string> StreamedRows::paths() const {
  std::vector<std::string> out;
  for (const TablePart& part : source_.parts) {
    if (!part.empty()) out.push_back(part.path);
  }
  return out;
}

Result<StreamedRows::Stamp> StreamedRows::stamp_of(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0)
    return Error{fmt::format("cannot be read again: {}", std::strerror(errno)), path};
  if (!S_ISREG(found.st_mode))
    return Error{"can be read only once; expected a file, as its rows are read again in every round", path};
  return Stamp{static_cast<std::uint64_t>(found.st_size), found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
}

Result<std::unique_ptr<StreamedRows>> StreamedRows::open(TableSource source, TableOptions options,
                                                         std::vector<std::string> features,
                                                         const std::vector<std::string>& bags) {
  auto out = std::make_unique<StreamedRows>(Key{});
  out->source_ = std::move(source);
  out->options_ = std::move(options);
  out->options_.want_groups = true;
  out->options_.want_labels = false;
  out->options_.want_ids = false;
  out->features_ = std::move(features);
  for (const std::string& bag : bags) out->bags_.number(bag);
  for (const std::string& path : out->paths()) {
    auto stamp = stamp_of(path);
    if (!stamp) return stamp.error();
    out->stamps_.push_back(*stamp);
  }
  return out;
}

Result<void> StreamedRows::check_stamps() const {
  const std::vector<std::string> all = paths();
  for (std::size_t k = 0; k < all.size(); ++k) {
    const auto now = stamp_of(all[k]);
    if (!now) return now.error();
    if (*now == stamps_[k]) continue;
    return changed(all[k], now->bytes == stamps_[k].bytes
                               ? "was written to"
                               : fmt::format("has {} bytes and had {}", now->bytes, stamps_[k].bytes));
  }
  return {};
}

Result<void> StreamedRows::pass(const Work& work, const Fold& fold, unsigned threads,
                                const Observer& observer) {
  if (auto same = check_stamps(); !same) return same;
  TableOptions options = options_;
  options.threads = threads;
  TableSchema schema;
  std::uint64_t rows = 0;
  ParallelTable table;
  table.begin = [&](const TableSchema& found) -> Result<void> {
    schema = found;
    if (found.feature_names != features_) {
      return changed(source_.name(), fmt::format("has {} features, which are not the {} it had",
                                                 found.feature_names.size(), features_.size()));
    }
    return {};
  };
  table.make = [&]() -> std::unique_ptr<RowSink> { return std::make_unique<BlockSink>(schema, bags_, work); };
  table.fold = [&](std::unique_ptr<RowSink> sink, const BlockPlace& at) -> Result<void> {
    auto& block = static_cast<BlockSink&>(*sink);
    if (block.unknown) {
      return Error{fmt::format("bag {} is not among the {} bags known; expected a bag that has a proportion",
                               shown_text(block.unknown->bag), bags_.size()),
                   std::string(at.file), at.first_line + block.unknown->line, options_.group_column};
    }
    for (Part& part : block.parts) fold(std::move(part));
    rows += at.rows;
    return {};
  };
  if (auto read = map_table(source_, options, table, observer); !read) return read.error();
  if (auto same = check_stamps(); !same) return same;
  if (counted_ && rows != rows_)
    return changed(source_.name(), fmt::format("has {} rows and had {}", rows, rows_));
  counted_ = true;
  rows_ = rows;
  return {};
}

}  // namespace bagwise
