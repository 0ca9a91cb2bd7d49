#include "bagwise/report/grid_file.h"

#include <fmt/format.h>

#include "bagwise/core/atomic_file.h"
#include "bagwise/core/limits.h"
#include "bagwise/report/internal/grid_json.h"

namespace bagwise {
namespace {

bool names_methods(const Json& document) {
  if (!document.is_object() || document.empty()) return false;
  for (const auto& [key, value] : document.items()) {
    if (find_method(key) == nullptr) return false;
  }
  return true;
}

}  // namespace

Result<GridFile> grid_from_json(std::string_view text, const std::string& file) {
  auto parsed = parse_json(text, file, "a grid such as {\"C\": [1, 2, 4]}");
  if (!parsed) return parsed.error();
  const Json& document = *parsed;
  FirstFault fault;
  GridFile out;
  if (names_methods(document)) {
    for (const auto& [key, value] : document.items()) out.by_method[key] = paths_from(value, fault);
  } else {
    out.by_method[""] = paths_from(document, fault);
  }
  if (!fault.none()) return Error{fault.message, file};
  return out;
}

Result<GridFile> read_grid(const std::string& path) {
  auto text = read_file(path, limits::kLargestGrid);
  if (!text) return text.error();
  return grid_from_json(*text, path);
}

}  // namespace bagwise
