#include "bagwise/data/internal/csv_parser.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "bagwise/data/internal/csv_cell.h"
#include "bagwise/data/internal/parse_number.h"

namespace bagwise::internal {
namespace {

class ChunkRun {
 public:
  ChunkRun(const CsvLayout& layout, const Chunk& chunk, RowSink& sink)
      : layout_(layout), sink_(sink), end_(chunk.end), p_(chunk.begin), cut_off_(chunk.cut_off) {
    const std::size_t width = layout.scouting ? layout.sources.size() : layout.schema.feature_names.size();
    values_.resize(width);
    row_.values = values_;
    for (const CsvColumn& column : layout.columns) {
      feature_slots_.push_back(column.role == Role::kFeature ? static_cast<std::int32_t>(column.slot) : -1);
    }
  }

  ParsedChunk run() {
    while (p_ != end_ && parse_row()) {
    }
    return std::move(out_);
  }

 private:
  // One row, or one blank line. False after a fault.
  bool parse_row() {
    if (*p_ == '\n' || (*p_ == '\r' && p_[1] == '\n')) {
      p_ += *p_ == '\n' ? 1 : 2;
      ++out_.lines;
      return true;
    }
    for (const OneHot& one_hot : layout_.one_hots) {
      for (const std::uint32_t slot : one_hot.slots) values_[slot] = 0;
    }
    row_.line = out_.lines;
    const std::size_t count = feature_slots_.size();
    const std::int32_t* const slots = feature_slots_.data();
    double* const values = values_.data();
    char* p = p_;
    for (std::size_t c = 0; c < count; ++c) {
      char* stop = nullptr;
      if (slots[c] >= 0) {
        double value = 0;
        const char* const plain = parse_plain_number(p, value);
        if (plain != nullptr && (*plain == ',' || *plain == '\n')) {
          values[slots[c]] = value;
          stop = p + (plain - p);
        } else {
          stop = slow_cell(p, c);
        }
      } else {
        stop = slow_cell(p, c);
      }
      if (stop == nullptr) return false;
      p = stop + 1;
      if ((*stop == '\n') != (c + 1 == count)) return ragged(c, stop);
    }
    p_ = p;
    if (cut_off_ && p == end_) return overlong();
    ++out_.lines;
    ++out_.rows;
    sink_.add(row_);
    return true;
  }

  // Any cell: quoted or not, of any role. Returns its end, or null after a fault.
  char* slow_cell(char* p, std::size_t c) {
    const Cell cell = scan_cell(p, end_);
    if (cell.fault != CellFault::kNone) {
      if (cut_off_ && cell.fault != CellFault::kUnclosedQuote && cell.stop + 1 >= end_)
        return fail_overlong();
      return fail(c, describe(cell.fault, cut_off_));
    }
    if (cut_off_ && cell.stop + 1 == end_) return fail_overlong();
    if (!take(cell.text, c)) return nullptr;
    out_.lines += cell.newlines;
    return cell.stop;
  }

  bool take(std::string_view text, std::size_t c) {
    const CsvColumn& column = layout_.columns[c];
    switch (column.role) {
      case Role::kSkip:
        return true;
      case Role::kFeature:
        return take_feature(text, c);
      case Role::kOneHot:
        return take_one_hot(text, c);
      case Role::kGroup:
        row_.group = text;
        return !text.empty() || fail(c, "is empty; expected the name of the row's bag") != nullptr;
      case Role::kShare:
        return take_number(text, c, "a share of positives between 0 and 1", row_.share) &&
               ((row_.share >= 0 && row_.share <= 1) ||
                fail(c, shown(text) + " is not between 0 and 1; expected a share of positives") != nullptr);
      case Role::kBound:
        return take_number(text, c, "a bound >= 0", row_.bound) &&
               (row_.bound >= 0 || fail(c, shown(text) + " is negative; expected a bound >= 0") != nullptr);
      case Role::kLabel:
        return take_label(text, c);
      case Role::kId:
        row_.id = text;
        return true;
    }
    return true;
  }

