#include "bagwise/data/internal/npy_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "bagwise/data/internal/csv_cell.h"
#include "bagwise/data/internal/csv_parser.h"
#include "bagwise/data/internal/mapped_file.h"
#include "bagwise/data/internal/npy_header.h"
#include "bagwise/data/internal/text_part.h"

namespace bagwise::internal {
namespace {

constexpr std::uint64_t kBlockBytes = std::uint64_t{512} << 10;

template <class T>
T load(const char* from, bool swapped) {
  std::array<char, sizeof(T)> bytes;
  std::memcpy(bytes.data(), from, sizeof(T));
  if (swapped) std::reverse(bytes.begin(), bytes.end());
  T out;
  std::memcpy(&out, bytes.data(), sizeof(T));
  return out;
}

template <class S, class U>
double whole_number(const char* from, const NpyColumn& column) {
  return column.kind == NpyColumn::Kind::kSigned ? static_cast<double>(load<S>(from, column.swapped))
                                                 : static_cast<double>(load<U>(from, column.swapped));
}

double number_at(const char* from, const NpyColumn& column) {
  if (column.kind == NpyColumn::Kind::kFloat) {
    return column.size == 8 ? load<double>(from, column.swapped)
                            : static_cast<double>(load<float>(from, column.swapped));
  }
  switch (column.size) {
    case 1:
      return whole_number<std::int8_t, std::uint8_t>(from, column);
    case 2:
      return whole_number<std::int16_t, std::uint16_t>(from, column);
    case 4:
      return whole_number<std::int32_t, std::uint32_t>(from, column);
    default:
      return whole_number<std::int64_t, std::uint64_t>(from, column);
  }
}

void put_utf8(std::string& out, std::uint32_t c) {
  if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) c = 0xFFFD;
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

// A cell as text: what it says, or its number in the shortest form that reads back; NaN is an empty cell.
std::string text_at(const char* from, const NpyColumn& column) {
  if (column.kind == NpyColumn::Kind::kBytes) {
    std::string_view text(from, static_cast<std::size_t>(column.size));
    while (text.ends_with('\0')) text.remove_suffix(1);
    return std::string(text);
  }
  if (column.kind == NpyColumn::Kind::kUnicode) {
    std::string out;
    std::uint64_t end = column.size / 4;
    while (end > 0 && load<std::uint32_t>(from + 4 * (end - 1), false) == 0) --end;
    for (std::uint64_t i = 0; i < end; ++i) put_utf8(out, load<std::uint32_t>(from + 4 * i, column.swapped));
    return out;
  }
  if (column.kind == NpyColumn::Kind::kSigned && column.size == 8)
    return fmt::format("{}", load<std::int64_t>(from, column.swapped));
  if (column.kind == NpyColumn::Kind::kUnsigned && column.size == 8)
    return fmt::format("{}", load<std::uint64_t>(from, column.swapped));
  const double number = number_at(from, column);
  return std::isnan(number) ? std::string() : fmt::format("{}", number);
}

class NpyPart final : public ColumnPart {
 public:
  Result<void> open(const TablePart& part, const TableOptions& options, Purpose purpose) {
    file = part.path;
    auto mapped = MappedFile::open(file);
    if (!mapped) return mapped.error();
    file_ = std::move(*mapped);
    auto header = read_npy_header({file_->data(), static_cast<std::size_t>(file_->size())}, file);
    if (!header) return header.error();
    header_ = std::move(*header);
    std::vector<std::string> names;
    for (const NpyColumn& column : header_.columns) names.push_back(column.name);
    auto planned = plan_csv(file, names, options);
    if (!planned) {
      Error error = planned.error();
      error.line = 0;
      return error;
    }
    layout = std::move(*planned);
    needs_scout = layout.needs_scout;
    schema = layout.schema;
    if (purpose == Purpose::kScout) layout = for_scouting(std::move(layout));
    width_ = purpose == Purpose::kScout ? layout.sources.size() : schema.feature_names.size();
    in_place_ = header_.plain && width_ == header_.columns.size();
    for (std::size_t c = 0; c < layout.columns.size(); ++c) {
      in_place_ = in_place_ && layout.columns[c].role == Role::kFeature && layout.columns[c].slot == c;
    }
    block_rows_ = std::clamp<std::uint64_t>(kBlockBytes / header_.row_bytes, 1, 65536);
    // Of an array by columns too a row counts as if it stood where its number says.
    const auto row_at = [&](std::uint64_t offset) {
      if (offset <= header_.data) return std::uint64_t{0};
      const std::uint64_t rows = (offset - header_.data + header_.row_bytes - 1) / header_.row_bytes;
      return std::min(rows, header_.rows);
    };
    next_ = row_at(part.from);
    end_ = part.empty() ? next_ : part.to == kToEnd ? header_.rows : std::max(next_, row_at(part.to));
    first_line = next_ + 1;
    total = file_->size();
    return {};
  }

