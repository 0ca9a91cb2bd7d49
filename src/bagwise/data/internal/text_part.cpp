#include "bagwise/data/internal/text_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "bagwise/data/internal/chunks.h"
#include "bagwise/data/internal/csv_cell.h"
#include "bagwise/data/internal/csv_parser.h"
#include "bagwise/data/internal/row_ranges.h"
#include "bagwise/data/internal/svmlight_parser.h"

namespace bagwise::internal {
namespace {

bool is_svmlight(const std::string& path) {
  const std::string name = name_without_packing(path);
  return name.ends_with(".svm") || name.ends_with(".libsvm");
}

// The pieces of a text file, of which the first is looked at when it is opened.
class TextPieces {
 public:
  explicit TextPieces(Chunks::Quotes quotes) : quotes_(quotes) {}

  // Takes the first piece of the file itself, whatever the range; an empty file is an error.
  Result<void> open(const TablePart& part, const TableOptions& options, const char* expected,
                    const Waiting& waiting) {
    part_ = part;
    sizes_ = {.chunk = options.block_bytes};
    auto source = ByteSource::open(part.path, waiting);
    if (!source) return source.error();
    total = (*source)->total();
    if (!part.whole() && !part.empty() && !(*source)->plain()) {
      return Error{"is packed or a pipe, and cannot be read in parts; expected a plain file", part.path};
    }
    // At least the first line is read: it may be the header.
    const std::uint64_t limit = std::max<std::uint64_t>(part.empty() ? 0 : part.to, 1);
    chunks_ = std::make_unique<Chunks>(std::move(*source), quotes_, sizes_, limit);
    auto got = chunks_->next(first, waiting);
    if (!got) return got.error();
    if (!*got) return Error{fmt::format("is empty; expected {}", expected), part.path};
    return {};
  }

  // `first` begins behind the header now, which had so many bytes and lines.
  void skip_header(std::uint64_t bytes, std::uint64_t lines) {
    header_bytes_ = bytes;
    first_line_ = lines + 1;
  }

  // Takes the next piece in place of the first, which has no row; false if there is none.
  Result<bool> drop_first(const Waiting& waiting) {
    Chunk after;
    auto got = chunks_->next(after, waiting);
    if (!got || !*got) return got;
    first_line_ += static_cast<std::uint64_t>(std::count(first.begin, first.end, '\n'));
    chunks_->recycle(std::move(first));
    first = std::move(after);
    return true;
  }

  // The next piece of the range. Its first row is looked for when the first piece is asked for: who looks at
  // the header alone need not wait for that. `first_line` becomes the line of that row.
  Result<bool> next(Chunk& out, std::uint64_t& first_line, const Waiting& waiting) {
    if (!started_) {
      if (auto gone = go_to_first_row(waiting); !gone) return gone.error();
      started_ = true;
      first_line = first_line_;
    }
    if (done_) return false;
    if (first.begin != first.end) {
      out = std::move(first);
      first = {};
      return true;
    }
    return chunks_->next(out, waiting);
  }
  void recycle(Chunk&& chunk) { chunks_->recycle(std::move(chunk)); }

  Chunk first;
  std::uint64_t total = 0;

 private:
  Result<void> go_to_first_row(const Waiting& waiting) {
    done_ = part_.empty();
    if (done_ || part_.from <= header_bytes_) return {};
    chunks_.reset();
    first = {};
    auto start = find_row(part_.path, part_.from, quotes_ == Chunks::Quotes::kRespect, waiting);
    if (!start) return start.error();
    first_line_ = start->line;
    done_ = start->offset >= part_.to;
    if (done_) return {};
    auto source = ByteSource::open_at(part_.path, start->offset, waiting);
    if (!source) return source.error();
    const std::uint64_t limit = part_.to == kToEnd ? kToEnd : part_.to - start->offset;
    chunks_ = std::make_unique<Chunks>(std::move(*source), quotes_, sizes_, limit);
    return {};
  }

  Chunks::Quotes quotes_;
  TablePart part_;
  ChunkSizes sizes_;
  std::uint64_t header_bytes_ = 0, first_line_ = 1;
  std::unique_ptr<Chunks> chunks_;
  bool started_ = false, done_ = false;
};

class CsvPart final : public ColumnPart {
 public:
  Result<void> open(const TablePart& part, const TableOptions& options, Purpose purpose,
                    const Waiting& waiting) {
    file = part.path;
    auto opened = pieces_.open(part, options, "a header line with the names of the columns", waiting);
    if (!opened) return opened;
    total = pieces_.total;
    const char* const begin = pieces_.first.begin;
    std::uint64_t lines = 0;
    auto header = read_csv_header(file, pieces_.first, lines);
    if (!header) return header.error();
    auto planned = plan_csv(file, *header, options);
    if (!planned) return planned.error();
    layout = std::move(*planned);
    needs_scout = layout.needs_scout;
    schema = layout.schema;
    if (purpose == Purpose::kScout) layout = for_scouting(std::move(layout));
    pieces_.skip_header(static_cast<std::uint64_t>(pieces_.first.begin - begin), lines);
    return {};
  }

