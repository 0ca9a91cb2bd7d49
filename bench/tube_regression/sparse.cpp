// Many sparse features: ours at several gaps beside LIBLINEAR, both in the same run.
#include <fmt/core.h>

#include <cstdio>
#include <string_view>

#include "tube_regression/sparse_task.h"
#include "tube_regression/task.h"

namespace bagwise::bench {
namespace {

// CPU seconds on one thread, and wall seconds on two, at ever smaller gaps.
void compare(std::string_view kind, const TubeProblem& p, double cost) {
  const Answer linear = solve_liblinear(p, 1e-4);
  const double reference = objective_with_bias(p, linear);
  fmt::print("{:<10}{:>5g} | LIBLINEAR: CPU {:.2f} s, wall {:.2f} s, objective {:.8g}\n", kind, cost,
             linear.cpu_seconds, linear.seconds, reference);
  for (const double gap : {1e-3, 1e-4, 1e-6}) {
    if (cost <= 1 && gap > 1e-4) continue;  // a rough gap is of use only where LIBLINEAR is rough
    const Answer one = solve_ours(p, gap, TubeAlgorithm::kAutomatic, 1);
    const Answer two = solve_ours(p, gap, TubeAlgorithm::kAutomatic, 2);
    const double above = objective_with_bias(p, one) / reference - 1;
    const bool same = one.weights == two.weights && one.bias == two.bias;
    fmt::print(
        "{:<15} | gap {:<6.0e} ours: {:.1e}, CPU {:.2f} s on 1 thread, wall {:.2f} s on 1 and {:.2f} s on 2; "
        "objective "
        "{:+.1e}, CPU ratio {:.2f}{}{}\n",
        "", gap, one.gap, one.cpu_seconds, one.seconds, two.seconds, above,
        linear.cpu_seconds / one.cpu_seconds,
        one.gap > gap ? "  GAP MISSED"
        : above > 0   ? "  ours is above"
                      : "",
        same ? "" : "  DIFFERENT BITS");
    std::fflush(stdout);
  }
}

}  // namespace

void against_liblinear_on_sparse_rows(std::string_view only, std::uint64_t seed) {
  fmt::print(
      "\n200,000 x 50,000 sparse rows of 40 nonzeros against LIBLINEAR's L1-loss dual SVR (bias value 1, "
      "tolerance 1e-4)\nobjectives of LIBLINEAR's problem (which also regularises the bias), ours relative "
      "to "
      "LIBLINEAR's\n\n");
  for (const auto kind : {SparseKind::kDocuments, SparseKind::kBags, SparseKind::kUniform}) {
    SparseTask task;
    for (const double cost : {1.0, 32.0, 128.0}) {
      if (!only.empty() && only != fmt::format("{} {:g}", name(kind), cost)) continue;
      if (task.rows.rows() == 0) make_sparse_task(kind, {}, seed, task);
      set_cost(task.problem, cost);
      compare(name(kind), task.problem, cost);
    }
  }
}

}  // namespace bagwise::bench
