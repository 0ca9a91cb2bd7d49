// Kernel functions of rows: values and gradients, block by block, never more than a block in memory.
//
//   linear   k(x, z) = x.z
//   rbf      k(x, z) = exp(-gamma |x - z|^2)
//   poly     k(x, z) = (gamma x.z + 1)^degree
//
// What is averaged over bags is in bags/bag_kernel.h.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bagwise/core/observer.h"
#include "bagwise/linalg/rows.h"

namespace bagwise {

enum class KernelKind { kLinear, kRbf, kPoly };
inline std::vector<std::pair<std::string_view, KernelKind>> names(KernelKind) {
  return {{"linear", KernelKind::kLinear}, {"rbf", KernelKind::kRbf}, {"poly", KernelKind::kPoly}};
}

struct KernelFunction {
  KernelKind kind = KernelKind::kLinear;
  double gamma = 1;
  int degree = 3;
};

// out(i, j) = k(a_i, b_j); a and b have the same columns.
void kernel_block(const KernelFunction& kernel, const RowsView& a, const RowsView& b, RowMatrix& out);

// sum_j c_j k(z_j, x_i) for every row x_i; in fixed blocks on up to `threads` threads, the same bits whatever
// their number. `c` has one column per function, `out` one row per x_i.
RowMatrix kernel_expansion(const KernelFunction& kernel, const RowsView& z, const RowMatrix& c,
                           const RowsView& x, unsigned threads = 1, const Observer& observer = {});

// An observer that stops leaves the rest unset: who gave it asks it again.
//
// The gradient by x of sum_j c_j k(z_j, x), at every row x_i: one row of `columns` values each.
RowMatrix kernel_gradients(const KernelFunction& kernel, const RowsView& z, std::span<const double> c,
                           const RowsView& x, unsigned threads = 1, const Observer& observer = {});

}  // namespace bagwise