  // A piece is named by the bytes of its rows, where they would be in an array by rows.
  Result<bool> next(Chunk& out, const Waiting&) override {
    if (next_ == end_) return false;
    const std::uint64_t rows = std::min(block_rows_, end_ - next_);
    out = {};
    out.begin = const_cast<char*>(file_->data()) + header_.data + next_ * header_.row_bytes;
    out.end = out.begin + rows * header_.row_bytes;
    next_ += rows;
    out.consumed = header_.data + next_ * header_.row_bytes;
    return true;
  }

  void recycle(Chunk&& chunk) override {
    file_->release(chunk.begin, static_cast<std::size_t>(chunk.end - chunk.begin));
  }

  ParsedChunk parse(const Chunk& chunk, RowSink& sink) const override {
    ParsedChunk out;
    const char* const data = file_->data() + header_.data;
    const std::uint64_t first = static_cast<std::uint64_t>(chunk.begin - data) / header_.row_bytes;
    const std::uint64_t rows = static_cast<std::uint64_t>(chunk.end - chunk.begin) / header_.row_bytes;
    if (file_->shrunk()) {
      out.fault =
          ChunkFault{"is shorter than when it was opened; expected a file that nobody changes", kNoLine, {}};
      return out;
    }
    if (in_place_) {
      const DenseView view{reinterpret_cast<const double*>(chunk.begin), static_cast<std::size_t>(rows),
                           width_};
      bool finite = true;
      for (std::size_t k = 0; k < view.rows * width_; ++k) finite = finite && std::isfinite(view.values[k]);
      if (finite) {
        TableRows all;
        all.values = view;
        sink.add_rows(all);
        out.rows = out.lines = rows;
        return out;
      }
    }
    Row row(*this, sink, out);
    for (std::uint64_t i = first; i < first + rows; ++i) {
      if (!row.take(data, i)) return out;
      ++out.rows;
      ++out.lines;
    }
    return out;
  }

 private:
  // One row after the other, cell by cell, by the rules of CSV cells; NaN is an empty cell.
  class Row {
   public:
    Row(const NpyPart& part, RowSink& sink, ParsedChunk& out)
        : part_(part), layout_(part.layout), sink_(sink), out_(out), values_(part.width_, 0.0) {
      row_.values = values_;
    }

    bool take(const char* data, std::uint64_t i) {
      for (const OneHot& one_hot : layout_.one_hots) {
        for (const std::uint32_t slot : one_hot.slots) values_[slot] = 0;
      }
      row_.line = out_.lines;
      for (std::size_t c = 0; c < layout_.columns.size(); ++c) {
        const NpyColumn& column = part_.header_.columns[c];
        if (layout_.columns[c].role == Role::kSkip) continue;
        if (!take_cell(c, data + column.offset + i * column.stride)) return false;
      }
      sink_.add(row_);
      return true;
    }

