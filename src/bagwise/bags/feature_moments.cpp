#include "bagwise/bags/feature_moments.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "bagwise/bags/bag_sums.h"

namespace bagwise {
namespace {

// Four values side by side. Vectors go over features, never over rows: the bits are those of one by one, and
// the same on every processor. Kept in this file: how one is passed depends on the processor.
constexpr std::size_t kLanes = 4;
using Lanes [[gnu::vector_size(kLanes * sizeof(double))]] = double;

// out = a * b + c, rounded once; not returned, since how a vector is depends on the processor.
[[gnu::always_inline]] inline void multiply_add(const Lanes& a, const Lanes& b, const Lanes& c, Lanes& out) {
  out = Lanes{__builtin_fma(a[0], b[0], c[0]), __builtin_fma(a[1], b[1], c[1]),
              __builtin_fma(a[2], b[2], c[2]), __builtin_fma(a[3], b[3], c[3])};
}

// x^2 with the rounding error of the product kept, so that a variance survives a mean of 1e9 times its root.
// Where x^2 is too large for a number, the sum is none either.
inline void add_square(CompensatedSum& sum, double x) {
  const double square = x * x;
  sum.add(square);
  sum.low += std::fma(x, x, -square);
}

// The moments of features [from, from + kLanes), or of fewer at the end of a row.
struct MomentLanes {
  Lanes high = {}, low = {}, square_high = {}, square_low = {}, largest = {};
};

// Inlined into functions for different processors, which have a multiply-add of their own or call that of the
// library: the same bits.
[[gnu::always_inline]] inline void add_lanes(MomentLanes& to, const double* values, std::size_t rows,
                                             std::size_t stride, std::size_t width) {
  Lanes high = to.high, low = to.low, square_high = to.square_high, square_low = to.square_low,
        largest = to.largest, x = {};
  for (std::size_t i = 0; i < rows; ++i, values += stride) {
    if (width == kLanes) {
      std::memcpy(&x, values, sizeof x);
    } else {
      for (std::size_t k = 0; k < width; ++k) x[k] = values[k];
    }
    const Lanes s = high + x, t = s - high;
    low += (high - (s - t)) + (x - t);
    high = s;
    const Lanes square = x * x;
    const Lanes s2 = square_high + square, t2 = s2 - square_high;
    square_low += (square_high - (s2 - t2)) + (square - t2);
    square_high = s2;
    Lanes error;
    multiply_add(x, x, -square, error);
    square_low += error;
    const Lanes size = x < 0 ? -x : x;
    largest = largest < size ? size : largest;
  }
  to = {high, low, square_high, square_low, largest};
}

#ifdef __x86_64__
__attribute__((target("avx2,fma"))) void add_lanes_wide(MomentLanes& to, const double* values,
                                                        std::size_t rows, std::size_t stride,
                                                        std::size_t width) {
  if (width == kLanes) {
    add_lanes(to, values, rows, stride, kLanes);
  } else {
    add_lanes(to, values, rows, stride, width);
  }
}
#endif

void add_lanes_anywhere(MomentLanes& to, const double* values, std::size_t rows, std::size_t stride,
                        std::size_t width) {
  add_lanes(to, values, rows, stride, width);
}

auto add_lanes_here() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2") > 0 && __builtin_cpu_supports("fma") > 0) return &add_lanes_wide;
#endif
  return &add_lanes_anywhere;
}

}  // namespace

void FeatureMoments::add_row(std::span<const double> values) {
  assert(values.size() == sum.size());
  ++rows;
  for (std::size_t j = 0; j < values.size(); ++j) {
    sum[j].add(values[j]);
    add_square(sum_of_squares[j], values[j]);
    largest[j] = std::max(largest[j], std::abs(values[j]));
  }
}

void FeatureMoments::add_rows(const DenseView& values) {
  assert(values.columns == sum.size());
  rows += values.rows;
  const auto add = add_lanes_here();
  for (std::size_t from = 0; from < values.columns; from += kLanes) {
    const std::size_t width = std::min(kLanes, values.columns - from);
    MomentLanes lanes;
    for (std::size_t k = 0; k < width; ++k) {
      lanes.high[k] = sum[from + k].high, lanes.low[k] = sum[from + k].low;
      lanes.square_high[k] = sum_of_squares[from + k].high;
      lanes.square_low[k] = sum_of_squares[from + k].low;
      lanes.largest[k] = largest[from + k];
    }
    add(lanes, values.values + from, values.rows, values.columns, width);
    for (std::size_t k = 0; k < width; ++k) {
      sum[from + k] = {lanes.high[k], lanes.low[k]};
      sum_of_squares[from + k] = {lanes.square_high[k], lanes.square_low[k]};
      largest[from + k] = lanes.largest[k];
    }
  }
}

void FeatureMoments::add_sparse_row(std::span<const std::int32_t> index, std::span<const double> values) {
  ++rows;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const auto j = static_cast<std::size_t>(index[k]);
    sum[j].add(values[k]);
    add_square(sum_of_squares[j], values[k]);
    largest[j] = std::max(largest[j], std::abs(values[k]));
  }
}

FeatureMoments FeatureMoments::replaced(std::span<const std::uint32_t> to, std::size_t features) const {
  assert(to.size() == sum.size());
  FeatureMoments out(features);
  out.rows = rows;
  for (std::size_t j = 0; j < to.size(); ++j) {
    if (to[j] == BagSums::kNowhere) continue;
    out.sum[to[j]] = sum[j];
    out.sum_of_squares[to[j]] = sum_of_squares[j];
    out.largest[to[j]] = largest[j];
  }
  return out;
}

double FeatureMoments::mean(std::size_t feature) const {
  return sum[feature].value() / static_cast<double>(rows);
}

double FeatureMoments::variance(std::size_t feature) const {
  __extension__ using Wide = __float128;
  const auto wide = [](const CompensatedSum& s) {
    return static_cast<Wide>(s.high) + static_cast<Wide>(s.low);
  };
  const Wide n = static_cast<Wide>(rows), total = wide(sum[feature]);
  return static_cast<double>((wide(sum_of_squares[feature]) - total * total / n) / n);
}

void FeatureMoments::merge(const FeatureMoments& other) {
  assert(other.sum.size() == sum.size());
  rows += other.rows;
  for (std::size_t j = 0; j < sum.size(); ++j) {
    sum[j].add(other.sum[j]);
    sum_of_squares[j].add(other.sum_of_squares[j]);
    largest[j] = std::max(largest[j], other.largest[j]);
  }
}

}  // namespace bagwise
