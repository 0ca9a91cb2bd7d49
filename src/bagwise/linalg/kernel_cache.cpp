#include "bagwise/linalg/kernel_cache.h"

#include <algorithm>

#include "bagwise/linalg/blas.h"

namespace bagwise {
namespace {

std::vector<double> diagonal_of(const KernelSpace& space, const RowsView& rows) {
  std::vector<double> out;
  RowMatrix block;
  constexpr std::size_t kBlock = 32;
  for (std::size_t from = 0; from < row_count(rows); from += kBlock) {
    const KernelRows some(space, rows, from, std::min(kBlock, row_count(rows) - from));
    kernel_block(space, some, some, block);
    for (Eigen::Index i = 0; i < block.rows(); ++i) out.push_back(block(i, i));
  }
  return out;
}

}  // namespace

KernelCache::KernelCache(const KernelFunction& kernel, const RowsView& rows, std::size_t bytes)
    : rows_(rows),
      space_(kernel, rows, rows),
      all_(space_, rows, 0, row_count(rows)),
      diagonal_(diagonal_of(space_, rows)),
      room_(std::max<std::size_t>(1, bytes / sizeof(double) / std::max<std::size_t>(1, all_.rows()))),
      places_(all_.rows()) {}

std::size_t KernelCache::computed() const {
  const std::lock_guard guard(lock_);
  return computed_;
}

KernelCache::Column KernelCache::column(std::size_t i) {
  {
    const std::lock_guard guard(lock_);
    if (Place& place = places_[i]; place.column) {
      recent_.splice(recent_.begin(), recent_, place.use);
      return place.column;
    }
  }
  // Outside the lock: two threads may compute the same column, to the same bits.
  const SerialBlas serial;
  const KernelRows one(space_, rows_, i, 1);
  RowMatrix block;
  kernel_block(space_, one, all_, block);
  auto found = std::make_shared<const std::vector<double>>(block.data(), block.data() + block.size());

  const std::lock_guard guard(lock_);
  ++computed_;
  Place& place = places_[i];
  if (place.column) return place.column;
  if (recent_.size() >= room_) {
    places_[recent_.back()].column.reset();
    recent_.pop_back();
  }
  recent_.push_front(i);
  place = {found, recent_.begin()};
  return found;
}

}  // namespace bagwise
