#include "bagwise/data/table_scout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "bagwise/core/limits.h"
#include "bagwise/data/internal/byte_source.h"
#include "bagwise/data/internal/csv_cell.h"
#include "bagwise/data/internal/csv_parser.h"
#include "bagwise/data/internal/svmlight_parser.h"
#include "bagwise/data/internal/table_reader.h"
#include "bagwise/data/internal/text_part.h"
#include "bagwise/data/name_table.h"

namespace bagwise {
namespace {

using internal::shown;

using limits::kMostOneHotValues;

Error too_many_values(const std::string& file, const std::string& column) {
  return {
      fmt::format("has more than {} different values; expected a category for --one-hot", kMostOneHotValues),
      file, 0, column};
}

// What is found out about the columns of one file; mergeable.
struct Findings {
  std::vector<CompensatedSum> sums;  // per numeric source
  std::vector<std::uint64_t> counts;
  std::vector<NameTable> texts;  // per one-hot column
  std::vector<std::vector<std::uint64_t>> text_counts;
  std::int32_t width = 0;  // of sparse rows

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
    width = std::max(width, other.width);
  }
};

class FindingsSink final : public internal::ScoutSink {
 public:
  FindingsSink(std::size_t numbers, std::size_t one_hots) : findings(numbers, one_hots) {}
  void add(const TableRow& row) override {
    if (!row.index.empty()) findings.width = std::max(findings.width, row.index.back() + 1);
    for (std::size_t j = 0; j < findings.sums.size(); ++j) {
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

Error not_twice(const std::string& file, bool sparse, bool several) {
  if (several) {
    return {"several files are looked at before they are read; expected a plain file rather than a pipe",
            file};
  }
  return {sparse ? "a sparse table is read twice to count its features; expected a plain file rather than a "
                   "pipe"
                 : "--one-hot and --missing mean read the table twice; expected a plain file rather than a "
                   "pipe",
          file};
}

// Looks at one file: its header, and all rows if need be.
Result<TableScout> scout_part(const TablePart& part, const TableOptions& options, bool several,
                              const Observer& observer) {
  if (!internal::can_read_twice(part.path)) {
    const std::string name = internal::name_without_packing(part.path);
    return not_twice(part.path, name.ends_with("svm"), several);
  }
  const TableSource source(part.path);
  auto opened = internal::open_part(part, options, internal::Purpose::kScout, internal::telling(observer));
  if (!opened) return opened.error();
  const auto& reader = *opened;
  TableScout out;
  out.file = part.path;
  out.sparse = reader->schema.sparse;
  out.for_model = !options.expected_features.empty();
  out.has_groups = reader->schema.has_groups;
  out.has_shares = reader->schema.has_shares;
  out.has_bounds = reader->schema.has_bounds;
  out.has_labels = reader->schema.has_labels && options.want_labels;
  out.has_ids = reader->schema.has_ids && options.want_ids;
  const auto* columns = dynamic_cast<const internal::ColumnPart*>(reader.get());
  std::vector<std::size_t> one_hots;  // place in out.columns
  if (columns != nullptr) {
    for (const std::size_t c : columns->layout.sources) {
      const internal::CsvColumn& column = columns->layout.columns[c];
      TableScout::Column found;
      found.name = column.name;
      found.place = columns->layout.column_text(c);
      found.one_hot = column.role == internal::Role::kOneHot;
      if (found.one_hot) one_hots.push_back(out.columns.size());
      out.columns.push_back(std::move(found));
    }
  }
  if (!reader->needs_scout) {
    // A sparse file that knows its features: what they are called is their index.
    for (const std::string& name : reader->schema.feature_names) {
      if (!out.sparse) break;
      const auto index = static_cast<std::uint64_t>(internal::svmlight_index(name));
      if (index == 0 && several) {
        return Error{
            fmt::format("has a feature {}; expected 1, 2, 3, ... where several sparse files are read",
                        shown(name)),
            part.path};
      }
      out.width = std::max(out.width, index);
    }
    return out;
  }

  Findings found(out.columns.size(), one_hots.size());
  const internal::PipelineWork work{
      .file = part.path,
      .phase = "scanning",
      .threads = options.threads,
      .total = reader->total,
      .make = [&]() -> std::unique_ptr<RowSink> {
        return std::make_unique<FindingsSink>(out.columns.size(), one_hots.size());
      },
      .fold = [&](std::unique_ptr<RowSink> sink, const BlockPlace&) -> Result<void> {
        found.merge(static_cast<FindingsSink&>(*sink).findings);
        for (std::size_t k = 0; k < one_hots.size(); ++k) {
          if (found.texts[k].size() > kMostOneHotValues)
            return too_many_values(part.path, out.columns[one_hots[k]].place);
        }
        return {};
      }};
  auto rows = internal::run_pipeline(internal::pieces_of(source, options, internal::Purpose::kScout, reader),
                                     work, observer);
  if (!rows) return rows.error();
  out.rows = *rows;
  out.looked_at_rows = true;
  out.width = static_cast<std::uint64_t>(found.width);
  for (std::size_t s = 0; s < out.columns.size(); ++s) {
    out.columns[s].sum = found.sums[s];
    out.columns[s].count = found.counts[s];
  }
  for (std::size_t k = 0; k < one_hots.size(); ++k) {
    auto& values = out.columns[one_hots[k]].values;
    for (std::size_t v = 0; v < found.texts[k].size(); ++v)
      values.emplace(found.texts[k].name(v), found.text_counts[k][v]);
  }
  return out;
}

std::uint64_t times(const TableScout::Column& column) {
  std::uint64_t all = 0;
  for (const auto& [value, count] : column.values) all += count;
  return all;
}

Result<void> check_mean(const TableScout& scout, const TableScout::Column& column) {
  if (column.one_hot ? !column.values.empty() : column.count > 0) return {};
  return Error{"has no value at all to take a mean of; expected --missing zero or --exclude", scout.file, 0,
               column.place};
}

double mean_of(const TableScout::Column& column) {
  return column.sum.value() / static_cast<double>(column.count);
}

double share_of_value(const TableScout::Column& column, const std::string& value) {
  const auto found = column.values.find(value);
  if (found == column.values.end()) return 0;
  return static_cast<double>(found->second) / static_cast<double>(times(column));
}

// The means for a model's features, by their names.
Result<std::vector<double>> fill_for_model(const TableOptions& options, const TableScout& scout) {
  std::map<std::string_view, const TableScout::Column*> by_name;
  for (const auto& column : scout.columns) {
    if (auto checked = check_mean(scout, column); !checked) return checked.error();
    by_name.emplace(column.name, &column);
  }
  std::vector<double> fill;
  for (const std::string& name : options.expected_features) {
    fill.push_back(0);
    if (const auto at = by_name.find(name); at != by_name.end() && !at->second->one_hot) {
      fill.back() = mean_of(*at->second);
      continue;
    }
    for (std::size_t cut = name.find('='); cut != std::string::npos; cut = name.find('=', cut + 1)) {
      const auto at = by_name.find(std::string_view(name).substr(0, cut));
      if (at == by_name.end() || !at->second->one_hot) continue;
      fill.back() = share_of_value(*at->second, name.substr(cut + 1));
      break;
    }
  }
  return fill;
}

// The features of a sparse table: those asked for, or all up to the largest.
Result<std::vector<std::string>> sparse_features(const TableOptions& options, const TableScout& scout) {
  if (!options.features.empty()) return options.features;
  std::vector<bool> out(scout.width, false);
  for (const std::string& name : options.exclude) {
    const auto index = static_cast<std::size_t>(internal::svmlight_index(name));
    if (index < 1 || index > out.size()) {
      return Error{fmt::format("there is no feature {}, which --exclude names; there are 1 to {}",
                               shown(name), out.size()),
                   scout.file};
    }
    out[index - 1] = true;
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!out[i]) names.push_back(fmt::format("{}", i + 1));
  }
  return names;
}

// Numbers and texts one behind the other, numbers lowest byte first.
class Writer {
 public:
  void number(std::uint64_t value) {
    for (int i = 0; i < 8; ++i) out += static_cast<char>(value >> (8 * i));
  }
  void real(double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    number(bits);
  }
  void text(std::string_view value) {
    number(value.size());
    out += value;
  }
  std::string out;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    if (left_.size() < 8) {
      good_ = false;
      return 0;
    }
    for (std::size_t i = 0; i < 8; ++i)
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(left_[i])) << (8 * i);
    left_.remove_prefix(8);
    return value;
  }
  double real() {
    const std::uint64_t bits = number();
    double value = 0;
    std::memcpy(&value, &bits, sizeof bits);
    return value;
  }
  std::string text() {
    const std::uint64_t size = number();
    if (size > left_.size()) {
      good_ = false;
      return {};
    }
    std::string out(left_.substr(0, size));
    left_.remove_prefix(size);
    return out;
  }
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] bool at_end() const { return left_.empty(); }

