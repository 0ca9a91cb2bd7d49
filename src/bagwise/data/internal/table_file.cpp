#include "bagwise/data/internal/table_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "bagwise/data/internal/byte_source.h"
#include "bagwise/data/internal/csv_cell.h"
#include "bagwise/data/internal/csv_parser.h"
#include "bagwise/data/internal/scout.h"
#include "bagwise/data/internal/svmlight_parser.h"

namespace bagwise::internal {
namespace {

bool is_svmlight(const std::string& path) {
  const std::string name = name_without_packing(path);
  return name.ends_with(".svm") || name.ends_with(".libsvm");
}

// Opens the chunks of a file and takes the first; an empty file is an error.
Result<std::unique_ptr<Chunks>> open_chunks(const std::string& path, Chunks::Quotes quotes,
                                            const TableOptions& options, const char* expected, Chunk& first,
                                            const Observer& observer) {
  const Waiting waiting = telling(observer);
  auto source = ByteSource::open(path, waiting);
  if (!source) return source.error();
  auto chunks =
      std::make_unique<Chunks>(std::move(*source), quotes, ChunkSizes{.chunk = options.block_bytes});
  auto got = chunks->next(first, waiting);
  if (!got) return got.error();
  if (!*got) return Error{fmt::format("is empty; expected {}", expected), path};
  return chunks;
}

// The largest feature of the rows of a block.
class WidthSink final : public RowSink {
 public:
  void add(const TableRow& row) override {
    if (!row.index.empty()) width = std::max(width, row.index.back() + 1);
  }
  std::int32_t width = 0;
};

// The first pass over a sparse table: how many features there are.
Result<std::int32_t> scout_width(const std::string& path, const TableOptions& options,
                                 const SvmlightLayout& layout, const Observer& observer) {
  if (!can_read_twice(path)) {
    return Error{
        "a sparse table is read twice to count its features; expected a plain file rather than a pipe", path};
  }
  Chunk first;
  auto chunks = open_chunks(path, Chunks::Quotes::kIgnore, options, "at least one row", first, observer);
  if (!chunks) return chunks.error();
  const SvmlightParser parser(layout);
  std::int32_t width = 0;
  const PipelineWork work{.file = path,
                          .phase = "scanning",
                          .threads = options.threads,
                          .make = []() -> std::unique_ptr<RowSink> { return std::make_unique<WidthSink>(); },
                          .fold = [&](std::unique_ptr<RowSink> sink, const BlockPlace&) -> Result<void> {
                            width = std::max(width, static_cast<WidthSink&>(*sink).width);
                            return {};
                          }};
  auto rows = run_pipeline(**chunks, std::move(first), parser, work, observer);
  if (!rows) return rows.error();
  return width;
}

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

}  // namespace

Result<std::unique_ptr<TableFile>> TableFile::open(const std::string& path, const TableOptions& options,
                                                   Width width, const Observer& observer) {
  auto file = std::make_unique<TableFile>();
  file->path_ = path;
  auto opened =
      is_svmlight(path) ? file->open_svmlight(options, width, observer) : file->open_csv(options, observer);
  if (!opened) return opened.error();
  return file;
}

Result<void> TableFile::open_csv(const TableOptions& options, const Observer& observer) {
  auto chunks = open_chunks(path_, Chunks::Quotes::kRespect, options,
                            "a header line with the names of the columns", first_, observer);
  if (!chunks) return chunks.error();
  chunks_ = std::move(*chunks);
  auto header = read_csv_header(path_, first_, header_lines_);
  if (!header) return header.error();
  auto layout = plan_csv(path_, *header, options);
  if (!layout) return layout.error();
  csv_ = std::move(*layout);
  if (csv_.needs_scout) {
    if (auto done = scout_csv(path_, options, csv_, observer); !done) return done.error();
  }
  schema_ = csv_.schema;
  parser_ = std::make_unique<CsvParser>(csv_);
  return {};
}

Result<void> TableFile::open_svmlight(const TableOptions& options, Width width, const Observer& observer) {
  if (!options.one_hot.empty()) {
    return Error{"--one-hot needs columns of text; a sparse table has numbers only", path_};
  }
  for (const RoleName& role : role_names(options)) {
    if (role.is_default) continue;
    return Error{fmt::format("there is no column {}, which {} names; a sparse table has no named columns",
                             shown(*role.name), role.option),
                 path_};
  }
  auto chunks = open_chunks(path_, Chunks::Quotes::kIgnore, options, "at least one row", first_, observer);
  if (!chunks) return chunks.error();
  chunks_ = std::move(*chunks);

  SvmlightLayout layout;
  layout.groups = options.want_groups || first_row_has_group(first_, false);
  layout.want_labels = options.want_labels;
  schema_.sparse = true;
  schema_.has_groups = layout.groups;
  schema_.has_labels = true;
  const auto& wanted = options.expected_features.empty() ? options.features : options.expected_features;
  if (!wanted.empty()) {
    if (auto done = renumber(path_, wanted, layout); !done) return done.error();
    schema_.feature_names = wanted;
  } else if (width == Width::kNeeded || !options.exclude.empty()) {
    auto count = scout_width(path_, options, layout, observer);
    if (!count) return count.error();
    std::vector<bool> out(static_cast<std::size_t>(*count), false);
    for (const std::string& name : options.exclude) {
      const auto index = static_cast<std::size_t>(svmlight_index(name));
      if (index < 1 || index > out.size()) {
        return Error{fmt::format("there is no feature {}, which --exclude names; there are 1 to {}",
                                 shown(name), out.size()),
                     path_};
      }
      out[index - 1] = true;
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (!out[i]) schema_.feature_names.push_back(fmt::format("{}", i + 1));
    }
    if (!options.exclude.empty()) {
      if (auto done = renumber(path_, schema_.feature_names, layout); !done) return done.error();
    }
  }
  parser_ = std::make_unique<SvmlightParser>(std::move(layout));
  return {};
}

Result<std::uint64_t> TableFile::read(
    unsigned threads, const std::function<std::unique_ptr<RowSink>()>& make,
    const std::function<Result<void>(std::unique_ptr<RowSink>, const BlockPlace&)>& fold,
    const Observer& observer) {
  const PipelineWork work{
      .file = path_, .threads = threads, .first_line = header_lines_ + 1, .make = make, .fold = fold};
  auto rows = run_pipeline(*chunks_, std::move(first_), *parser_, work, observer);
  if (rows && *rows == 0) {
    return Error{schema_.sparse ? "has no rows; expected at least one"
                                : "has a header but no rows; expected at least one",
                 path_};
  }
  return rows;
}

}  // namespace bagwise::internal
