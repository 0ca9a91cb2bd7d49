#include "bagwise/data/internal/npy_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "bagwise/data/internal/csv_cell.h"

namespace bagwise::internal {
namespace {

constexpr std::uint64_t kMost = std::uint64_t{1} << 40;  // of any count: products of two are checked

// Reads a Python literal of the few kinds that a header may have.
class Literal {
 public:
  explicit Literal(std::string_view text) : left_(text) {}

  bool take(char wanted) {
    skip();
    if (left_.empty() || left_[0] != wanted) return false;
    left_.remove_prefix(1);
    return true;
  }
  bool next_is(char wanted) {
    skip();
    return !left_.empty() && left_[0] == wanted;
  }
  std::optional<std::string> text() {
    skip();
    if (left_.empty() || (left_[0] != '\'' && left_[0] != '"')) return {};
    const char quote = left_[0];
    std::string out;
    for (std::size_t i = 1; i < left_.size(); ++i) {
      if (left_[i] == '\\') {
        if (++i == left_.size()) return {};
        out += left_[i];
      } else if (left_[i] == quote) {
        left_.remove_prefix(i + 1);
        return out;
      } else {
        out += left_[i];
      }
    }
    return {};
  }
  std::optional<std::uint64_t> number() {
    skip();
    std::uint64_t out = 0;
    const auto [stop, code] = std::from_chars(left_.data(), left_.data() + left_.size(), out);
    if (code != std::errc{} || out > kMost) return {};
    left_.remove_prefix(static_cast<std::size_t>(stop - left_.data()));
    if (left_.starts_with("L")) left_.remove_prefix(1);  // of Python 2
    return out;
  }
  std::optional<bool> truth() {
    skip();
    for (const auto& [word, value] : {std::pair{"True", true}, std::pair{"False", false}}) {
      if (!left_.starts_with(word)) continue;
      left_.remove_prefix(std::string_view(word).size());
      return value;
    }
    return {};
  }
  // (3, 4), (3,) or ()
  std::optional<std::vector<std::uint64_t>> numbers() {
    if (!take('(')) return {};
    std::vector<std::uint64_t> out;
    while (!take(')')) {
      const auto value = number();
      if (!value) return {};
      out.push_back(*value);
      if (!take(',') && !next_is(')')) return {};
    }
    return out;
  }

