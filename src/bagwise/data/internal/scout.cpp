#include "bagwise/data/internal/scout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "bagwise/data/internal/csv_cell.h"
#include "bagwise/data/internal/csv_parser.h"
#include "bagwise/linalg/compensated.h"

namespace bagwise::internal {
namespace {

constexpr std::size_t kMostValues = 65536;  // of one one-hot column: more is an id, not a category

// What is found out about the columns; mergeable.
struct Findings {
  std::vector<CompensatedSum> sums;  // per numeric source
  std::vector<std::uint64_t> counts;
  std::vector<NameTable> texts;  // per one-hot column
  std::vector<std::vector<std::uint64_t>> text_counts;

  Findings(std::size_t numbers, std::size_t one_hots)
      : sums(numbers), counts(numbers, 0), texts(one_hots), text_counts(one_hots) {}

  void add_text(std::size_t k, std::string_view text, std::uint64_t hash, std::uint64_t times) {
    const std::uint32_t value = texts[k].number(text, hash);
    if (value == text_counts[k].size()) text_counts[k].push_back(0);
    text_counts[k][value] += times;
  }
  void merge(const Findings& other) {
    for (std::size_t j = 0; j < sums.size(); ++j) {
      sums[j].add(other.sums[j]);
      counts[j] += other.counts[j];
    }
    for (std::size_t k = 0; k < texts.size(); ++k) {
      for (std::size_t v = 0; v < other.texts[k].size(); ++v) {
        add_text(k, other.texts[k].name(v), other.texts[k].hash_of(v), other.text_counts[k][v]);
      }
    }
  }
};

class FindingsSink final : public ScoutSink {
 public:
  FindingsSink(std::size_t numbers, std::size_t one_hots) : findings(numbers, one_hots) {}
  void add(const TableRow& row) override {
    for (std::size_t j = 0; j < row.values.size(); ++j) {
      if (std::isnan(row.values[j])) continue;
      findings.sums[j].add(row.values[j]);
      ++findings.counts[j];
    }
  }
  void add_text(std::size_t one_hot, std::string_view text) override {
    findings.add_text(one_hot, text, NameTable::hash(text), 1);
  }
  Findings findings;
};

// Gives every source its features and their fill, in order.
Result<void> complete(const std::string& path, bool for_model, const Findings& found, CsvLayout& layout) {
  const bool fill = layout.missing == Missing::kMean;
  TableSchema& schema = layout.schema;
  if (for_model) {
    schema.fill.assign(schema.feature_names.size(), 0);
  } else {
    schema.feature_names.clear();  // known already where there is no one-hot column: given anew, in order
    schema.fill.clear();
  }
  for (std::size_t s = 0; s < layout.sources.size(); ++s) {
    CsvColumn& column = layout.columns[layout.sources[s]];
    const auto empty = [&] {
      return Error{"has no value at all to take a mean of; expected --missing zero or --exclude", path, 0,
                   layout.column_text(layout.sources[s])};
    };
    if (column.role == Role::kFeature) {
      if (!for_model) {
        column.slot = static_cast<std::uint32_t>(schema.feature_names.size());
        schema.feature_names.push_back(column.name);
        if (fill) schema.fill.push_back(0);
      }
      if (!fill) continue;
      if (found.counts[s] == 0) return empty();
      schema.fill[column.slot] = found.sums[s].value() / static_cast<double>(found.counts[s]);
      continue;
    }
    OneHot& one_hot = layout.one_hots[column.slot];
    const NameTable& texts = found.texts[column.slot];
    const auto& counts = found.text_counts[column.slot];
    if (texts.size() == 0) return empty();
    if (!for_model) {
      auto values = texts.names();
      std::sort(values.begin(), values.end());
      for (const std::string& value : values) {
        one_hot.values.number(value);
        one_hot.slots.push_back(static_cast<std::uint32_t>(schema.feature_names.size()));
        schema.feature_names.push_back(column.name + "=" + value);
        if (fill) schema.fill.push_back(0);
      }
    }
    if (!fill) continue;
    const auto all = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
    for (std::size_t v = 0; v < one_hot.slots.size(); ++v) {
      const std::size_t at = texts.find(one_hot.values.name(v));
      schema.fill[one_hot.slots[v]] = at < texts.size() ? static_cast<double>(counts[at]) / all : 0;
    }
  }
  std::set<std::string_view> names;
  for (const std::string& name : schema.feature_names) {
    if (!names.insert(name).second) {
      return Error{fmt::format("--one-hot makes a feature {} though there is one already", shown(name)),
                   path};
    }
  }
  return {};
}

}  // namespace

Result<void> scout_csv(const std::string& path, const TableOptions& options, CsvLayout& layout,
                       const Observer& observer) {
  if (!can_read_twice(path)) {
    return Error{
        "--one-hot and --missing mean read the table twice; expected a plain file rather than a pipe", path};
  }
  const Waiting waiting = telling(observer);
  auto source = ByteSource::open(path, waiting);
  if (!source) return source.error();
  Chunks chunks(std::move(*source), Chunks::Quotes::kRespect, ChunkSizes{.chunk = options.block_bytes});
  Chunk first;
  if (auto got = chunks.next(first, waiting); !got) return got.error();
  std::uint64_t header_lines = 0;
  if (auto header = read_csv_header(path, first, header_lines); !header) return header.error();

  CsvLayout scouting = layout;
  scouting.scouting = true;
  const bool for_model = !options.expected_features.empty();
  for (std::size_t s = 0; s < layout.sources.size(); ++s) {
    CsvColumn& column = scouting.columns[layout.sources[s]];
    if (column.role == Role::kFeature) column.slot = static_cast<std::uint32_t>(s);
  }
  for (OneHot& one_hot : scouting.one_hots) one_hot.slots.clear();
  const CsvParser parser(scouting);
  Findings found(layout.sources.size(), layout.one_hots.size());
  const PipelineWork work{
      .file = path,
      .phase = "scanning",
      .threads = options.threads,
      .first_line = header_lines + 1,
      .make = [&]() -> std::unique_ptr<RowSink> {
        return std::make_unique<FindingsSink>(layout.sources.size(), layout.one_hots.size());
      },
      .fold = [&](std::unique_ptr<RowSink> sink, const BlockPlace&) -> Result<void> {
        found.merge(static_cast<FindingsSink&>(*sink).findings);
        for (const OneHot& one_hot : layout.one_hots) {
          const std::size_t k = layout.columns[one_hot.column].slot;
          if (found.texts[k].size() > kMostValues) {
            return Error{fmt::format("has more than {} different values; expected a category for --one-hot",
                                     kMostValues),
                         path, 0, layout.column_text(one_hot.column)};
          }
        }
        return {};
      }};
  auto rows = run_pipeline(chunks, std::move(first), parser, work, observer);
  if (!rows) return rows.error();
  if (*rows == 0) return Error{"has a header but no rows; expected at least one", path};
  return complete(path, for_model, found, layout);
}

}  // namespace bagwise::internal
