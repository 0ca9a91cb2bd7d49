#include "bagwise/data/table_source.h"

#include <fmt/format.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>

#include "bagwise/data/internal/byte_source.h"

namespace bagwise {
namespace {

// What a pattern names, sorted by bytes; nothing if there is no such file.
Result<std::vector<std::string>> matches(const std::string& pattern) {
  struct stat info {};
  if (stat(pattern.c_str(), &info) == 0) return std::vector<std::string>{pattern};
  glob_t found{};
  const std::unique_ptr<glob_t, void (*)(glob_t*)> guard(&found, globfree);
  // NOSORT: glob sorts by the locale, which would make the order of rows depend on it.
  const int code = glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  if (code != 0 && code != GLOB_NOMATCH) {
    return Error{code == GLOB_NOSPACE ? "cannot be searched for: out of memory" : "cannot be searched for",
                 pattern};
  }
  std::vector<std::string> out(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  std::sort(out.begin(), out.end());
  return out;
}

bool has_wildcard(const std::string& pattern) { return pattern.find_first_of("*?[") != std::string::npos; }

}  // namespace

std::string TableSource::name() const {
  if (parts.empty()) return "";
  std::set<std::string> files;
  for (const TablePart& part : parts) files.insert(part.path);
  const std::size_t more = files.size() - 1;
  if (more == 0) return parts[0].path;
  return fmt::format("{} and {} more file{}", parts[0].path, more, more == 1 ? "" : "s");
}

Result<TableSource> find_tables(std::span<const std::string> patterns) {
  TableSource out;
  std::set<std::pair<dev_t, ino_t>> seen;
  for (const std::string& pattern : patterns) {
    auto files = matches(pattern);
    if (!files) return files.error();
    if (files->empty()) {
      return Error{has_wildcard(pattern) ? "no file matches this pattern; expected at least one"
                                         : "there is no such file",
                   pattern};
    }
    for (std::string& path : *files) {
      struct stat info {};
      const bool file = stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
      if (file && !seen.emplace(info.st_dev, info.st_ino).second) {
        return Error{"is named twice; expected every file of a table once", path};
      }
      out.parts.push_back({std::move(path)});
    }
  }
  if (out.parts.empty()) return Error{"no table is named; expected at least one file"};
  return out;
}

Result<TableSource> share_of(const TableSource& source, int rank, int size) {
  assert(0 <= rank && rank < size && !source.parts.empty());
  TableSource out;
  out.share = true;
  struct Place {
    std::uint64_t from = 0, size = 0;  // among all bytes
    bool divisible = false;
  };
  std::vector<Place> places;
  std::uint64_t total = 0;
  for (const TablePart& part : source.parts) {
    auto bytes = internal::divisible_size(part.path);
    if (!bytes) return bytes.error();
    const std::uint64_t end = std::min(part.to, bytes->size);
    const std::uint64_t length = part.from < end ? end - part.from : 0;
    places.push_back({total, length, bytes->divisible});
    total += length;
  }
  __extension__ using Wide = unsigned __int128;
  const auto border = [&](int r) {
    return static_cast<std::uint64_t>(static_cast<Wide>(total) * static_cast<unsigned>(r) /
                                      static_cast<unsigned>(size));
  };
  const std::uint64_t from = border(rank), to = border(rank + 1);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Place& place = places[i];
    const TablePart& part = source.parts[i];
    if (place.size == 0) {  // a pipe, or an empty file, which somebody has to find fault with
      if (rank == 0) out.parts.push_back(part);
      continue;
    }
    if (!place.divisible) {  // goes to whoever has its middle
      const std::uint64_t middle = place.from + place.size / 2;
      if (from <= middle && middle < to) out.parts.push_back(part);
      continue;
    }
    const std::uint64_t first = std::max(from, place.from);
    const std::uint64_t last = std::min(to, place.from + place.size);
    if (first >= last) continue;
    TablePart share{part.path, part.from + (first - place.from), part.from + (last - place.from)};
    if (last == place.from + place.size) share.to = part.to;  // also what is appended meanwhile
    out.parts.push_back(std::move(share));
  }
  if (out.parts.empty()) out.parts.push_back({source.parts[0].path, 0, 0});
  return out;
}

}  // namespace bagwise