 private:
  std::string_view left_;
  bool good_ = true;
};

constexpr std::uint64_t kScoutMark = 0x3154554f43535742;  // "BWSCOUT1"

}  // namespace

Result<void> TableScout::merge(const TableScout& later) {
  if (later.file.empty()) return {};
  if (file.empty()) {
    *this = later;
    return {};
  }
  if (sparse != later.sparse) {
    return Error{fmt::format("is {} table, but {} is {} one; expected files of one kind",
                             later.sparse ? "a sparse" : "a dense", file, sparse ? "a sparse" : "a dense"),
                 later.file};
  }
  struct Kind {
    bool here, there;
    const char* name;
  };
  for (const Kind& kind :
       {Kind{has_groups, later.has_groups, "bags"}, Kind{has_shares, later.has_shares, "proportions"},
        Kind{has_bounds, later.has_bounds, "deltas"}, Kind{has_labels, later.has_labels, "labels"},
        Kind{has_ids, later.has_ids, "ids"}}) {
    if (kind.here == kind.there) continue;
    return Error{fmt::format("has no column of {}, but {} has one; expected it in every file or in none",
                             kind.name, kind.here ? file : later.file),
                 kind.here ? later.file : file};
  }
  std::map<std::string_view, Column*> by_name;
  std::set<std::string_view> missing;
  for (Column& column : columns) {
    by_name.emplace(column.name, &column);
    missing.insert(column.name);
  }
  const auto lacks = [](const std::string& who, const std::string& name, const std::string& other) {
    return Error{fmt::format("there is no column {}, which {} has; expected the same features in every file",
                             shown(name), other),
                 who, 1};
  };
  std::vector<const Column*> fresh;
  for (const Column& column : later.columns) {
    const auto at = by_name.find(column.name);
    if (at == by_name.end() || at->second->one_hot != column.one_hot) {
      if (!for_model) return lacks(file, column.name, later.file);
      fresh.push_back(&column);
      continue;
    }
    missing.erase(column.name);
    Column& to = *at->second;
    to.sum.add(column.sum);
    to.count += column.count;
    for (const auto& [value, count] : column.values) to.values[value] += count;
    if (to.values.size() > kMostOneHotValues) return too_many_values(file, to.place);
  }
  if (!missing.empty() && !for_model) return lacks(later.file, std::string(*missing.begin()), file);
  for (const Column* column : fresh) columns.push_back(*column);
  width = std::max(width, later.width);
  looked_at_rows = looked_at_rows || later.looked_at_rows;
  rows += later.rows;
  return {};
}

