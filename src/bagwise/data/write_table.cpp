#include "bagwise/data/write_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <charconv>
#include <cmath>
#include <optional>
#include <unordered_set>
#include <vector>

#include "bagwise/core/parallel.h"
#include "bagwise/data/compressed_file.h"

namespace bagwise {
namespace {

// Rows are turned into text on all cores, a few blocks at a time, and written in order.
constexpr std::size_t kBlockRows = 512, kBlocksAtOnce = 32;

struct Block {
  std::string text;
  std::optional<Error> fault;
};

template <class Number>
void append_number(std::string& out, Number value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

// False if the value is not finite, which no file can hold.
bool append_value(std::string& out, double value) {
  append_number(out, value);
  return std::isfinite(value);
}

Error not_finite(std::size_t row, const std::string& column, double value) {
  return Error{fmt::format("row {} has {} in column {}; expected a finite number", row + 1, value, column)};
}

// A row's features, zeros included, handed to each(column, value) until it says false.
template <class Each>
void for_each_value(const DenseView& rows, std::size_t i, Each&& each) {
  for (std::size_t j = 0; j < rows.columns; ++j) {
    if (!each(j, rows.values[i * rows.columns + j])) return;
  }
}
template <class Each>
void for_each_value(const CsrView& rows, std::size_t i, Each&& each) {
  auto k = static_cast<std::size_t>(rows.start[i]);
  const auto end = static_cast<std::size_t>(rows.start[i + 1]);
  for (std::size_t j = 0; j < rows.columns; ++j) {
    const bool stored = k < end && static_cast<std::size_t>(rows.index[k]) == j;
    if (!each(j, stored ? rows.values[k++] : 0.0)) return;
  }
}

// What stands before the features in a CSV row; each piece ends with a comma.
std::optional<Error> append_csv_head(const Dataset& table, std::size_t i, std::string& out) {
  if (!table.ids.empty()) out += csv_cell(table.ids[i]) + ",";
  if (table.groups.present()) out += csv_cell(table.groups.values[table.groups.codes[i]]) + ",";
  if (!table.shares.empty()) {
    if (!append_value(out, table.shares[i])) return not_finite(i, "proportion", table.shares[i]);
    out += ',';
  }
  if (!table.labels.empty()) {
    if (table.labels[i] != 0) out += table.labels[i] > 0 ? '1' : '0';
    out += ',';
  }
  if (!table.bounds.empty()) {
    if (!append_value(out, table.bounds[i])) return not_finite(i, "delta", table.bounds[i]);
    out += ',';
  }
  return std::nullopt;
}

template <class View>
std::optional<Error> append_csv_row(const Dataset& table, const View& rows, std::size_t i, std::string& out) {
  std::optional<Error> fault = append_csv_head(table, i, out);
  for_each_value(rows, i, [&](std::size_t j, double value) {
    if (!append_value(out, value)) fault = not_finite(i, table.feature_names[j], value);
    out += ',';
    return !fault;
  });
  out.back() = '\n';
  return fault;
}

template <class View>
std::optional<Error> append_svm_row(const Dataset& table, const View& rows,
                                    const std::vector<std::int64_t>& index, std::size_t i, std::string& out) {
  append_number(out, table.labels.empty() ? 0 : static_cast<int>(table.labels[i]));
  if (table.groups.present()) out += " qid:" + table.groups.values[table.groups.codes[i]];
  std::optional<Error> fault;
  for_each_value(rows, i, [&](std::size_t j, double value) {
    if (std::bit_cast<std::uint64_t>(value) == 0) return true;  // a negative zero is kept
    out += ' ';
    append_number(out, index[j]);
    out += ':';
    if (!append_value(out, value)) fault = not_finite(i, table.feature_names[j], value);
    return !fault;
  });
  out += '\n';
  return fault;
}

Result<std::string> csv_header(const Dataset& table) {
  std::vector<std::string> names;
  if (!table.ids.empty()) names.emplace_back("id");
  if (table.groups.present()) names.emplace_back("bag");
  if (!table.shares.empty()) names.emplace_back("proportion");
  if (!table.labels.empty()) names.emplace_back("label");
  if (!table.bounds.empty()) names.emplace_back("delta");
  names.insert(names.end(), table.feature_names.begin(), table.feature_names.end());
  std::unordered_set<std::string_view> seen;
  std::string out;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) {
      return Error{fmt::format("two columns would be called \"{}\"; expected names that differ", name)};
    }
    out += csv_cell(name) + ",";
  }
  if (out.empty()) return Error{"there are no columns to write; expected at least one"};
  out.back() = '\n';
  return out;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::int64_t> svm_indices(const std::vector<std::string>& names) {
  std::vector<std::int64_t> from_names, places;
  bool usable = true;
  for (const std::string& name : names) {
    const auto number = whole_number(name);
    usable = usable && number && *number > (from_names.empty() ? 0 : from_names.back());
    if (usable) from_names.push_back(*number);
    places.push_back(static_cast<std::int64_t>(places.size() + 1));
  }
  return usable ? from_names : places;
}

std::optional<Error> svm_cannot_hold(const Dataset& table) {
  const auto no_place = [](std::string_view what) {
    return Error{fmt::format("SVMlight has no place for {}; expected a name ending in .csv", what)};
  };
  if (!table.ids.empty()) return no_place("the id column");
  if (!table.shares.empty()) return no_place("the proportion column");
  if (!table.bounds.empty()) return no_place("the delta column");
  for (const std::string& bag : table.groups.values) {
    if (const auto number = whole_number(bag); !number || *number < 0) {
      return Error{fmt::format(
          "bag \"{}\" cannot be a qid of SVMlight; expected a whole number, or a name ending in .csv", bag)};
    }
  }
  return std::nullopt;
}

// Text of every row by `append`, then into the file.
template <class Append>
Result<void> write_rows(std::size_t rows, CompressedFile& file, const Append& append) {
  const std::size_t blocks = (rows + kBlockRows - 1) / kBlockRows;
  std::vector<Block> made(std::min(blocks, kBlocksAtOnce));
  for (std::size_t first = 0; first < blocks; first += kBlocksAtOnce) {
    const std::size_t count = std::min(kBlocksAtOnce, blocks - first);
    parallel_for(count, 0, [&](std::size_t b) {
      Block& block = made[b];
      block.text.clear();
      const std::size_t from = (first + b) * kBlockRows, to = std::min(rows, from + kBlockRows);
      for (std::size_t i = from; i < to && !block.fault; ++i) block.fault = append(i, block.text);
    });
    for (std::size_t b = 0; b < count; ++b) {
      if (made[b].fault) return *made[b].fault;
      if (auto written = file.write(made[b].text); !written) return written;
    }
  }
  return {};
}

Result<void> write_all(const std::string& path, const Dataset& table, FileGroup* group) {
  const bool svmlight = form_by_name(path).svmlight;
  std::string header;
  std::vector<std::int64_t> index;
  if (svmlight) {
    if (auto fault = svm_cannot_hold(table)) return *fault;
    index = svm_indices(table.feature_names);
  } else {
    auto made = csv_header(table);
    if (!made) return made.error();
    header = std::move(*made);
  }
  auto file = CompressedFile::create(path);
  if (!file) return file.error();
  if (auto written = file->write(header); !written) return written;
  auto rows_written = std::visit(
      [&](const auto& view) {
        return write_rows(table.rows(), *file, [&](std::size_t i, std::string& out) {
          return svmlight ? append_svm_row(table, view, index, i, out) : append_csv_row(table, view, i, out);
        });
      },
      table.features.view());
  if (!rows_written) return rows_written;
  return file->commit(group);
}

}  // namespace

std::string csv_cell(std::string_view text) {
  constexpr std::string_view kByteOrderMark =
      "\xEF\xBB\xBF";  // at the start of a file it is no part of a name
  const bool plain =
      text.find_first_of(",\"\r\n") == std::string_view::npos && !text.starts_with(kByteOrderMark) &&
      (text.empty() ||
       (text.front() != ' ' && text.front() != '\t' && text.back() != ' ' && text.back() != '\t'));
  if (plain) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

Result<void> write_table(const std::string& path, const Dataset& table, FileGroup* group) {
  assert(table.feature_names.size() == table.features.columns());
  auto outcome = write_all(path, table, group);
  if (outcome || !outcome.error().file.empty()) return outcome;
  Error error = outcome.error();
  error.file = path;
  return error;
}

}  // namespace bagwise
