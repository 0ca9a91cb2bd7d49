#include "bagwise/linalg/finite.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <variant>
#include <vector>

#include "bagwise/core/parallel.h"

namespace bagwise {
namespace {

PlaceInRows place_of(const DenseView& rows, std::size_t at) {
  return {at / rows.columns, at % rows.columns, rows.values[at]};
}

PlaceInRows place_of(const CsrView& rows, std::size_t at) {
  const auto after = std::upper_bound(rows.start.begin(), rows.start.end(), static_cast<std::int64_t>(at));
  return {static_cast<std::size_t>(after - rows.start.begin()) - 1, static_cast<std::size_t>(rows.index[at]),
          rows.values[at]};
}

}  // namespace

bool all_finite(std::span<const double> values) {
  // 0 v is 0 of finite numbers alone. Sums side by side without a branch go at the speed of memory.
  constexpr std::size_t kLanes = 8;
  using Lanes [[gnu::vector_size(kLanes * sizeof(double))]] = double;
  Lanes sums = {};
  std::size_t k = 0;
  for (; k + kLanes <= values.size(); k += kLanes) {
    Lanes taken;
    std::memcpy(&taken, values.data() + k, sizeof taken);
    sums += taken * 0.0;
  }
  double sum = 0;
  for (; k < values.size(); ++k) sum += values[k] * 0.0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) sum += sums[lane];
  return sum == 0;
}

std::optional<PlaceInRows> first_not_finite(const RowsView& rows, unsigned threads) {
  constexpr std::size_t kPiece = 1 << 16;
  const std::span<const double> values = stored_values(rows);
  const std::size_t pieces = (values.size() + kPiece - 1) / kPiece;
  std::vector<char> bad(pieces, 0);
  parallel_for(pieces, threads, [&](std::size_t p) {
    const auto piece = values.subspan(p * kPiece, std::min(kPiece, values.size() - p * kPiece));
    bad[p] = all_finite(piece) ? 0 : 1;
  });
  const auto first = std::find(bad.begin(), bad.end(), 1);
  if (first == bad.end()) return std::nullopt;
  std::size_t at = static_cast<std::size_t>(first - bad.begin()) * kPiece;
  while (std::isfinite(values[at])) ++at;
  return std::visit([&](const auto& view) { return place_of(view, at); }, rows);
}

}  // namespace bagwise
