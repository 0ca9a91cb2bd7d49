#include "bagwise/data/internal/binary_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bagwise/data/internal/binary_format.h"
#include "bagwise/data/internal/csv_cell.h"
#include "bagwise/data/internal/csv_layout.h"
#include "bagwise/data/internal/mapped_file.h"
#include "bagwise/data/internal/text_part.h"
#include "bagwise/linalg/finite.h"

namespace bagwise::internal {
namespace {

constexpr std::uint64_t kPieceBytes = std::uint64_t{16} << 20;
constexpr std::size_t kStripBytes = std::size_t{16} << 10;  // stays in the first cache
constexpr const char* kNotFinite = "has a value that is no finite number";
constexpr const char* kDamaged = "is damaged: its checksum is wrong";

template <class T>
T load(const char* from) {
  T out;
  std::memcpy(&out, from, sizeof out);
  return out;
}

template <class T>
std::span<const T> span_at(const char* from, std::uint64_t count) {
  return {reinterpret_cast<const T*>(from), static_cast<std::size_t>(count)};
}

// Texts one behind the other, their sizes before them; nothing if the sizes do not come to `bytes`.
bool texts_at(const char* sizes, const char* from, std::uint64_t count, std::uint64_t bytes,
              std::vector<std::string_view>& out) {
  std::uint64_t at = 0;
  out.reserve(static_cast<std::size_t>(count));
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto size = load<std::uint32_t>(sizes + 4 * i);
    if (size > bytes - at) return false;
    out.emplace_back(from + at, size);
    at += size;
  }
  return at == bytes;
}

class BinaryPart final : public ColumnPart {
 public:
  Result<void> open(const TablePart& part, const TableOptions& options, Purpose purpose) {
    file = part.path;
    auto mapped = MappedFile::open(file);
    if (!mapped) return mapped.error();
    file_ = std::move(*mapped);
    if (auto done = read_frame(); !done) return done;
    if (auto done = has(kSparseFlag) ? plan_sparse(options) : plan_dense(options, purpose); !done)
      return done;
    want_labels_ = has(kLabelsFlag) && options.want_labels;
    want_ids_ = has(kIdsFlag) && options.want_ids;
    const auto begins_before = [](const IndexEntry& entry, std::uint64_t offset) {
      return entry.offset < offset;
    };
    const auto place = [&](std::uint64_t offset) {
      return static_cast<std::size_t>(std::lower_bound(index_.begin(), index_.end(), offset, begins_before) -
                                      index_.begin());
    };
    next_ = place(part.from);
    end_ = part.empty() ? next_ : std::max(next_, place(part.to));
    first_line = (next_ < index_.size() ? index_[next_].first_row : rows_) + 1;
    total = file_->size();
    return {};
  }

  // Several blocks make a piece, so that what is summed per piece is worth folding.
  Result<bool> next(Chunk& out, const Waiting&) override {
    if (next_ == end_) return false;
    out = {};
    const std::uint64_t from = index_[next_].offset;
    while (next_ < end_ && end_of(next_) - from < kPieceBytes) ++next_;
    if (next_ < end_ && index_[next_].offset == from) ++next_;  // one block that is larger than that
    out.begin = const_cast<char*>(file_->data()) + from;
    out.end = const_cast<char*>(file_->data()) + end_of(next_ - 1);
    out.consumed = static_cast<std::uint64_t>(out.end - file_->data());
    return true;
  }

  void recycle(Chunk&& chunk) override {
    file_->release(chunk.begin, static_cast<std::size_t>(chunk.end - chunk.begin));
  }

  ParsedChunk parse(const Chunk& chunk, RowSink& sink) const override {
    ParsedChunk out;
    const auto offset = static_cast<std::uint64_t>(chunk.begin - file_->data());
    const auto first = std::lower_bound(index_.begin(), index_.end(), offset,
                                        [](const IndexEntry& e, std::uint64_t o) { return e.offset < o; });
    const bool shrunk = file_->shrunk();
    for (auto number = static_cast<std::size_t>(first - index_.begin());
         number < index_.size() && file_->data() + index_[number].offset < chunk.end; ++number) {
      const std::uint64_t rows = end_row(number) - index_[number].first_row;
      const std::string fault = shrunk ? "is no longer there: the file is shorter than when it was opened"
                                       : read_block(number, rows, out.rows, sink);
      if (!fault.empty()) {
        out.fault = ChunkFault{fmt::format("block {} (rows {} to {}) {}; expected the file as it was written",
                                           number, index_[number].first_row, end_row(number) - 1, fault),
                               kNoLine,
                               {}};
        return out;
      }
      out.rows += rows;
      out.lines += rows;
    }
    return out;
  }

