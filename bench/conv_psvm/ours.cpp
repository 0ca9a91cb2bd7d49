#include "bagwise/core/timing.h"
#include "conv_psvm/task.h"

namespace bagwise::bench {

MasterAnswer solve_ours(const DenseTask& task, std::span<const Labels> labels, double cost) {
  const Stopwatch watch;
  SimplexKernelSolution s = solve_simplex_kernel({task.rows.view(), labels, cost});
  MasterAnswer out{std::move(s.mu), std::move(s.planes), watch.seconds()};
  for (std::size_t k = 0; k < out.mu.size(); ++k)
    out.u.row(static_cast<Eigen::Index>(k)) *= s.stretch * out.mu[k];
  return out;
}

}  // namespace bagwise::bench
