// The Nystrom map: a kernel's space seen through M of the rows, so that linear methods serve kernels.
//
//   phi(x) = L^(-1/2) U' (k(z_1, x), ..., k(z_M, x)),    K_zz = U L U' over the landmarks z_m
//
// phi(x).phi(y) is the inner product of the images of x and y projected on the span of the landmarks' images:
// k(x, y) itself where x or y is in it, and on the diagonal never above k(x, x).
// A plane w in these coordinates is the expansion f(x) = sum_m c_m k(z_m, x) + b with c = U L^(-1/2) w.
//
// Test    nystrom_test.cpp measures phi.phi against k, and searches for shifts beyond the bounds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/linalg/kernel_function.h"
#include "bagwise/methods/model.h"

namespace bagwise {

struct NystromMap {
  KernelFunction kernel;
  Features landmarks;  // z_m, as scaled
  ColMatrix to_map;    // U L^(-1/2): one row per landmark, one column per coordinate

  [[nodiscard]] std::size_t coordinates() const { return static_cast<std::size_t>(to_map.cols()); }
};

// Directions whose eigenvalue is below this share of the largest are left out: they hold rounding errors.
inline constexpr double kNystromCutoff = 1e-13;

// Takes up to `count` distinct rows of all tables (raw rows, the same columns) at random. A row's lot depends
// on the seed and its values alone: neither its place nor its table nor whether that is sparse matters.
// No coordinates: there are no rows, or their kernel is too large for a number.
NystromMap fit_nystrom(const KernelFunction& kernel, std::span<const RowsView> tables, const Scaling& scaling,
                       std::size_t count, std::uint64_t seed);

// phi(x) for raw rows, one row each; the same bits whatever the number of threads.
RowMatrix map_rows(const NystromMap& map, const Scaling& scaling, const RowsView& rows, unsigned threads = 0);

// The rows of a task in the map's coordinates, in bags as before, without bounds.
BaggedData map_bags(const NystromMap& map, const Scaling& scaling, const BaggedData& data,
                    unsigned threads = 0);

// Sums per bag of the mapped rows: features are the map's coordinates (moments are not gathered). `bounds`
// are those of the rows as scaled, one each or none; they become bounds in the kernel's space.
// In fixed blocks, the same bits whatever the number of threads. An observer that stops leaves out the rest.
ReducedBags reduce_mapped(const NystromMap& map, const Scaling& scaling, const BaggedData& data,
                          std::span<const double> bounds, unsigned threads = 0,
                          const Observer& observer = {});

// Turns a linear model over the map's coordinates into the kernel model over the landmarks that it is.
void use_landmarks(const NystromMap& map, const std::vector<std::string>& features, const Scaling& scaling,
                   Model& model);

// c = U L^(-1/2) w: one coefficient per landmark.
std::vector<double> expansion_weights(const NystromMap& map, const VectorRef& w);

// How far the image of a row of length `length` moves at most in the kernel's space when the row moves by at
// most `bound`; attained. With A = gamma |x|^2 + 1 and |dx| <= delta:
//   linear   delta
//   rbf      sqrt(2 - 2 exp(-gamma delta^2))
//   poly     sqrt(B^p - 2 C^p + A^p),  B = gamma (|x| + delta)^2 + 1,  C = gamma |x| (|x| + delta) + 1
// For poly the squared distance g depends on dx by |dx| and a = x.dx. It rises with |dx|; by a it falls below
// a = -delta^2 and rises above (sign of (B'^(p-1) - C'^(p-1)), B' - C' = gamma (a + delta^2)); and
// g(|x| delta) >= g(-|x| delta), as the odd terms of B'^p have 2^k >= 2 times those of C'^p and A grows. So
// the largest is along x.
double bound_in_kernel_space(const KernelFunction& kernel, double length, double bound);

}  // namespace bagwise
