#include "bagwise/data/internal/svmlight_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

#include "bagwise/data/internal/csv_cell.h"
#include "bagwise/data/internal/parse_number.h"

namespace bagwise::internal {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool ends_token(char c) { return is_blank(c) || c == '\n' || c == '#'; }

class ChunkRun {
 public:
  ChunkRun(const SvmlightLayout& layout, const Chunk& chunk, RowSink& sink)
      : layout_(layout), sink_(sink), end_(chunk.end), p_(chunk.begin), cut_off_(chunk.cut_off) {}

  ParsedChunk run() {
    for (; p_ != end_; ++out_.lines) {
      if (!parse_line()) break;
    }
    return std::move(out_);
  }

 private:
  bool parse_line() {
    skip_blanks();
    const bool row = *p_ != '\n' && *p_ != '#';
    if (row && !parse_row()) return false;
    while (*p_ != '\n') ++p_;  // a comment
    ++p_;
    if (cut_off_ && p_ == end_)
      return fail("the line is longer than 64 MiB; expected a line end before that");
    if (row) {
      ++out_.rows;
      row_.line = out_.lines;
      row_.index = index_;
      row_.values = values_;
      sink_.add(row_);
    }
    return true;
  }

  bool parse_row() {
    index_.clear();
    values_.clear();
    if (!parse_label() || !parse_group()) return false;
    std::int32_t last = 0;
    bool sorted = true;
    for (skip_blanks(); *p_ != '\n' && *p_ != '#'; skip_blanks()) {
      const char* const token = p_;
      std::int32_t index = 0;
      double value = 0;
      if (!parse_index(index) || !parse_value(token, value)) return false;
      if (index <= last) {
        return fail(
            fmt::format("index {} comes after index {}; expected ascending indices, each once", index, last));
      }
      last = index;
      std::int32_t slot = index - 1;
      if (layout_.renumber) {
        const auto at = static_cast<std::size_t>(slot);
        slot = at < layout_.slots.size() ? layout_.slots[at] : -1;
        if (slot < 0) continue;
        sorted = sorted && (index_.empty() || index_.back() < slot);
      }
      index_.push_back(slot);
      values_.push_back(value);
    }
    if (!sorted) sort_row();
    return true;
  }

  bool parse_label() {
    const std::string_view text = token();
    if (text.find(':') != std::string_view::npos) {
      return fail(fmt::format("the row starts with {}; expected a label: 1, -1 or 0 for none", shown(text)));
    }
    if (text.find('\0') != std::string_view::npos) return fail(describe(CellFault::kNul, false));
    if (!layout_.want_labels) return true;
    double value = 0;
    const bool number = parse_number(text, value) == NumberFault::kNone;
    if (!number || (value != 1 && value != -1 && value != 0)) {
      return fail(fmt::format("{} is not a label; expected 1, -1 or 0 for none", shown(text)));
    }
    row_.label = static_cast<std::int8_t>(value);
    return true;
  }

  bool parse_group() {
    skip_blanks();
    const bool present = std::string_view(p_, static_cast<std::size_t>(end_ - p_)).starts_with("qid:");
    if (!present && layout_.groups) {
      return fail("the row has no qid:N behind its label; expected one to tell its bag");
    }
    if (!present) return true;
    p_ += 4;
    row_.group = token();
    if (row_.group.empty()) return fail("qid: is empty; expected the name of the row's bag");
    if (row_.group.find('\0') != std::string_view::npos) return fail(describe(CellFault::kNul, false));
    return true;
  }

  bool parse_index(std::int32_t& index) {
    const char* const start = p_;
    const auto [stop, code] = std::from_chars(p_, end_, index);
    if (code != std::errc{} || *stop != ':' || index < 1 || index > kLargestSvmlightIndex) {
      const std::string_view text = token();
      if (text.find('\0') != std::string_view::npos) return fail(describe(CellFault::kNul, false));
      const bool whole = code != std::errc::invalid_argument && *stop == ':';
      if (whole && *start != '-' && (code == std::errc::result_out_of_range || index >= 1)) {
        return fail(fmt::format("index {} is larger than {}, the largest feature index",
                                cut({start, static_cast<std::size_t>(stop - start)}), kLargestSvmlightIndex));
      }
      return fail(fmt::format("{} {}; expected index:value with indices from 1", shown(text),
                              whole ? "has an index below 1" : "is not index:value"));
    }
    p_ += stop + 1 - start;
    return true;
  }

  bool parse_value(const char* whole_token, double& value) {
    const char* plain = parse_plain_number(p_, value);
    if (plain != nullptr && ends_token(*plain)) {
      p_ += plain - p_;
      return true;
    }
    const std::string_view text = token();
    const std::string_view whole(whole_token, static_cast<std::size_t>(p_ - whole_token));
    switch (parse_number(text, value)) {
      case NumberFault::kNone:
        return true;
      case NumberFault::kEmpty:
        return fail(fmt::format("{} has no value; expected index:value", shown(whole)));
      case NumberFault::kNotFinite:
        return fail(
            fmt::format("{}: {} is not finite; expected a finite decimal number", shown(whole), shown(text)));
      case NumberFault::kNotANumber:
        if (text.find('\0') != std::string_view::npos) return fail(describe(CellFault::kNul, false));
        return fail(fmt::format("{}: {} is not a number; expected a finite decimal number", shown(whole),
                                shown(text)));
    }
    return false;
  }

  void sort_row() {
    std::vector<std::pair<std::int32_t, double>> pairs(index_.size());
    for (std::size_t k = 0; k < pairs.size(); ++k) pairs[k] = {index_[k], values_[k]};
    std::sort(pairs.begin(), pairs.end());
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      index_[k] = pairs[k].first;
      values_[k] = pairs[k].second;
    }
  }

  void skip_blanks() {
    while (is_blank(*p_)) ++p_;
  }
  std::string_view token() {
    const char* const start = p_;
    while (!ends_token(*p_)) ++p_;
    return {start, static_cast<std::size_t>(p_ - start)};
  }
  bool fail(std::string message) {
    out_.fault = ChunkFault{std::move(message), out_.lines, {}};
    return false;
  }

  const SvmlightLayout& layout_;
  RowSink& sink_;
  char* const end_;
  char* p_;
  const bool cut_off_;
  std::vector<std::int32_t> index_;
  std::vector<double> values_;
  TableRow row_;
  ParsedChunk out_;
};

}  // namespace

ParsedChunk SvmlightParser::parse(const Chunk& chunk, RowSink& sink) const {
  return ChunkRun(layout_, chunk, sink).run();
}

std::optional<bool> first_row_has_group(const Chunk& chunk) {
  const char* p = chunk.begin;
  while (p != chunk.end) {
    while (is_blank(*p)) ++p;
    if (*p != '\n' && *p != '#') {
      while (!ends_token(*p)) ++p;
      while (is_blank(*p)) ++p;
      return std::string_view(p, static_cast<std::size_t>(chunk.end - p)).starts_with("qid:");
    }
    while (*p != '\n') ++p;
    ++p;
  }
  return std::nullopt;
}

std::int32_t svmlight_index(const std::string& name) {
  std::int32_t index = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, code] = std::from_chars(name.data(), end, index);
  return code == std::errc{} && stop == end && index >= 1 && index <= kLargestSvmlightIndex &&
                 name == fmt::format("{}", index)
             ? index
             : 0;
}

}  // namespace bagwise::internal