std::string TableScout::to_bytes() const {
  Writer to;
  to.number(kScoutMark);
  to.text(file);
  std::uint64_t flags = 0, bit = 1;
  for (const bool flag :
       {sparse, for_model, has_groups, has_shares, has_bounds, has_labels, has_ids, looked_at_rows}) {
    if (flag) flags |= bit;
    bit <<= 1;
  }
  to.number(flags);
  to.number(width);
  to.number(rows);
  to.number(columns.size());
  for (const Column& column : columns) {
    to.text(column.name);
    to.text(column.place);
    to.number(column.one_hot ? 1 : 0);
    to.real(column.sum.high);
    to.real(column.sum.low);
    to.number(column.count);
    to.number(column.values.size());
    for (const auto& [value, count] : column.values) {
      to.text(value);
      to.number(count);
    }
  }
  return std::move(to.out);
}

Result<TableScout> TableScout::from_bytes(std::string_view bytes, const std::string& what) {
  Reader from(bytes);
  TableScout out;
  const bool marked = from.number() == kScoutMark;
  out.file = from.text();
  const std::uint64_t flags = from.number();
  const std::array<bool*, 8> to = {&out.sparse,     &out.for_model,  &out.has_groups, &out.has_shares,
                                   &out.has_bounds, &out.has_labels, &out.has_ids,    &out.looked_at_rows};
  for (std::size_t i = 0; i < to.size(); ++i) *to[i] = (flags >> i & 1U) != 0;
  out.width = from.number();
  out.rows = from.number();
  const std::uint64_t columns = from.number();
  for (std::uint64_t c = 0; c < columns && from.good(); ++c) {
    Column column;
    column.name = from.text();
    column.place = from.text();
    column.one_hot = from.number() != 0;
    column.sum.high = from.real();
    column.sum.low = from.real();
    column.count = from.number();
    const std::uint64_t values = from.number();
    for (std::uint64_t v = 0; v < values && from.good(); ++v) {
      std::string value = from.text();
      column.values[std::move(value)] = from.number();
    }
    out.columns.push_back(std::move(column));
  }
  if (!marked || !from.good() || !from.at_end() || flags >> to.size() != 0 ||
      out.width > static_cast<std::uint64_t>(internal::kLargestSvmlightIndex)) {
    return Error{"what another process found out about the table is damaged", what};
  }
  return out;
}