  bool take_feature(std::string_view text, std::size_t c) {
    const CsvColumn& column = layout_.columns[c];
    double& value = values_[column.slot];
    switch (parse_number(text, value)) {
      case NumberFault::kNone:
        return true;
      case NumberFault::kEmpty:
        if (!take_missing(value, column.slot)) {
          fail(c, "is empty; expected a finite decimal number (--missing mean|zero fills empty cells)");
          return false;
        }
        return true;
      case NumberFault::kNotFinite:
        fail(c, shown(text) + " is not finite; expected a finite decimal number");
        return false;
      case NumberFault::kNotANumber:
        fail(c,
             fmt::format("{} is not a number; expected a finite decimal number (--one-hot {} takes a column "
                         "of text)",
                         shown(text), cut(column.name)));
        return false;
    }
    return false;
  }

  bool take_missing(double& value, std::uint32_t slot) const {
    if (layout_.missing == Missing::kError) return false;
    value = 0;
    if (layout_.missing == Missing::kMean) {
      value = layout_.scouting ? std::numeric_limits<double>::quiet_NaN() : layout_.schema.fill[slot];
    }
    return true;
  }

  bool take_one_hot(std::string_view text, std::size_t c) {
    const std::uint32_t number = layout_.columns[c].slot;
    const OneHot& one_hot = layout_.one_hots[number];
    if (text.empty()) {
      if (layout_.missing == Missing::kError) {
        fail(c, "is empty; expected text (--missing mean|zero fills empty cells)");
        return false;
      }
      for (const std::uint32_t slot : one_hot.slots) take_missing(values_[slot], slot);
    } else if (layout_.scouting) {
      static_cast<ScoutSink&>(sink_).add_text(number, text);
    } else if (const std::size_t value = one_hot.values.find(text); value < one_hot.slots.size()) {
      values_[one_hot.slots[value]] = 1;
    }
    return true;
  }

  bool take_number(std::string_view text, std::size_t c, const char* expected, double& value) {
    switch (parse_number(text, value)) {
      case NumberFault::kNone:
        return true;
      case NumberFault::kEmpty:
        fail(c, fmt::format("is empty; expected {}", expected));
        return false;
      case NumberFault::kNotFinite:
        fail(c, fmt::format("{} is not finite; expected {}", shown(text), expected));
        return false;
      case NumberFault::kNotANumber:
        fail(c, fmt::format("{} is not a number; expected {}", shown(text), expected));
        return false;
    }
    return false;
  }

  bool take_label(std::string_view text, std::size_t c) {
    double value = 0;
    if (!take_number(text, c, "a label: 0 or 1, or -1 or 1", value)) return false;
    if (value == 1) {
      row_.label = 1;
      return true;
    }
    if (value != 0 && value != -1) {
      fail(c, shown(text) + " is not a label; expected 0 or 1, or -1 or 1");
      return false;
    }
    row_.label = -1;
    auto& first = value == 0 ? out_.zero_label : out_.minus_label;
    if (!first) {
      first = out_.lines;
      out_.label_column = layout_.column_text(c);
    }
    return true;
  }

  // Sets the fault of this chunk; null, so that callers can pass it on.
  char* fail(std::size_t c, std::string message) {
    out_.fault = ChunkFault{std::move(message), out_.lines, layout_.column_text(c)};
    return nullptr;
  }

  char* fail_overlong() {
    overlong();
    return nullptr;
  }
  bool overlong() {
    out_.fault = ChunkFault{"the line is longer than 64 MiB; expected a line end before that", row_.line, {}};
    return false;
  }

  // Column `c` ended at `stop`, too early or too late: counts the fields there are.
  bool ragged(std::size_t c, char* stop) {
    std::size_t found = c + 1;
    while (*stop != '\n') {
      const Cell cell = scan_cell(stop + 1, end_);
      if (cell.fault != CellFault::kNone) break;
      ++found;
      stop = cell.stop;
    }
    if (cut_off_ && stop + 1 == end_) return overlong();
    out_.fault = ChunkFault{fmt::format("the row has {} field{}; expected {} as in the header", found,
                                        found == 1 ? "" : "s", layout_.columns.size()),
                            row_.line,
                            {}};
    return false;
  }

  const CsvLayout& layout_;
  RowSink& sink_;
  char* const end_;
  char* p_;
  const bool cut_off_;
  std::vector<std::int32_t> feature_slots_;  // per column; -1 = not a number to keep
  std::vector<double> values_;
  TableRow row_;
  ParsedChunk out_;
};

}  // namespace

ParsedChunk CsvParser::parse(const Chunk& chunk, RowSink& sink) const {
  return ChunkRun(layout_, chunk, sink).run();
}

}  // namespace bagwise::internal