  Result<bool> next(Chunk& out, const Waiting& waiting) override {
    return pieces_.next(out, first_line, waiting);
  }
  void recycle(Chunk&& chunk) override { pieces_.recycle(std::move(chunk)); }
  ParsedChunk parse(const Chunk& chunk, RowSink& sink) const override {
    return CsvParser(layout).parse(chunk, sink);
  }

 private:
  TextPieces pieces_{Chunks::Quotes::kRespect};
};

// Takes exactly the features called `wanted`, in that order.
Result<void> renumber(const std::string& path, const std::vector<std::string>& wanted,
                      SvmlightLayout& layout) {
  layout.renumber = true;
  for (std::size_t f = 0; f < wanted.size(); ++f) {
    const std::int32_t index = svmlight_index(wanted[f]);
    if (index == 0) {
      return Error{fmt::format("cannot have a feature {}; a sparse table's features are called 1, 2, 3, ... "
                               "up to {}",
                               shown(wanted[f]), kLargestSvmlightIndex),
                   path};
    }
    const auto at = static_cast<std::size_t>(index - 1);
    if (at >= layout.slots.size()) layout.slots.resize(at + 1, -1);
    if (layout.slots[at] >= 0) return Error{fmt::format("feature {} is named twice", shown(wanted[f])), path};
    layout.slots[at] = static_cast<std::int32_t>(f);
  }
  return {};
}

// Whether the first row has a group, however many comments there are before it; false if there is no row.
Result<bool> has_groups(TextPieces& pieces, const Waiting& waiting) {
  for (;;) {
    if (const auto found = first_row_has_group(pieces.first)) return *found;
    auto more = pieces.drop_first(waiting);
    if (!more || !*more) return more;
  }
}

class SvmlightPart final : public PartReader {
 public:
  Result<void> open(const TablePart& part, const TableOptions& options, Purpose purpose,
                    const Waiting& waiting) {
    file = part.path;
    if (!options.one_hot.empty()) {
      return Error{"--one-hot needs columns of text; a sparse table has numbers only", file};
    }
    for (const RoleName& role : role_names(options)) {
      if (role.is_default) continue;
      return Error{fmt::format("there is no column {}, which {} names; a sparse table has no named columns",
                               shown(*role.name), role.option),
                   file};
    }
    if (auto opened = pieces_.open(part, options, "at least one row", waiting); !opened) return opened;
    total = pieces_.total;
    SvmlightLayout layout;
    auto groups = options.want_groups ? Result<bool>(true) : has_groups(pieces_, waiting);
    if (!groups) return groups.error();
    if (!*groups && !part.whole()) {
      // What the file has is not told by a part that is all comments: looked up in the file's own start.
      TextPieces start(Chunks::Quotes::kIgnore);
      if (auto again = start.open({part.path}, options, "at least one row", waiting); !again) return again;
      groups = has_groups(start, waiting);
      if (!groups) return groups.error();
    }
    layout.groups = *groups;
    layout.want_labels = options.want_labels;
    schema.sparse = true;
    schema.has_groups = layout.groups;
    schema.has_labels = true;
    const auto& wanted = options.expected_features.empty() ? options.features : options.expected_features;
    if (!wanted.empty() || options.settled) {
      if (auto done = renumber(file, wanted, layout); !done) return done.error();
      schema.feature_names = wanted;
    } else {
      needs_scout = purpose != Purpose::kReadWhole || !options.exclude.empty();
    }
    parser_ = std::make_unique<SvmlightParser>(std::move(layout));
    return {};
  }

  Result<bool> next(Chunk& out, const Waiting& waiting) override {
    return pieces_.next(out, first_line, waiting);
  }
  void recycle(Chunk&& chunk) override { pieces_.recycle(std::move(chunk)); }
  ParsedChunk parse(const Chunk& chunk, RowSink& sink) const override { return parser_->parse(chunk, sink); }

 private:
  TextPieces pieces_{Chunks::Quotes::kIgnore};
  std::unique_ptr<SvmlightParser> parser_;
};

}  // namespace

CsvLayout for_scouting(CsvLayout layout) {
  layout.scouting = true;
  for (std::size_t s = 0; s < layout.sources.size(); ++s) {
    CsvColumn& column = layout.columns[layout.sources[s]];
    if (column.role == Role::kFeature) column.slot = static_cast<std::uint32_t>(s);
  }
  for (OneHot& one_hot : layout.one_hots) one_hot.slots.clear();
  return layout;
}

Result<std::shared_ptr<PartReader>> open_text_part(const TablePart& part, const TableOptions& options,
                                                   Purpose purpose, const Waiting& waiting) {
  return is_svmlight(part.path) ? opened_as<SvmlightPart>(part, options, purpose, waiting)
                                : opened_as<CsvPart>(part, options, purpose, waiting);
}

}  // namespace bagwise::internal
