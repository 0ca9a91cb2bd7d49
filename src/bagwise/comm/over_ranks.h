// Sums and more over ranks that share some work; without a communicator, or alone, all stays as it was.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bagwise/comm/communicator.h"
#include "bagwise/core/observer.h"
#include "bagwise/linalg/compensated.h"
#include "bagwise/linalg/rows.h"

namespace bagwise {

inline bool is_shared(const Communicator* comm) { return comm != nullptr && comm->size() > 1; }

inline void sum_over_ranks(Communicator* comm, std::span<double> values) {
  if (is_shared(comm)) comm->sum(values);
}
inline double sum_over_ranks(Communicator* comm, double value) {
  sum_over_ranks(comm, std::span(&value, 1));
  return value;
}
inline std::size_t sum_over_ranks(Communicator* comm, std::size_t count) {
  return is_shared(comm) ? static_cast<std::size_t>(sum_over_ranks(comm, static_cast<double>(count))) : count;
}
inline bool any_over_ranks(Communicator* comm, bool mine) {
  return is_shared(comm) ? sum_over_ranks(comm, mine ? 1.0 : 0.0) > 0 : mine;
}

// Items of every rank, one rank's after the other's.
template <class Item>
std::vector<Item> gather_over_ranks(Communicator* comm, std::vector<Item> mine) {
  static_assert(std::is_trivially_copyable_v<Item>);
  if (!is_shared(comm)) return mine;
  std::string bytes(mine.size() * sizeof(Item), '\0');
  if (!mine.empty()) std::memcpy(bytes.data(), mine.data(), bytes.size());
  std::vector<Item> out;
  for (const std::string& part : comm->gather(std::move(bytes))) {
    const std::size_t at = out.size();
    out.resize(at + part.size() / sizeof(Item));
    if (!part.empty()) std::memcpy(static_cast<void*>(&out[at]), part.data(), part.size());
  }
  return out;
}

inline double max_over_ranks(Communicator* comm, double mine) {
  double out = mine;
  for (const double value : gather_over_ranks(comm, std::vector<double>{mine})) out = std::max(out, value);
  return out;
}

inline CompensatedSum sum_over_ranks(Communicator* comm, const CompensatedSum& mine) {
  if (!is_shared(comm)) return mine;
  CompensatedSum out;
  for (const auto& part : gather_over_ranks(comm, std::vector<CompensatedSum>{mine})) out.add(part);
  return out;
}

// Whether the observer of any rank asks to stop.
inline bool told_to_stop(Communicator* comm, const Observer& observer, const Progress& progress) {
  return any_over_ranks(comm, tell(observer, progress) == Next::kStop);
}

}  // namespace bagwise