Result<TableScout> scout_table(const TableSource& source, const TableOptions& options,
                               const Observer& observer) {
  TableScout out;
  for (const TablePart& part : source.parts) {
    auto found = scout_part(part, options, source.parts.size() > 1, observer);
    if (!found) return found.error();
    if (auto merged = out.merge(*found); !merged) return merged.error();
  }
  return out;
}

Result<TableOptions> settled(const TableOptions& options, const TableScout& scout) {
  TableOptions out = options;
  const bool mean = options.missing == Missing::kMean && !scout.sparse;
  if (!options.expected_features.empty()) {
    if (mean && options.fill.empty() && scout.looked_at_rows) {
      auto fill = fill_for_model(options, scout);
      if (!fill) return fill.error();
      out.fill = std::move(*fill);
    }
    return out;
  }
  out.settled = true;
  if (scout.sparse) {
    auto names = sparse_features(options, scout);
    if (!names) return names.error();
    out.expected_features = std::move(*names);
    return out;
  }
  for (const TableScout::Column& column : scout.columns) {
    if (mean || column.one_hot) {
      if (auto checked = check_mean(scout, column); !checked) return checked.error();
    }
    if (!column.one_hot) {
      out.expected_features.push_back(column.name);
      if (mean) out.fill.push_back(mean_of(column));
      continue;
    }
    const auto all = static_cast<double>(times(column));
    for (const auto& [value, count] : column.values) {
      out.expected_features.push_back(column.name + "=" + value);
      if (mean) out.fill.push_back(static_cast<double>(count) / all);
    }
  }
  std::set<std::string_view> names;
  for (const std::string& name : out.expected_features) {
    if (names.insert(name).second) continue;
    return Error{fmt::format("--one-hot makes a feature {} though there is one already", shown(name)),
                 scout.file};
  }
  return out;
}

}  // namespace bagwise