 private:
  [[nodiscard]] bool has(BinaryFlag flag) const { return (flags_ & flag) != 0; }
  [[nodiscard]] std::uint64_t end_of(std::size_t block) const {
    return block + 1 < index_.size() ? index_[block + 1].offset : index_offset_;
  }
  [[nodiscard]] std::uint64_t end_row(std::size_t block) const {
    return block + 1 < index_.size() ? index_[block + 1].first_row : rows_;
  }

  // The header, the names, the end and the index.
  Result<void> read_frame() {
    const std::uint64_t size = file_->size();
    const char* const data = file_->data();
    const auto damaged = [&](std::string_view what) {
      return Error{fmt::format("is damaged: {}; expected the file as it was written", what), file};
    };
    if (size < sizeof(BinaryHeader) + sizeof(BinaryTrailer)) {
      return Error{fmt::format("is cut short: it has {} bytes; expected a whole binary table", size), file};
    }
    const auto header = load<BinaryHeader>(data);
    if (header.version != kBinaryVersion) {
      return Error{
          fmt::format("is a binary table of version {}; expected version {}", header.version, kBinaryVersion),
          file};
    }
    const auto trailer = load<BinaryTrailer>(data + size - sizeof(BinaryTrailer));
    if (std::memcmp(trailer.mark, kBinaryEnd.data(), sizeof trailer.mark) != 0) {
      return Error{"is cut short: its end is missing; expected a whole binary table", file};
    }
    if (trailer.check != checksum(&trailer, offsetof(BinaryTrailer, check)))
      return damaged("its end is wrong");
    if (trailer.file_size != size) {
      return damaged(fmt::format("it has {} bytes though it was written with {}", size, trailer.file_size));
    }
    const std::uint64_t before_end = size - sizeof(BinaryTrailer);
    if (header.names_bytes > before_end - sizeof header || header.features > header.names_bytes / 4) {
      return damaged("its header is wrong");
    }
    std::string checked(data, offsetof(BinaryHeader, check));
    checked.append(data + sizeof header, static_cast<std::size_t>(header.names_bytes));
    if (header.check != checksum(checked.data(), checked.size()) || header.flags >= 2 * kIdsFlag) {
      return damaged("its header is wrong");
    }
    std::vector<std::string_view> names;
    if (!texts_at(data + sizeof header, data + sizeof header + 4 * header.features, header.features,
                  header.names_bytes - 4 * header.features, names)) {
      return damaged("its names are wrong");
    }
    names_.assign(names.begin(), names.end());
    flags_ = header.flags;
    rows_ = trailer.rows;
    index_offset_ = trailer.index_offset;
    const std::uint64_t first = padded(sizeof header + header.names_bytes, kAlignment);
    if (index_offset_ < first || index_offset_ > before_end || index_offset_ % kAlignment != 0 ||
        trailer.blocks > (before_end - index_offset_) / sizeof(IndexEntry) ||
        padded(16 + trailer.blocks * sizeof(IndexEntry), kAlignment) != before_end - index_offset_ ||
        trailer.index_check !=
            checksum(data + index_offset_, static_cast<std::size_t>(before_end - index_offset_)) ||
        load<std::uint64_t>(data + index_offset_) != kIndexMark) {
      return damaged("its index is wrong");
    }
    std::uint64_t offset = first, row = 0;
    for (std::uint64_t b = 0; b < trailer.blocks; ++b) {
      const auto entry = load<IndexEntry>(data + index_offset_ + 16 + b * sizeof(IndexEntry));
      const bool right = b == 0 ? entry.offset == first && entry.first_row == 0
                                : entry.offset >= offset && entry.first_row > row;
      if (!right || entry.offset % kAlignment != 0 || entry.offset > index_offset_ ||
          index_offset_ - entry.offset < sizeof(BlockHeader) || entry.first_row >= rows_) {
        return damaged("its index is wrong");
      }
      index_.push_back(entry);
      offset = entry.offset + sizeof(BlockHeader);
      row = entry.first_row;
    }
    if (index_.empty() != (rows_ == 0)) return damaged("its index is wrong");
    return {};
  }

