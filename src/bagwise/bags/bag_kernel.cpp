#include "bagwise/bags/bag_kernel.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <thread>

#include "bagwise/bags/rows_by_bag.h"
#include "bagwise/core/parallel.h"
#include "bagwise/linalg/kernel_rows.h"

namespace bagwise {
namespace {

constexpr std::size_t kTile = 256;  // rows on the right of a block

Eigen::Index as_index(std::size_t n) { return static_cast<Eigen::Index>(n); }

// Places [from, to) in the order of the bags: some whole bags, or a part of one bag that is too large for one
// strip.
struct Strip {
  std::size_t from = 0, to = 0;
  bool part = false;
};

std::uint32_t bag_at(const RowsInBags& data, const RowsByBag& sorted, std::size_t place) {
  return data.bag_of_row[sorted.row[place]];
}

// Strips of about `size` rows, by falling work: a strip is compared with all rows up to its end.
std::vector<Strip> cut(const RowsByBag& sorted, std::size_t size) {
  std::vector<Strip> strips;
  const std::size_t bags = sorted.bags();
  for (std::size_t k = 0; k < bags;) {
    const std::size_t from = sorted.start[k];
    if (sorted.start[k + 1] - from > size) {
      for (std::size_t p = from; p < sorted.start[k + 1]; p += size)
        strips.push_back({p, std::min(p + size, sorted.start[k + 1]), true});
      ++k;
      continue;
    }
    while (k < bags && sorted.start[k + 1] - from <= size) ++k;
    if (sorted.start[k] > from) strips.push_back({from, sorted.start[k], false});
  }
  std::reverse(strips.begin(), strips.end());
  return strips;
}

// Adds up the pairs (row of the strip, row up to the strip's end): a column of `sums` for every bag of the
// strip, a row for every bag up to its last. For a part of a bag, pairs with the parts before it count twice,
// for the pairs the other way round.
void add_strip(const KernelSpace& space, const RowsInBags& data, const RowsByBag& sorted, const Strip& strip,
               Eigen::Ref<ColMatrix> sums) {
  const std::size_t first = bag_at(data, sorted, strip.from), last = bag_at(data, sorted, strip.to - 1);
  const auto order = std::span(sorted.row);
  const KernelRows left(space, data.rows, order.subspan(strip.from, strip.to - strip.from));
  RowMatrix block;
  Eigen::RowVectorXd of_bag;
  // Tiles end where the strip begins, so that none mixes pairs that count once with pairs that count twice.
  for (std::size_t from = 0, to = 0; from < strip.to; from = to) {
    to = std::min(from + kTile, from < strip.from ? strip.from : strip.to);
    kernel_block(space, left, KernelRows(space, data.rows, order.subspan(from, to - from)), block);
    for (std::size_t k = first; k <= last; ++k) {
      const std::size_t begin = std::max(sorted.start[k], strip.from);
      const std::size_t end = std::min(sorted.start[k + 1], strip.to);
      of_bag = block.middleRows(as_index(begin - strip.from), as_index(end - begin)).colwise().sum();
      for (std::size_t p = from; p < to; ++p) {
        const bool twice = strip.part && from < strip.from && bag_at(data, sorted, p) == k;
        sums(bag_at(data, sorted, p), as_index(k - first)) += (twice ? 2 : 1) * of_bag[as_index(p - from)];
      }
    }
  }
}

// Sums over pairs become averages, and the lower triangle the upper one.
void finish(const RowsByBag& sorted, ColMatrix& out) {
  Vector weight(out.rows());
  for (Eigen::Index k = 0; k < weight.size(); ++k) {
    const auto bag = static_cast<std::size_t>(k);
    weight[k] = 1 / static_cast<double>(std::max<std::size_t>(1, sorted.size(bag)));
  }
  for (Eigen::Index k = 0; k < out.cols(); ++k) {
    for (Eigen::Index l = 0; l <= k; ++l) {
      out(l, k) *= weight[k] * weight[l];
      out(k, l) = out(l, k);
    }
  }
}

}  // namespace

// Column k of the upper triangle is written by the strip that has bag k. Only parts of one bag share a
// column: theirs are kept apart and added in their order.
ColMatrix bag_kernel(const KernelFunction& kernel, const RowsInBags& data, unsigned threads,
                     const Observer& observer) {
  assert(data.bag_of_row.size() == row_count(data.rows));
  const RowsByBag sorted(data.bag_of_row, data.bags);
  const KernelSpace space(kernel, data.rows, data.rows);
  const std::size_t rows = sorted.row.size();
  const std::vector<Strip> strips = cut(sorted, std::clamp<std::size_t>(rows / 48, 64, 1024));
  std::vector<ColMatrix> parts(strips.size());
  ColMatrix out = ColMatrix::Zero(as_index(data.bags), as_index(data.bags));

  const auto caller = std::this_thread::get_id();
  const double total = 0.5 * static_cast<double>(rows) * static_cast<double>(rows);
  std::atomic<double> done{0};
  std::atomic<bool> stop{false};
  parallel_for(strips.size(), threads, [&](std::size_t s) {
    if (stop) return;
    const Strip& strip = strips[s];
    const Eigen::Index first = bag_at(data, sorted, strip.from), last = bag_at(data, sorted, strip.to - 1);
    if (strip.part) {
      parts[s] = ColMatrix::Zero(last + 1, 1);
      add_strip(space, data, sorted, strip, parts[s]);
    } else {
      add_strip(space, data, sorted, strip, out.block(0, first, last + 1, last + 1 - first));
    }
    done += static_cast<double>(strip.to - strip.from) * 0.5 * static_cast<double>(strip.from + strip.to);
    if (std::this_thread::get_id() == caller && tell(observer, {"comparing", done, total}) == Next::kStop)
      stop = true;
  });
  for (std::size_t s = strips.size(); s-- > 0;) {
    if (parts[s].size() > 0) out.col(bag_at(data, sorted, strips[s].from)).head(parts[s].rows()) += parts[s];
  }
  finish(sorted, out);
  return out;
}

}  // namespace bagwise
