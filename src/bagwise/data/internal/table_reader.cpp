#include "bagwise/data/internal/table_reader.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "bagwise/data/internal/binary_format.h"
#include "bagwise/data/internal/binary_part.h"
#include "bagwise/data/internal/byte_source.h"
#include "bagwise/data/internal/mapped_file.h"
#include "bagwise/data/internal/npy_header.h"
#include "bagwise/data/internal/npy_part.h"
#include "bagwise/data/internal/text_part.h"
#include "bagwise/data/table_scout.h"

namespace bagwise::internal {
namespace {

// Files are looked at before they are read; what changed meanwhile must not be taken for the same table.
Result<void> check_same(const TableSchema& first, const PartReader& part) {
  const TableSchema& now = part.schema;
  const bool same = first.feature_names == now.feature_names && first.sparse == now.sparse &&
                    first.has_groups == now.has_groups && first.has_shares == now.has_shares &&
                    first.has_bounds == now.has_bounds;
  if (same) return {};
  return Error{"has other columns than when it was looked at; expected a file that nobody changes meanwhile",
               part.file};
}

Error no_rows(const TableSource& source, bool sparse) {
  const bool header = !sparse && source.parts.size() == 1;
  return {header ? "has a header but no rows; expected at least one" : "has no rows; expected at least one",
          source.name()};
}

constexpr std::string_view kSumsMark = "bagsums";  // of what `bagwise reduce` writes

}  // namespace

Result<std::shared_ptr<PartReader>> open_part(const TablePart& part, const TableOptions& options,
                                              Purpose purpose, const Waiting& waiting) {
  const auto start = first_bytes(part.path, kBinaryMark.size());
  if (!start) return start.error();
  if (*start == kBinaryMark) return open_binary_part(part, options, purpose);
  if (start->starts_with(kNpyMark)) return open_npy_part(part, options, purpose);
  const std::string name = name_without_packing(part.path);
  if (start->starts_with(kSumsMark))
    return Error{"is a file of bag sums; expected rows (--target-sums takes such files)", part.path};
  if (can_read_twice(part.path) && (name.ends_with(".bw") || name.ends_with(".npy"))) {
    if (name.size() < part.path.size())
      return Error{"is packed; binary tables and NumPy files are read as they are, expected it unpacked",
                   part.path};
    return Error{name.ends_with(".bw") ? "is not a binary table, though its name ends in .bw"
                                       : "is not a NumPy file, though its name ends in .npy",
                 part.path};
  }
  return open_text_part(part, options, purpose, waiting);
}

std::uint64_t total_bytes(const TableSource& source) {
  std::uint64_t total = 0;
  for (const TablePart& part : source.parts) {
    struct stat info {};
    if (stat(part.path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return 0;
    const std::uint64_t end = std::min(part.to, static_cast<std::uint64_t>(info.st_size));
    total += part.from < end ? end - part.from : 0;
  }
  return total;
}

NextPiece pieces_of(const TableSource& source, const TableOptions& options, Purpose purpose,
                    std::shared_ptr<PartReader> first) {
  struct State {
    std::size_t opened = 0;  // parts
    std::shared_ptr<PartReader> part;
    TableSchema schema;
    std::uint64_t before = 0, consumed = 0;  // bytes of earlier parts; of this one
  };
  auto state = std::make_shared<State>();
  if (first) {
    state->opened = 1;
    state->schema = first->schema;
    state->part = std::move(first);
  }
  return [&source, &options, purpose, state](Piece& out, const Waiting& waiting) -> Result<bool> {
    for (;;) {
      if (state->part) {
        auto got = state->part->next(out.chunk, waiting);
        if (!got) return got.error();
        if (*got) {
          state->consumed = out.chunk.consumed;
          out.chunk.consumed += state->before;
          out.part = state->part;
          return true;
        }
        state->part.reset();
      }
      if (state->opened == source.parts.size()) return false;
      auto next = open_part(source.parts[state->opened], options, purpose, waiting);
      if (!next) return next.error();
      if (state->opened == 0) {
        state->schema = (*next)->schema;
      } else if (purpose != Purpose::kScout) {
        if (auto same = check_same(state->schema, **next); !same) return same.error();
      }
      ++state->opened;
      state->before += std::exchange(state->consumed, 0);
      state->part = std::move(*next);
    }
  };
}

Result<std::unique_ptr<TableReader>> TableReader::open(const TableSource& source, const TableOptions& options,
                                                       Purpose purpose, const Observer& observer) {
  if (source.parts.empty()) return Error{"no table is named; expected at least one file"};
  auto reader = std::make_unique<TableReader>();
  reader->source_ = source;
  reader->options_ = options;
  reader->purpose_ = purpose;
  const Waiting waiting = telling(observer);
  const bool several = source.parts.size() > 1 && !options.settled && options.expected_features.empty();
  bool scout = several;
  if (!several) {
    auto first = open_part(source.parts[0], options, purpose, waiting);
    if (!first) return first.error();
    reader->first_ = std::move(*first);
    scout = reader->first_->needs_scout;
  }
  if (scout) {
    reader->first_.reset();
    auto found = scout_table(source, options, observer);
    if (!found) return found.error();
    if (found->rows == 0 && found->looked_at_rows && !source.share) return no_rows(source, found->sparse);
    auto now = settled(options, *found);
    if (!now) return now.error();
    reader->options_ = std::move(*now);
    auto first = open_part(source.parts[0], reader->options_, purpose, waiting);
    if (!first) return first.error();
    reader->first_ = std::move(*first);
  }
  reader->schema_ = reader->first_->schema;
  return reader;
}

Result<std::uint64_t> TableReader::read(
    unsigned threads, const std::function<std::unique_ptr<RowSink>()>& make,
    const std::function<Result<void>(std::unique_ptr<RowSink>, const BlockPlace&)>& fold,
    const Observer& observer) {
  const PipelineWork work{
      .file = source_.name(), .threads = threads, .total = total_bytes(source_), .make = make, .fold = fold};
  auto rows = run_pipeline(pieces_of(source_, options_, purpose_, std::move(first_)), work, observer);
  if (rows && *rows == 0 && !source_.share) {
    return no_rows(source_, schema_.sparse);
  }
  return rows;
}

}  // namespace bagwise::internal
