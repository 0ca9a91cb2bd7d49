#include "bagwise/evaluate/diagnosis_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "bagwise/bags/feature_moments.h"
#include "bagwise/core/parallel.h"
#include "bagwise/evaluate/diagnosis_statistics.h"

namespace bagwise {
namespace {

std::uint64_t mixed(std::uint64_t x) {  // the finish of splitmix64
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

void add_entry(RowMark& mark, std::uint64_t column, double value) {
  if (value == 0) return;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  mark.first += mixed(bits + mixed(2 * column + 1));
  mark.second += mixed(bits ^ mixed(2 * column + 2));
}

}  // namespace

std::vector<RowMark> row_marks(const RowsView& rows, unsigned threads) {
  constexpr std::size_t kBlock = 4096;
  std::vector<RowMark> out(row_count(rows));
  parallel_for((out.size() + kBlock - 1) / kBlock, threads, [&](std::size_t piece) {
    const std::size_t end = std::min(out.size(), (piece + 1) * kBlock);
    for (std::size_t i = piece * kBlock; i < end; ++i) {
      if (const auto* dense = std::get_if<DenseView>(&rows)) {
        const auto row = dense->row(i);
        for (std::size_t j = 0; j < row.size(); ++j) add_entry(out[i], j, row[j]);
      } else {
        const auto& sparse = std::get<CsrView>(rows);
        for (auto e = static_cast<std::size_t>(sparse.start[i]);
             e < static_cast<std::size_t>(sparse.start[i + 1]); ++e) {
          add_entry(out[i], static_cast<std::uint64_t>(sparse.index[e]), sparse.values[e]);
        }
      }
    }
  });
  return out;
}

Duplicates find_duplicates(const RowsView& rows, std::span<const std::uint32_t> bag_of_row,
                           unsigned threads) {
  const std::vector<RowMark> marks = row_marks(rows, threads);
  std::vector<std::pair<RowMark, std::uint32_t>> order;
  order.reserve(marks.size());
  for (std::size_t i = 0; i < marks.size(); ++i) order.emplace_back(marks[i], bag_of_row[i]);
  std::sort(order.begin(), order.end());
  Duplicates out;
  for (std::size_t from = 0, to = 0; from < order.size(); from = to) {
    while (to < order.size() && order[to].first == order[from].first) ++to;
    out.copies += to - from - 1;
    out.groups += to - from > 1 ? 1 : 0;
    if (order[from].second != order[to - 1].second) out.rows_in_bags += to - from;
  }
  return out;
}

std::uint64_t count_shared_rows(const RowsView& rows, const RowsView& others, unsigned threads) {
  std::vector<RowMark> known = row_marks(others, threads);
  std::sort(known.begin(), known.end());
  std::uint64_t out = 0;
  for (const RowMark& mark : row_marks(rows, threads))
    out += std::binary_search(known.begin(), known.end(), mark) ? 1 : 0;
  return out;
}

std::vector<std::size_t> constant_columns(const RowsView& rows) {
  const std::size_t n = row_count(rows), d = column_count(rows);
  std::vector<double> first(d, 0.0);
  std::vector<std::uint64_t> same(d, 0);  // rows that have the first entry's value
  if (const auto* dense = std::get_if<DenseView>(&rows)) {
    for (std::size_t i = 0; i < n; ++i) {
      const auto row = dense->row(i);
      if (i == 0) std::copy(row.begin(), row.end(), first.begin());
      for (std::size_t j = 0; j < d; ++j) same[j] += row[j] == first[j] ? 1 : 0;
    }
  } else {
    const auto& sparse = std::get<CsrView>(rows);
    std::vector<std::uint64_t> entries(d, 0);
    for (std::size_t e = 0; e < sparse.values.size(); ++e) {
      const auto j = static_cast<std::size_t>(sparse.index[e]);
      if (sparse.values[e] == 0) continue;
      if (entries[j]++ == 0) first[j] = sparse.values[e];
      same[j] += sparse.values[e] == first[j] ? 1 : 0;
    }
    for (std::size_t j = 0; j < d; ++j) {
      if (entries[j] == 0) same[j] = n;
    }
  }
  std::vector<std::size_t> out;
  for (std::size_t j = 0; j < d; ++j) {
    if (same[j] == n) out.push_back(j);
  }
  return out;
}

FeatureScales feature_scales(const FeatureMoments& moments) {
  FeatureScales out;
  std::vector<double> deviations;
  for (std::size_t j = 0; j < moments.sum.size(); ++j) {
    const double deviation = std::sqrt(std::max(0.0, moments.variance(j)));
    if (!(deviation > 0) || !std::isfinite(deviation)) continue;
    if (deviation > out.largest) {
      out.largest = deviation;
      out.feature = j;
    }
    deviations.push_back(deviation);
  }
  if (deviations.empty()) return out;
  std::sort(deviations.begin(), deviations.end());
  out.smallest = deviations.front();
  out.median = quantile(deviations, 0.5);
  return out;
}

}  // namespace bagwise
