// Hashing where the values of sparse rows stand, which the values alone do not tell.
#pragma once

#include <cstdint>
#include <variant>

#include "bagwise/core/hash.h"
#include "bagwise/linalg/rows.h"

namespace bagwise {

// Of dense rows there is nothing to add.
inline void add_places(Fnv1a& hash, const RowsView& rows) {
  const auto* sparse = std::get_if<CsrView>(&rows);
  if (sparse == nullptr) return;
  for (const std::int64_t start : sparse->start) hash.add(static_cast<std::uint64_t>(start));
  for (const std::int32_t column : sparse->index) hash.add(static_cast<std::uint64_t>(column));
}

}  // namespace bagwise
