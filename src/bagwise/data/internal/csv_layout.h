// CsvLayout: what each column of a CSV table is, and where its cells go.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bagwise/core/result.h"
#include "bagwise/data/internal/chunks.h"
#include "bagwise/data/name_table.h"
#include "bagwise/data/read_table.h"

namespace bagwise::internal {

enum class Role : std::uint8_t { kSkip, kFeature, kOneHot, kGroup, kShare, kBound, kLabel, kId };

struct CsvColumn {
  std::string name;
  Role role = Role::kSkip;
  std::uint32_t slot = 0;  // kFeature: its feature; kOneHot: its place in CsvLayout::one_hots
};

// A text column spread into 0/1 features: value `i` of `values` sets feature slots[i].
struct OneHot {
  std::size_t column = 0;
  NameTable values;
  std::vector<std::uint32_t> slots;
};

struct CsvLayout {
  std::vector<CsvColumn> columns;
  std::vector<OneHot> one_hots;
  // Columns that give features, in the order of the features. Without expected features the values of one-hot
  // columns are found by a first pass (scout.h), which completes the schema.
  std::vector<std::size_t> sources;
  TableSchema schema;
  Missing missing = Missing::kError;
  bool scouting = false;  // empty cells become NaN and text goes to the ScoutSink
  bool needs_scout = false;

  // "3 (age)", as messages name a column.
  [[nodiscard]] std::string column_text(std::size_t column) const;
};

// The header cells of the first chunk, whose `begin` is moved behind the header; `lines` is what it took.
Result<std::vector<std::string>> read_csv_header(const std::string& file, Chunk& chunk, std::uint64_t& lines);

Result<CsvLayout> plan_csv(const std::string& file, const std::vector<std::string>& header,
                           const TableOptions& options);

// The columns that are no features, in the order of Role: how they are called, and by which option.
struct RoleName {
  const std::string* name = nullptr;  // in the options
  const char* option = "";
  bool is_default = true;
};
std::array<RoleName, 5> role_names(const TableOptions& options);

// The name in `names` nearest to `wanted`, as "; did you mean X?", or nothing if none is near.
std::string suggestion(const std::string& wanted, const std::vector<std::string>& names);

}  // namespace bagwise::internal
