#include "bagwise/core/result.h"

#include <fmt/format.h>

namespace bagwise {

std::string Error::text() const {
  std::string out;
  if (!file.empty()) out += line > 0 ? fmt::format("{}:{}: ", file, line) : fmt::format("{}: ", file);
  if (!column.empty()) out += fmt::format("column {}: ", column);
  return out + message;
}

}  // namespace bagwise
