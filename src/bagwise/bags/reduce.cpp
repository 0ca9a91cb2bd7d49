#include <algorithm>
#include <cassert>
#include <vector>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/bags/feature_moments.h"
#include "bagwise/bags/rows_by_bag.h"
#include "bagwise/core/parallel.h"

namespace bagwise {
namespace {

constexpr std::size_t kPieceRows = 4096;  // fixed: the bits must not depend on the number of threads

void add_row(const DenseView& rows, std::size_t i, std::size_t bag, double bound, BagSums& sums,
             FeatureMoments& moments) {
  sums.add_row(bag, rows.row(i), bound);
  moments.add_row(rows.row(i));
}

void add_row(const CsrView& rows, std::size_t i, std::size_t bag, double bound, BagSums& sums,
             FeatureMoments& moments) {
  const auto from = static_cast<std::size_t>(rows.start[i]);
  const auto count = static_cast<std::size_t>(rows.start[i + 1]) - from;
  sums.add_sparse_row(bag, rows.index.subspan(from, count), rows.values.subspan(from, count), bound);
  moments.add_sparse_row(rows.index.subspan(from, count), rows.values.subspan(from, count));
}

}  // namespace

// Rows are visited bag by bag and cut into pieces of kPieceRows. A bag that begins in a piece is summed in
// place by that piece; only the bag that runs over from the piece before needs a partial sum of its own, so
// there is one extra row of sums per piece however many bags there are.
ReducedBags reduce(const BaggedData& data, unsigned threads) {
  const std::size_t rows = data.features.rows(), columns = data.features.columns();
  assert(data.bag_of_row.size() == rows && data.feature_names.size() == columns);
  assert(data.bounds.empty() || data.bounds.size() == rows);

  ReducedBags out{data.feature_names, data.bags, BagSums(data.bags.size(), columns), FeatureMoments(columns),
                  !data.bounds.empty()};
  const std::vector<std::size_t> order = RowsByBag(data.bag_of_row, data.bags.size()).row;
  const std::size_t pieces = (rows + kPieceRows - 1) / kPieceRows;
  std::vector<BagSums> carried(pieces);  // of the bag that runs over into the piece, if one does
  std::vector<FeatureMoments> moments(pieces);
  const auto bag_at = [&](std::size_t place) { return data.bag_of_row[order[place]]; };

  parallel_for(pieces, threads, [&](std::size_t p) {
    const std::size_t from = p * kPieceRows, to = std::min(rows, from + kPieceRows);
    moments[p] = FeatureMoments(columns);
    const bool runs_over = p > 0 && bag_at(from - 1) == bag_at(from);
    if (runs_over) carried[p] = BagSums(1, columns);
    std::visit(
        [&](const auto& view) {
          for (std::size_t place = from; place < to; ++place) {
            const std::size_t i = order[place];
            const double bound = data.bounds.empty() ? 0.0 : data.bounds[i];
            const bool in_first_bag = runs_over && bag_at(place) == bag_at(from);
            if (in_first_bag) {
              add_row(view, i, 0, bound, carried[p], moments[p]);
            } else {
              add_row(view, i, bag_at(place), bound, out.sums, moments[p]);
            }
          }
        },
        data.features.view());
  });
  for (std::size_t p = 0; p < pieces; ++p) {
    if (carried[p].bags() > 0) out.sums.merge(carried[p], std::vector<std::uint32_t>{bag_at(p * kPieceRows)});
    out.moments.merge(moments[p]);
  }
  return out;
}

}  // namespace bagwise