  // What is what, as for a CSV table with a header of these names.
  Result<void> plan_dense(const TableOptions& options, Purpose purpose) {
    std::vector<std::string> header;
    for (const auto& [flag, name] :
         {std::pair{kGroupsFlag, &options.group_column}, std::pair{kSharesFlag, &options.share_column},
          std::pair{kBoundsFlag, &options.bound_column}, std::pair{kLabelsFlag, &options.label_column},
          std::pair{kIdsFlag, &options.id_column}}) {
      if (has(flag)) header.push_back(*name);
    }
    const std::size_t first = header.size();
    header.insert(header.end(), names_.begin(), names_.end());
    auto planned = plan_csv(file, header, options);
    if (!planned) return without_line(planned.error());
    layout = std::move(*planned);
    if (!layout.one_hots.empty()) {
      return Error{fmt::format("has no column of text {} for --one-hot; a binary table holds numbers",
                               shown(layout.columns[layout.one_hots[0].column].name)),
                   file};
    }
    needs_scout = layout.needs_scout;
    schema = layout.schema;
    // Bags, proportions and deltas are what the file says they are, not what a column is called.
    schema.has_groups = has(kGroupsFlag);
    schema.has_shares = has(kSharesFlag);
    schema.has_bounds = has(kBoundsFlag);
    if (purpose == Purpose::kScout) layout = for_scouting(std::move(layout));
    width_ = purpose == Purpose::kScout ? layout.sources.size() : schema.feature_names.size();
    slots_.assign(names_.size(), -1);
    for (std::size_t j = 0; j < names_.size(); ++j) {
      const CsvColumn& column = layout.columns[first + j];
      if (column.role == Role::kFeature) slots_[j] = static_cast<std::int32_t>(column.slot);
    }
    see_whether_in_place();
    return {};
  }

  static Error without_line(Error error) {
    error.line = 0;
    return error;
  }

  Result<void> plan_sparse(const TableOptions& options) {
    if (!options.one_hot.empty()) {
      return Error{"--one-hot needs columns of text; a sparse table has numbers only", file};
    }
    if (options.want_groups && !has(kGroupsFlag)) {
      return Error{"has no bags; expected a table that was made from one with bags", file};
    }
    schema.sparse = true;
    schema.has_groups = has(kGroupsFlag);
    schema.has_shares = has(kSharesFlag);
    schema.has_bounds = has(kBoundsFlag);
    schema.has_labels = has(kLabelsFlag);
    schema.has_ids = has(kIdsFlag);
    const bool expected = options.settled || !options.expected_features.empty();
    std::map<std::string_view, std::size_t> places;
    for (std::size_t j = 0; j < names_.size(); ++j) {
      if (!places.emplace(names_[j], j).second)
        return Error{fmt::format("is damaged: it has two features {}; expected the file as it was written",
                                 shown(names_[j])),
                     file};
    }
    std::vector<std::string> wanted = expected ? options.expected_features : options.features;
    if (!expected && wanted.empty()) {
      wanted = names_;
      for (const std::string& name : options.exclude) {
        if (!places.contains(name)) {
          return Error{fmt::format("there is no feature {}, which --exclude names", shown(name)), file};
        }
        std::erase(wanted, name);
      }
    }
    slots_.assign(names_.size(), -1);
    for (std::size_t f = 0; f < wanted.size(); ++f) {
      const auto at = places.find(wanted[f]);  // what a sparse table has not is 0
      if (at != places.end()) slots_[at->second] = static_cast<std::int32_t>(f);
    }
    schema.feature_names = std::move(wanted);
    width_ = schema.feature_names.size();
    see_whether_in_place();
    return {};
  }

  void see_whether_in_place() {
    in_place_ = width_ == names_.size();
    for (std::size_t j = 0; j < slots_.size(); ++j)
      in_place_ = in_place_ && slots_[j] == static_cast<std::int32_t>(j);
  }