   private:
    bool take_cell(std::size_t c, const char* from) {
      const NpyColumn& column = part_.header_.columns[c];
      const std::uint32_t slot = layout_.columns[c].slot;
      switch (layout_.columns[c].role) {
        case Role::kSkip:
          return true;
        case Role::kFeature:
          return take_feature(c, from, column, values_[slot]);
        case Role::kOneHot:
          return take_one_hot(c, text_at(from, column));
        case Role::kGroup:
          group_ = text_at(from, column);
          row_.group = group_;
          return !group_.empty() || fail(c, "is empty; expected the name of the row's bag");
        case Role::kShare:
          return take_number(c, from, column, row_.share) &&
                 ((row_.share >= 0 && row_.share <= 1) ||
                  fail(c,
                       fmt::format("{} is not between 0 and 1; expected a share of positives", row_.share)));
        case Role::kBound:
          return take_number(c, from, column, row_.bound) &&
                 (row_.bound >= 0 ||
                  fail(c, fmt::format("{} is negative; expected a bound >= 0", row_.bound)));
        case Role::kLabel:
          return take_label(c, from, column);
        case Role::kId:
          id_ = text_at(from, column);
          row_.id = id_;
          return true;
      }
      return true;
    }

    bool take_feature(std::size_t c, const char* from, const NpyColumn& column, double& value) {
      if (column.text()) {
        return fail(c, fmt::format("is text; expected a number (--one-hot {} takes a column of text)",
                                   cut(layout_.columns[c].name)));
      }
      value = number_at(from, column);
      if (std::isnan(value)) {
        if (layout_.missing == Missing::kError)
          return fail(c, "is nan; expected a finite number (--missing mean|zero fills empty cells)");
        if (layout_.missing == Missing::kZero) value = 0;
        if (layout_.missing == Missing::kMean && !layout_.scouting)
          value = layout_.schema.fill[layout_.columns[c].slot];
        return true;
      }
      return std::isfinite(value) ||
             fail(c, fmt::format("{} is not finite; expected a finite number", value));
    }

    bool take_one_hot(std::size_t c, const std::string& text) {
      const std::uint32_t number = layout_.columns[c].slot;
      const OneHot& one_hot = layout_.one_hots[number];
      if (text.empty()) {
        if (layout_.missing == Missing::kError)
          return fail(c, "is empty; expected text (--missing mean|zero fills empty cells)");
        if (layout_.missing == Missing::kMean && !layout_.scouting) {
          for (const std::uint32_t slot : one_hot.slots) values_[slot] = layout_.schema.fill[slot];
        }
      } else if (layout_.scouting) {
        static_cast<ScoutSink&>(sink_).add_text(number, text);
      } else if (const std::size_t value = one_hot.values.find(text); value < one_hot.slots.size()) {
        values_[one_hot.slots[value]] = 1;
      }
      return true;
    }

    bool take_number(std::size_t c, const char* from, const NpyColumn& column, double& value) {
      if (column.text()) return fail(c, "is text; expected a number");
      value = number_at(from, column);
      return std::isfinite(value) ||
             fail(c, fmt::format("{} is not finite; expected a finite number", value));
    }

    bool take_label(std::size_t c, const char* from, const NpyColumn& column) {
      double value = 0;
      if (!take_number(c, from, column, value)) return false;
      if (value != 0 && value != 1 && value != -1)
        return fail(c, fmt::format("{} is not a label; expected 0 or 1, or -1 or 1", value));
      row_.label = value == 1 ? 1 : -1;
      auto& first = value == 0 ? out_.zero_label : out_.minus_label;
      if (value != 1 && !first) {
        first = out_.lines;
        out_.label_column = layout_.column_text(c);
      }
      return true;
    }

    bool fail(std::size_t c, std::string message) {
      out_.fault = ChunkFault{std::move(message), out_.lines, layout_.column_text(c)};
      return false;
    }

    const NpyPart& part_;
    const CsvLayout& layout_;
    RowSink& sink_;
    ParsedChunk& out_;
    std::vector<double> values_;
    std::string group_, id_;
    TableRow row_;
  };

  std::shared_ptr<const MappedFile> file_;
  NpyHeader header_;
  std::size_t width_ = 0;
  bool in_place_ = false;
  std::uint64_t block_rows_ = 1, next_ = 0, end_ = 0;
};

}  // namespace

Result<std::shared_ptr<PartReader>> open_npy_part(const TablePart& part, const TableOptions& options,
                                                  Purpose purpose) {
  return opened_as<NpyPart>(part, options, purpose);
}

}  // namespace bagwise::internal
