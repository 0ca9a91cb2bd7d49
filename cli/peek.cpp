#include "cli/peek.h"

#include <memory>

#include "cli/output.h"

namespace bagwise::cli {

std::optional<TableSchema> peek_schema(const std::string& path, const TableOptions& options) {
  if (is_special(path)) return std::nullopt;
  std::optional<TableSchema> found;
  ParallelTable peek;
  peek.begin = [&](const TableSchema& schema) -> Result<void> {
    found = schema;
    return Error{"seen enough"};
  };
  peek.make = [] { return std::unique_ptr<RowSink>(); };
  static_cast<void>(map_table(path, options, peek));
  return found;
}

}  // namespace bagwise::cli