  // Checks what a block says of itself, then uses it; what is wrong with it, or nothing.
  std::string read_block(std::size_t number, std::uint64_t rows, std::uint64_t line, RowSink& sink) const {
    const char* const block = file_->data() + index_[number].offset;
    const auto header = load<BlockHeader>(block);
    if (header.mark != kBlockMark || header.check != checksum(&header, offsetof(BlockHeader, check)) ||
        header.number != number || header.rows != rows || header.first_row != index_[number].first_row) {
      return "is damaged: its header is wrong";
    }
    const auto room = end_of(number) - index_[number].offset - sizeof(BlockHeader);
    const std::uint64_t most = room / 8;
    const bool sparse = has(kSparseFlag);
    const std::uint64_t features = std::max<std::uint64_t>(names_.size(), 1);
    if (header.entries > most || rows > (sparse ? most : most / features) || header.groups > room / 4 ||
        header.groups_bytes > room || header.ids_bytes > room ||
        (!sparse && header.entries != rows * names_.size())) {
      return "is damaged: its sizes are wrong";
    }
    const MainLayout main(flags_, rows, header.entries, header.groups, header.groups_bytes);
    const std::uint64_t labels_size = has(kLabelsFlag) ? padded(rows, kAlignment) : 0;
    const std::uint64_t ids_size = has(kIdsFlag) ? padded(4 * rows + header.ids_bytes, kAlignment) : 0;
    if (main.size + labels_size + ids_size != room) return "is damaged: its sizes are wrong";
    const char* const begin = block + sizeof(BlockHeader);
    const std::string_view bytes(begin, static_cast<std::size_t>(main.size));
    const std::string fault = use_block(header, main, bytes, line, {begin + main.size, labels_size},
                                        {begin + main.size + labels_size, ids_size}, sink);
    // Whatever is wrong with a block that is not what was written, that is what to say.
    return fault.empty() || header.main_check == checksum_of(bytes) ? fault : kDamaged;
  }

  // Hands the rows of a block on and checks it meanwhile; what is wrong with it, or nothing. The rows of a
  // block that something is wrong with count for nothing.
  std::string use_block(const BlockHeader& header, const MainLayout& main, std::string_view bytes,
                        std::uint64_t line, std::string_view label_bytes, std::string_view id_bytes,
                        RowSink& sink) const {
    const std::uint64_t rows = header.rows;
    const char* const begin = bytes.data();
    const char* const labels = label_bytes.data();
    const char* const ids = id_bytes.data();
    if ((want_labels_ && header.labels_check != checksum_of(label_bytes)) ||
        (want_ids_ && header.ids_check != checksum_of(id_bytes))) {
      return kDamaged;
    }
    TableRows out;
    out.line = line;
    std::vector<std::string_view> names, id_texts;
    if (has(kGroupsFlag)) {
      out.groups = span_at<std::uint32_t>(begin + main.codes, rows);
      if (!texts_at(begin + main.name_sizes, begin + main.names, header.groups, header.groups_bytes, names) ||
          std::any_of(out.groups.begin(), out.groups.end(), [&](auto c) { return c >= header.groups; }) ||
          std::any_of(names.begin(), names.end(), [](std::string_view name) { return name.empty(); })) {
        return "has wrong bags";
      }
      out.group_names = names;
    }
    if (has(kSharesFlag)) {
      out.shares = span_at<double>(begin + main.shares, rows);
      if (!std::all_of(out.shares.begin(), out.shares.end(), [](double s) { return s >= 0 && s <= 1; }))
        return "has a wrong proportion";
    }
    if (has(kBoundsFlag)) {
      out.bounds = span_at<double>(begin + main.bounds, rows);
      if (!std::all_of(out.bounds.begin(), out.bounds.end(),
                       [](double b) { return b >= 0 && std::isfinite(b); }))
        return "has a wrong delta";
    }
    if (want_labels_) {
      out.labels = span_at<std::int8_t>(labels, rows);
      if (!std::all_of(out.labels.begin(), out.labels.end(), [](int l) { return l >= -1 && l <= 1; }))
        return "has a wrong label";
    }
    if (want_ids_) {
      if (!texts_at(ids, ids + 4 * rows, rows, header.ids_bytes, id_texts)) return "has wrong ids";
      out.ids = id_texts;
    }
    if (!has(kSparseFlag)) return add_dense(header, bytes, out, sink);
    if (header.main_check != checksum_of(bytes)) return kDamaged;
    return add_sparse(span_at<double>(begin + main.values, header.entries),
                      span_at<std::int64_t>(begin + main.starts, rows + 1),
                      span_at<std::int32_t>(begin + main.index, header.entries), out, sink);
  }

