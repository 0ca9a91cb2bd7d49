#include "bagwise/data/arrow_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bagwise/data/internal/csv_cell.h"

namespace bagwise {
namespace {

// Releases what the other side lent, once.
template <class T>
void release(T& lent) {
  if (lent.release == nullptr) return;
  lent.release(&lent);
  lent.release = nullptr;  // as the other side must have done
}

template <class T>
class Lent {
 public:
  Lent() = default;
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  ~Lent() { release(value); }

  T value{};
};

class StreamEnd {
 public:
  explicit StreamEnd(ArrowArrayStream& stream) : stream_(stream) {}
  StreamEnd(const StreamEnd&) = delete;
  StreamEnd& operator=(const StreamEnd&) = delete;
  ~StreamEnd() { release(stream_); }

 private:
  ArrowArrayStream& stream_;
};

// Writes `count` values from number `from` on, one to every `stride` doubles.
using Put = void (*)(const void* data, std::size_t from, std::size_t count, double* to, std::size_t stride);

template <class T>
T load(const void* data, std::size_t i) {
  T value;  // not always aligned
  std::memcpy(&value, static_cast<const std::byte*>(data) + i * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void put_numbers(const void* data, std::size_t from, std::size_t count, double* to, std::size_t stride) {
  for (std::size_t i = 0; i < count; ++i) to[i * stride] = static_cast<double>(load<T>(data, from + i));
}

bool bit_at(const void* data, std::size_t i) {
  return ((load<std::uint8_t>(data, i / 8) >> (i % 8)) & 1U) != 0;
}

void put_bits(const void* data, std::size_t from, std::size_t count, double* to, std::size_t stride) {
  for (std::size_t i = 0; i < count; ++i) to[i * stride] = bit_at(data, from + i) ? 1 : 0;
}

// IEEE 754 binary16: a sign, 5 bits of exponent, 10 of fraction.
double from_half(std::uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const int fraction = half & 1023;
  double size = 0;
  if (exponent == 31) {
    size = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else {
    size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  }
  return (half & 0x8000U) != 0 ? -size : size;
}

void put_halves(const void* data, std::size_t from, std::size_t count, double* to, std::size_t stride) {
  for (std::size_t i = 0; i < count; ++i) to[i * stride] = from_half(load<std::uint16_t>(data, from + i));
}

struct Column {
  std::string label;  // its number and name, for messages
  Put put = nullptr;  // none: every value is null
};

struct Format {
  std::string_view code;
  Put put;
};
constexpr std::array<Format, 13> kFormats = {{{"n", nullptr},
                                              {"b", put_bits},
                                              {"c", put_numbers<std::int8_t>},
                                              {"C", put_numbers<std::uint8_t>},
                                              {"s", put_numbers<std::int16_t>},
                                              {"S", put_numbers<std::uint16_t>},
                                              {"i", put_numbers<std::int32_t>},
                                              {"I", put_numbers<std::uint32_t>},
                                              {"l", put_numbers<std::int64_t>},
                                              {"L", put_numbers<std::uint64_t>},
                                              {"e", put_halves},
                                              {"f", put_numbers<float>},
                                              {"g", put_numbers<double>}}};

// What a format that is not taken holds, and what the user can do; the first that the format begins with.
struct OtherFormat {
  std::string_view start, holds, remedy;
};
constexpr std::string_view kEncode = "encode it as numbers (one column per value) or leave it out";
constexpr std::string_view kMeasure = "turn it into a number (say, days since a date) or leave it out";
constexpr std::array<OtherFormat, 17> kOthers = {
    {{"u", "text", kEncode},
     {"U", "text", kEncode},
     {"vu", "text", kEncode},
     {"z", "bytes", "leave it out"},
     {"Z", "bytes", "leave it out"},
     {"vz", "bytes", "leave it out"},
     {"w:", "bytes", "leave it out"},
     {"d:", "decimal numbers", "cast it to float64"},
     {"td", "dates", kMeasure},
     {"tt", "times of day", kMeasure},
     {"ts", "timestamps", kMeasure},
     {"tD", "durations", kMeasure},
     {"ti", "intervals of time", kMeasure},
     {"+s", "structs", "make columns of its fields or leave it out"},
     {"+r", "runs (run-end encoded)", "decode it to one value per row"},
     {"+", "lists or other nested values", "spread it over columns of numbers or leave it out"},
     {"", "what is not known here", "cast it to float64 or leave it out"}}};

std::string text_of(const char* text) { return text == nullptr ? std::string() : std::string(text); }

Error column_error(const std::string& what, const std::string& label, std::string message) {
  return Error{std::move(message), what, 0, label};
}

// A number of rows cannot be in Error::line, which is a file's.
std::string row_of(const std::string& what, std::size_t row) {
  return fmt::format("{}: row {}", what, row + 1);
}

Error call_error(ArrowArrayStream& stream, int code, const std::string& what) {
  std::string reason = text_of(stream.get_last_error == nullptr ? nullptr : stream.get_last_error(&stream));
  if (reason.empty()) reason = std::generic_category().message(code);
  return Error{fmt::format("the Arrow stream failed: {}", reason), what};
}

Result<Column> make_column(const ArrowSchema& field, const std::string& label, const std::string& what) {
  const std::string format = text_of(field.format);
  if (field.dictionary != nullptr) {
    return column_error(
        what, label,
        fmt::format("holds categories (a dictionary of Arrow format {} under codes of "
                    "format {}); expected numbers or booleans: {}",
                    internal::shown(text_of(field.dictionary->format)), internal::shown(format), kEncode));
  }
  for (const Format& known : kFormats) {
    if (known.code == format) return Column{label, known.put};
  }
  const OtherFormat& other =
      *std::ranges::find_if(kOthers, [&](const OtherFormat& o) { return format.starts_with(o.start); });
  return column_error(what, label,
                      fmt::format("holds {} (Arrow format {}); expected numbers or booleans: {}", other.holds,
                                  internal::shown(format), other.remedy));
}

Result<std::vector<Column>> read_schema(const ArrowSchema& schema, const std::string& what,
                                        std::vector<std::string>& names) {
  if (text_of(schema.format) != "+s") {
    return Error{fmt::format("the Arrow stream gives arrays of format {}; expected a table, that is structs "
                             "(format \"+s\") with a field per column",
                             internal::shown(text_of(schema.format))),
                 what};
  }
  if (schema.n_children <= 0) return Error{"there is no feature column here; expected at least one", what};
  const auto count = static_cast<std::size_t>(schema.n_children);
  std::vector<Column> columns;
  std::unordered_map<std::string, std::size_t> numbers;
  for (std::size_t c = 0; c < count; ++c) {
    const ArrowSchema& field = *schema.children[c];
    std::string name = text_of(field.name);
    if (name.empty()) name = fmt::format("x{}", c + 1);
    const std::string label = fmt::format("{} ({})", c + 1, internal::cut(name));
    const auto [other, fresh] = numbers.emplace(name, c + 1);
    if (!fresh) {
      return column_error(
          what, label, fmt::format("is the name of column {} too; expected every name once", other->second));
    }
    auto column = make_column(field, label, what);
    if (!column) return std::move(column).error();
    columns.push_back(std::move(*column));
    names.push_back(std::move(name));
  }
  return columns;
}

// The first of `count` values from number `from` on whose bit is not set.
std::optional<std::size_t> first_null(const void* bits, std::size_t from, std::size_t count) {
  std::size_t i = 0;
  while (i < count) {
    if ((from + i) % 8 == 0 && load<std::uint8_t>(bits, (from + i) / 8) == 0xFF) {
      i += 8;
    } else if (!bit_at(bits, from + i)) {
      return i;
    } else {
      ++i;
    }
  }
  return std::nullopt;
}

// Some values of an array: from number `from` of its buffers on.
struct Part {
  const void* data = nullptr;
  std::size_t from = 0;
  std::optional<std::size_t> null = {};  // the first there is, counted from `from`
};

// The nulls of `count` values from number `from` on; an error where what the array says cannot be.
Result<std::optional<std::size_t>> find_null(const ArrowArray& array, std::size_t from, std::size_t count) {
  const void* bits = array.n_buffers > 0 && array.buffers != nullptr ? array.buffers[0] : nullptr;
  if (array.null_count == 0 || count == 0) return std::optional<std::size_t>();
  if (bits != nullptr) return first_null(bits, from, count);
  if (array.null_count < 0) return std::optional<std::size_t>();  // not counted, and none marked
  return Error{
      fmt::format("says it has {} nulls but not where; expected a validity buffer", array.null_count)};
}

bool in_range(const ArrowArray& array) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return array.length >= 0 && array.offset >= 0 && array.length <= kMost - array.offset;
}

// Rows [batch.offset, batch.offset + batch.length) of one of its columns.
Result<Part> take_part(const ArrowArray& batch, const ArrowArray& array, bool with_data) {
  const auto count = static_cast<std::size_t>(batch.length);
  const bool enough =
      in_range(array) && batch.offset <= array.length && batch.length <= array.length - batch.offset;
  if (!enough) {
    return Error{fmt::format("has {} values from {} on; expected those of rows {} to {} of its batch",
                             array.length, array.offset, batch.offset, batch.offset + batch.length)};
  }
  Part part;
  part.from = static_cast<std::size_t>(array.offset) + static_cast<std::size_t>(batch.offset);
  if (!with_data) {
    if (count > 0) part.null = 0;
    return part;
  }
  const auto null = find_null(array, part.from, count);
  if (!null) return null.error();
  part.null = *null;
  if (array.n_buffers != 2 || array.buffers == nullptr || (array.buffers[1] == nullptr && count > 0)) {
    return Error{fmt::format("has {} buffers; expected two, of validity and of values", array.n_buffers)};
  }
  part.data = array.buffers[1];
  return part;
}

// Adds the rows of one batch. Nothing is added where there is an error.
Result<void> add_batch(const ArrowArray& batch, const std::vector<Column>& columns, const std::string& what,
                       DenseRows& rows) {
  const std::size_t width = columns.size();
  if (!in_range(batch) || batch.n_children != static_cast<std::int64_t>(width)) {
    return Error{fmt::format("a batch of the Arrow stream has {} columns and {} rows from {} on; expected {} "
                             "columns as its schema says",
                             batch.n_children, batch.length, batch.offset, width),
                 what};
  }
  const auto count = static_cast<std::size_t>(batch.length);
  const auto whole = find_null(batch, static_cast<std::size_t>(batch.offset), count);
  if (!whole) return Error{"a batch of the Arrow stream " + whole.error().message, what};

  std::vector<Part> parts;
  std::size_t null_row = whole->value_or(count), null_column = width;
  for (std::size_t c = 0; c < width; ++c) {
    auto part = take_part(batch, *batch.children[c], columns[c].put != nullptr);
    if (!part) return column_error(what, columns[c].label, std::move(part).error().message);
    if (part->null && *part->null < null_row) {
      null_row = *part->null;
      null_column = c;
    }
    parts.push_back(*part);
  }
  if (null_row < count) {
    const std::string row = row_of(what, rows.rows() + null_row);
    if (null_column == width) return Error{"is null as a whole; expected a number in every column", row};
    return column_error(
        row, columns[null_column].label,
        "is empty (null); expected a finite number (fill nulls or leave such rows out first)");
  }

  if (count > std::numeric_limits<std::size_t>::max() / sizeof(double) / width - rows.rows()) {
    throw std::bad_alloc();
  }
  double* const to = rows.append(count);
  // By blocks of rows that stay in the cache while one column after the other is put there.
  const std::size_t block = std::clamp<std::size_t>(2048 / width, 16, 1024);
  for (std::size_t first = 0; first < count; first += block) {
    const std::size_t size = std::min(block, count - first);
    for (std::size_t c = 0; c < width; ++c) {
      columns[c].put(parts[c].data, parts[c].from + first, size, to + first * width + c, width);
    }
  }
  return {};
}

}  // namespace

Result<Dataset> read_arrow(ArrowArrayStream& stream, const std::string& what) {
  if (stream.release == nullptr) {
    return Error{"the Arrow stream was read or released before; expected one that is new", what};
  }
  const StreamEnd end(stream);

  Dataset out;
  std::vector<Column> columns;
  {
    Lent<ArrowSchema> schema;
    const int code = stream.get_schema(&stream, &schema.value);
    if (code != 0) return call_error(stream, code, what);
    auto read = read_schema(schema.value, what, out.feature_names);
    if (!read) return std::move(read).error();
    columns = std::move(*read);
  }
  DenseRows rows(columns.size());
  for (;;) {
    Lent<ArrowArray> batch;
    const int code = stream.get_next(&stream, &batch.value);
    if (code != 0) return call_error(stream, code, what);
    if (batch.value.release == nullptr) break;
    auto added = add_batch(batch.value, columns, what, rows);
    if (!added) return std::move(added).error();
  }
  rows.shrink_to_fit();
  out.features = std::move(rows);
  return out;
}

}  // namespace bagwise
