#include "bagwise/data/csv_records.h"

#include <fmt/format.h>

#include <charconv>

#include "bagwise/data/internal/byte_source.h"
#include "bagwise/data/internal/chunks.h"
#include "bagwise/data/internal/csv_cell.h"
#include "bagwise/data/internal/csv_layout.h"
#include "bagwise/data/internal/parse_number.h"

namespace bagwise {

Result<void> read_csv_records(
    const std::string& path, const std::function<Result<void>(const std::vector<std::string>&)>& header,
    const std::function<Result<void>(const std::vector<std::string_view>&, std::uint64_t line)>& record,
    const Observer& observer) {
  using namespace internal;
  const Waiting waiting = telling(observer);
  auto source = ByteSource::open(path, waiting);
  if (!source) return source.error();
  Chunks chunks(std::move(*source), Chunks::Quotes::kRespect, {});
  Chunk chunk;
  std::uint64_t line = 1;  // where the current record starts
  std::size_t columns = 0;
  std::vector<std::string_view> cells;
  for (;;) {
    auto got = chunks.next(chunk, waiting);
    if (!got) return got.error();
    if (!*got) break;
    if (columns == 0) {
      std::uint64_t lines = 0;
      auto names = read_csv_header(path, chunk, lines);
      if (!names) return names.error();
      line += lines;
      columns = names->size();
      if (auto done = header(*names); !done) return done;
    }
    for (char* p = chunk.begin; p != chunk.end;) {
      if (*p == '\n' || (*p == '\r' && p[1] == '\n')) {
        p += *p == '\n' ? 1 : 2;
        ++line;
        continue;
      }
      cells.clear();
      std::uint64_t lines = 1;
      for (bool more = true; more;) {
        const Cell cell = scan_cell(p, chunk.end);
        if (cell.fault != CellFault::kNone) {
          return Error{describe(cell.fault, chunk.cut_off), path, line + lines - 1,
                       fmt::format("{}", cells.size() + 1)};
        }
        cells.push_back(cell.text);
        lines += cell.newlines;
        more = *cell.stop != '\n';
        p = cell.stop + 1;
      }
      if (chunk.cut_off && p == chunk.end) {
        return Error{"the line is longer than 64 MiB; expected a line end before that", path, line};
      }
      if (cells.size() != columns) {
        return Error{fmt::format("the row has {} field{}; expected {} as in the header", cells.size(),
                                 cells.size() == 1 ? "" : "s", columns),
                     path, line};
      }
      if (auto done = record(cells, line); !done) return done;
      line += lines;
    }
    chunks.recycle(std::move(chunk));
  }
  if (columns == 0) return Error{"is empty; expected a header line with the names of the columns", path};
  return {};
}

Result<double> cell_number(std::string_view cell, std::string_view expected) {
  double value = 0;
  switch (internal::parse_number(cell, value)) {
    case internal::NumberFault::kNone:
      return value;
    case internal::NumberFault::kEmpty:
      return Error{fmt::format("is empty; expected {}", expected)};
    case internal::NumberFault::kNotFinite:
      return Error{fmt::format("{} is not finite; expected {}", shown_text(cell), expected)};
    case internal::NumberFault::kNotANumber:
      break;
  }
  return Error{fmt::format("{} is not a number; expected {}", shown_text(cell), expected)};
}

Result<std::uint64_t> cell_count(std::string_view cell, std::string_view expected) {
  std::string_view text = internal::trimmed(cell);
  if (text.empty()) return Error{fmt::format("is empty; expected {}", expected)};
  if (text.front() == '+') text.remove_prefix(1);
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc{} || stop != end) {
    return Error{fmt::format("{} is not a whole number; expected {}", shown_text(cell), expected)};
  }
  return value;
}

std::string shown_text(std::string_view text) { return internal::shown(text); }
std::string cut_text(std::string_view text) { return internal::cut(text); }

}  // namespace bagwise