  // Strip by strip, each checked and then used while it is in the nearest cache: the bytes, of which the
  // values are the first, come from memory once.
  std::string add_dense(const BlockHeader& header, std::string_view bytes, const TableRows& all,
                        RowSink& sink) const {
    const std::size_t rows = header.rows, columns = names_.size(), row_bytes = columns * sizeof(double);
    const std::size_t most = std::max<std::size_t>(kStripBytes / std::max<std::size_t>(row_bytes, 1), 1);
    RunningChecksum check;
    std::vector<double> chosen;
    for (std::size_t first = 0; first < rows; first += most) {
      const std::size_t count = std::min(most, rows - first);
      const std::string_view strip = bytes.substr(first * row_bytes, count * row_bytes);
      check.add(strip);
      if (!all_finite({reinterpret_cast<const double*>(strip.data()), count * columns})) return kNotFinite;
      TableRows part = part_of(all, first, count);
      part.values = {reinterpret_cast<const double*>(strip.data()), count, width_};
      if (!in_place_) {
        choose(part.values.values, count, chosen);
        part.values.values = chosen.data();
      }
      sink.add_rows(part);
    }
    check.add(bytes.substr(rows * row_bytes));
    return check.value() == header.main_check ? "" : kDamaged;
  }

  static TableRows part_of(const TableRows& all, std::size_t first, std::size_t count) {
    const auto cut = [&](auto span) { return span.empty() ? span : span.subspan(first, count); };
    TableRows out = all;
    out.line += first;
    out.groups = cut(all.groups);
    out.more = first > 0;
    out.shares = cut(all.shares);
    out.bounds = cut(all.bounds);
    out.labels = cut(all.labels);
    out.ids = cut(all.ids);
    return out;
  }

  // The features that are wanted, in their places.
  void choose(const double* values, std::size_t rows, std::vector<double>& out) const {
    out.assign(rows * width_, 0.0);
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < slots_.size(); ++j) {
        if (slots_[j] >= 0)
          out[i * width_ + static_cast<std::size_t>(slots_[j])] = values[i * slots_.size() + j];
      }
    }
  }

  std::string add_sparse(std::span<const double> values, std::span<const std::int64_t> starts,
                         std::span<const std::int32_t> index, const TableRows& more, RowSink& sink) const {
    constexpr const char* kWrong = "has wrong rows";
    if (starts.front() != 0 || starts.back() != static_cast<std::int64_t>(values.size())) return kWrong;
    if (!all_finite(values)) return kNotFinite;
    std::vector<std::pair<std::int32_t, double>> pairs;
    std::vector<std::int32_t> row_index;
    std::vector<double> row_values;
    TableRow row;
    for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
      if (starts[i + 1] < starts[i] || starts[i + 1] > starts.back()) return kWrong;
      const auto first = static_cast<std::size_t>(starts[i]), last = static_cast<std::size_t>(starts[i + 1]);
      std::int64_t before = -1;
      for (std::size_t k = first; k < last; ++k) {
        if (index[k] <= before || static_cast<std::size_t>(index[k]) >= names_.size()) return kWrong;
        before = index[k];
      }
      row.index = index.subspan(first, last - first);
      row.values = values.subspan(first, last - first);
      if (!in_place_) {
        pairs.clear();
        for (std::size_t k = first; k < last; ++k) {
          const std::int32_t slot = slots_[static_cast<std::size_t>(index[k])];
          if (slot >= 0) pairs.emplace_back(slot, values[k]);
        }
        std::sort(pairs.begin(), pairs.end());
        row_index.clear();
        row_values.clear();
        for (const auto& [slot, value] : pairs) {
          row_index.push_back(slot);
          row_values.push_back(value);
        }
        row.index = row_index;
        row.values = row_values;
      }
      if (!more.groups.empty()) row.group = more.group_names[more.groups[i]];
      if (!more.shares.empty()) row.share = more.shares[i];
      if (!more.bounds.empty()) row.bound = more.bounds[i];
      if (!more.labels.empty()) row.label = more.labels[i];
      if (!more.ids.empty()) row.id = more.ids[i];
      row.line = more.line + i;
      sink.add(row);
    }
    return {};
  }

  std::shared_ptr<const MappedFile> file_;
  std::uint32_t flags_ = 0;
  std::vector<std::string> names_;  // of the file's features
  std::vector<IndexEntry> index_;
  std::uint64_t index_offset_ = 0, rows_ = 0;
  std::size_t next_ = 0, end_ = 0;   // blocks
  std::vector<std::int32_t> slots_;  // per feature of the file; -1 = not wanted
  std::size_t width_ = 0;            // features wanted
  bool in_place_ = false;            // rows can be handed on as they are
  bool want_labels_ = false, want_ids_ = false;
};

}  // namespace

Result<std::shared_ptr<PartReader>> open_binary_part(const TablePart& part, const TableOptions& options,
                                                     Purpose purpose) {
  return opened_as<BinaryPart>(part, options, purpose);
}

}  // namespace bagwise::internal