 private:
  void skip() {
    while (!left_.empty() && (left_[0] == ' ' || left_[0] == '\n' || left_[0] == '\t'))
      left_.remove_prefix(1);
  }
  std::string_view left_;
};

// "<f8" and its like; nothing if it is no number and no text of fixed width.
std::optional<NpyColumn> column_of(const std::string& type) {
  if (type.size() < 3) return {};
  NpyColumn out;
  const char order = type[0], kind = type[1];
  if (order != '<' && order != '>' && order != '|' && order != '=') return {};
  std::uint64_t size = 0;
  const char* const end = type.data() + type.size();
  const auto [stop, code] = std::from_chars(type.data() + 2, end, size);
  if (code != std::errc{} || stop != end || size > (std::uint64_t{1} << 20)) return {};
  const auto one_of = [&](std::initializer_list<std::uint64_t> sizes) {
    return std::find(sizes.begin(), sizes.end(), size) != sizes.end();
  };
  out.swapped = order == '>';
  out.size = size;
  switch (kind) {
    case 'f':
      out.kind = NpyColumn::Kind::kFloat;
      return one_of({4, 8}) ? std::optional(out) : std::nullopt;
    case 'i':
      out.kind = NpyColumn::Kind::kSigned;
      return one_of({1, 2, 4, 8}) ? std::optional(out) : std::nullopt;
    case 'u':
      out.kind = NpyColumn::Kind::kUnsigned;
      return one_of({1, 2, 4, 8}) ? std::optional(out) : std::nullopt;
    case 'b':
      out.kind = NpyColumn::Kind::kBool;
      return one_of({1}) ? std::optional(out) : std::nullopt;
    case 'S':
      out.kind = NpyColumn::Kind::kBytes;
      return out;
    case 'U':
      out.kind = NpyColumn::Kind::kUnicode;
      out.size = 4 * size;
      return out;
    default:
      return {};
  }
}

struct Parsed {
  std::vector<NpyColumn> fields;  // of records
  std::string type;               // of a plain array
  bool fortran = false;
  std::vector<std::uint64_t> shape;
  std::string bad_type, bad_field;  // the first that is neither number nor text
};

bool parse_fields(Literal& from, Parsed& out) {
  if (!from.take('[')) return false;
  while (!from.take(']')) {
    if (!from.take('(')) return false;
    auto name = from.text();
    if (!name || !from.take(',')) return false;
    auto type = from.text();
    if (!type) {  // a record within the record
      out.bad_field = *name;
      out.bad_type = "a record";
      return true;
    }
    auto column = column_of(*type);
    if (!column || from.take(',')) {
      out.bad_field = *name;
      out.bad_type = column ? "an array" : shown(*type);
      return true;
    }
    column->name = std::move(*name);
    out.fields.push_back(std::move(*column));
    if (!from.take(')')) return false;
    if (!from.take(',') && !from.next_is(']')) return false;
  }
  return !out.fields.empty();
}

bool parse(std::string_view text, Parsed& out) {
  Literal from(text);
  if (!from.take('{')) return false;
  bool descr = false, order = false, shape = false;
  while (!from.take('}')) {
    const auto key = from.text();
    if (!key || !from.take(':')) return false;
    if (*key == "descr" && !descr) {
      descr = true;
      if (from.next_is('[')) {
        if (!parse_fields(from, out)) return false;
        if (!out.bad_type.empty()) return true;
      } else {
        auto type = from.text();
        if (!type) return false;
        out.type = std::move(*type);
      }
    } else if (*key == "fortran_order" && !order) {
      const auto value = from.truth();
      if (!value) return false;
      order = true;
      out.fortran = *value;
    } else if (*key == "shape" && !shape) {
      auto value = from.numbers();
      if (!value) return false;
      shape = true;
      out.shape = std::move(*value);
    } else {
      return false;
    }
    if (!from.take(',') && !from.next_is('}')) return false;
  }
  return descr && order && shape;
}

}  // namespace

Result<NpyHeader> read_npy_header(std::string_view bytes, const std::string& file) {
  const Error damaged{"is not a whole NumPy file: its header is wrong; expected what numpy.save writes",
                      file};
  if (!bytes.starts_with(kNpyMark) || bytes.size() < 10) return damaged;
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i]));
  };
  const std::uint64_t version = byte(6);
  if (version < 1 || version > 3) {
    return Error{fmt::format("is a NumPy file of version {}; expected 1, 2 or 3", version), file};
  }
  const std::size_t before = version == 1 ? 10 : 12;
  if (bytes.size() < before) return damaged;
  const std::uint64_t length =
      version == 1 ? byte(8) | byte(9) << 8 : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  if (length > bytes.size() - before) return damaged;
  Parsed parsed;
  if (!parse(bytes.substr(before, static_cast<std::size_t>(length)), parsed)) return damaged;
  if (!parsed.bad_type.empty()) {
    return Error{fmt::format("has a field {} of type {}; expected numbers, or text of fixed width",
                             shown(parsed.bad_field), parsed.bad_type),
                 file};
  }
  const bool flat = parsed.fields.empty() && parsed.shape.size() == 2;
  if (!parsed.shape.empty() && parsed.shape[0] == 0) return Error{"has no rows; expected at least one", file};
  if (flat && parsed.shape[1] == 0) return Error{"has no columns; expected at least one", file};
  NpyHeader out;
  out.data = before + length;
  const std::uint64_t room = bytes.size() - out.data;
  if (!parsed.fields.empty()) {
    if (parsed.shape.size() != 1) {
      return Error{fmt::format("has records in {} dimensions; expected one", parsed.shape.size()), file};
    }
    out.columns = std::move(parsed.fields);
    for (NpyColumn& column : out.columns) {
      column.offset = out.row_bytes;
      out.row_bytes += column.size;
    }
    for (NpyColumn& column : out.columns) column.stride = out.row_bytes;
  } else {
    const auto column = column_of(parsed.type);
    if (!column || column->text()) {
      return Error{fmt::format("has elements of type {}; expected numbers", shown(parsed.type)), file};
    }
    if (parsed.shape.size() != 2) {
      return Error{fmt::format("has {} dimension{}; expected two: rows and columns", parsed.shape.size(),
                               parsed.shape.size() == 1 ? "" : "s"),
                   file};
    }
    const std::uint64_t columns = parsed.shape[1], rows = parsed.shape[0];
    if (columns > room || rows > room) return Error{"is cut short; expected all of its data", file};
    out.row_bytes = columns * column->size;
    for (std::uint64_t c = 0; c < columns; ++c) {
      NpyColumn next = *column;
      next.name = fmt::format("x{}", c + 1);
      next.offset = (parsed.fortran ? c * rows : c) * column->size;
      next.stride = parsed.fortran ? column->size : out.row_bytes;
      out.columns.push_back(std::move(next));
    }
    out.plain = column->kind == NpyColumn::Kind::kFloat && column->size == 8 && !column->swapped &&
                (!parsed.fortran || columns == 1) && out.data % 8 == 0;
  }
  out.rows = parsed.shape[0];
  if (out.row_bytes == 0 || out.rows > room / out.row_bytes) {
    return Error{fmt::format("is cut short: {} rows of {} bytes do not fit into {}; expected all of its data",
                             out.rows, out.row_bytes, room),
                 file};
  }
  if (out.rows * out.row_bytes != room) {
    return Error{
        fmt::format("has {} bytes behind its data; expected its end", room - out.rows * out.row_bytes), file};
  }
  return out;
}

}  // namespace bagwise::internal
