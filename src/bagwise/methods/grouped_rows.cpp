#include "bagwise/methods/grouped_rows.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "bagwise/bags/rows_by_bag.h"
#include "bagwise/methods/scaling.h"

namespace bagwise {
namespace {

bool comes_before(const DenseView& rows, std::size_t a, std::size_t b) {
  return std::ranges::lexicographical_compare(rows.row(a), rows.row(b));
}

// The same order: a column that is not stored holds 0.
bool comes_before(const CsrView& rows, std::size_t a, std::size_t b) {
  auto i = static_cast<std::size_t>(rows.start[a]), j = static_cast<std::size_t>(rows.start[b]);
  const auto end_i = static_cast<std::size_t>(rows.start[a + 1]);
  const auto end_j = static_cast<std::size_t>(rows.start[b + 1]);
  constexpr auto kNone = std::numeric_limits<std::int32_t>::max();
  while (i < end_i || j < end_j) {
    const std::int32_t column_i = i < end_i ? rows.index[i] : kNone;
    const std::int32_t column_j = j < end_j ? rows.index[j] : kNone;
    const double x = column_i <= column_j ? rows.values[i] : 0.0;
    const double z = column_j <= column_i ? rows.values[j] : 0.0;
    if (x != z) return x < z;
    i += column_i <= column_j ? 1 : 0;
    j += column_j <= column_i ? 1 : 0;
  }
  return false;
}

Features scaled(const Scaling& scaling, DenseRows rows) {
  apply(scaling, rows);
  return rows;
}
Features scaled(const Scaling& scaling, Csr rows) {
  if (scaling.factor.empty()) return rows;
  return scaled_rows(scaling, rows.view(), 0, rows.rows());
}

// The place of each bag where they are sorted by name.
std::vector<std::uint32_t> places_by_name(const std::vector<std::string>& names) {
  std::vector<std::uint32_t> order(names.size()), place(names.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) { return names[a] < names[b]; });
  for (std::uint32_t k = 0; k < order.size(); ++k) place[order[k]] = k;
  return place;
}

}  // namespace

GroupedRows group_rows(const BaggedData& data, const Scaling& scaling) {
  GroupedRows out;
  const std::vector<std::uint32_t> place = places_by_name(data.bags.names);
  out.data.feature_names = data.feature_names;
  out.data.bags = data.bags;
  for (std::size_t k = 0; k < place.size(); ++k) {
    out.data.bags.names[place[k]] = data.bags.names[k];
    out.data.bags.proportions[place[k]] = data.bags.proportions[k];
    if (!data.bags.noise.empty()) out.data.bags.noise[place[k]] = data.bags.noise[k];
  }
  std::vector<std::uint32_t> bag_of_row;
  for (const std::uint32_t bag : data.bag_of_row) bag_of_row.push_back(place[bag]);
  RowsByBag order(bag_of_row, data.bags.size());
  std::visit(
      [&](const auto& rows) {
        for (std::size_t k = 0; k < order.bags(); ++k) {
          std::ranges::sort(std::span(order.row).subspan(order.start[k], order.size(k)),
                            [&](std::size_t a, std::size_t b) { return comes_before(rows, a, b); });
        }
        out.data.features = scaled(scaling, take_rows(rows, order.row));
      },
      data.features.view());
  for (std::size_t k = 0; k < order.bags(); ++k)
    out.data.bag_of_row.insert(out.data.bag_of_row.end(), order.size(k), static_cast<std::uint32_t>(k));
  out.bag_start = std::move(order.start);
  return out;
}

}  // namespace bagwise
