// Tube regression beside LIBSVM and LIBLINEAR: the answers first, then the times, as ratios.
//
// A run whose objective is above the reference by more than its tolerance is shown as wrong, not as fast.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "tube_regression/sparse_task.h"
#include "tube_regression/task.h"

namespace {

using namespace bagwise;
using namespace bagwise::bench;

struct Totals {
  double log_ratio = 0, smallest = 1e300, slowest_small = 0;
  int count = 0;
};

const char* name(GeneratorKind kind) { return kind == GeneratorKind::kGaussian ? "gaussian" : "documents"; }

void against_libsvm(Totals& totals) {
  fmt::print(
      "To a relative gap of 1e-6, against LIBSVM (precomputed kernel, tolerance 1e-6, its time without the "
      "kernel)\n");
  fmt::print("'above' = objective over the reference (ours at gap 1e-10), relative\n\n");
  fmt::print("{:<10}{:>6}{:>6} |{:>10}{:>10}{:>10} |{:>9}{:>10} |{:>9}{:>10} |{:>8}\n", "data", "bags", "C",
             "ours ms", "above", "ip ms", "ssn ms", "above", "svm ms", "above", "ratio");
  for (const auto kind : {GeneratorKind::kGaussian, GeneratorKind::kDocuments}) {
    for (const std::size_t bag_size : {32, 8, 2}) {
      Task task;
      make_task(kind, 2640, bag_size, task);
      for (const double cost : {1.0, 32.0, 128.0}) {
        set_cost(task, cost);
        const TubeProblem& p = task.problem;
        const double reference = objective(p, solve_ours(p, 1e-10, TubeAlgorithm::kAutomatic));
        const auto above = [&](const Answer& a) { return objective(p, a) / reference - 1; };
        const Answer ours = best_of(20, [&] { return solve_ours(p, 1e-6, TubeAlgorithm::kAutomatic); });
        const Answer ip = best_of(20, [&] { return solve_ours(p, 1e-6, TubeAlgorithm::kInteriorPoint); });
        const Answer ssn = best_of(20, [&] { return solve_ours(p, 1e-6, TubeAlgorithm::kSemismooth); });
        const Answer svm = best_of(3, [&] { return solve_libsvm(p, 1e-6); });
        const double ratio = svm.seconds / ours.seconds;
        fmt::print(
            "{:<10}{:>6}{:>6g} |{:>10.2f}{:>10.1e}{:>10.2f} |{:>9.2f}{:>10.1e} |{:>9.2f}{:>10.1e} "
            "|{:>7.1f}x{}\n",
            name(kind), p.size(), cost, 1e3 * ours.seconds, above(ours), 1e3 * ip.seconds, 1e3 * ssn.seconds,
            above(ssn), 1e3 * svm.seconds, above(svm), ratio, above(ours) > 1e-6 ? "  WRONG" : "");
        std::fflush(stdout);
        if (svm.seconds >= 5e-3) {
          totals.log_ratio += std::log(ratio);
          totals.smallest = std::min(totals.smallest, ratio);
          ++totals.count;
        } else {
          totals.slowest_small = std::max(totals.slowest_small, ours.seconds);
        }
      }
    }
  }
  fmt::print(
      "\nwhere LIBSVM needs 5 ms or more: geometric mean {:.0f}x, smallest {:.1f}x; elsewhere ours at most "
      "{:.2f} ms\n",
      std::exp(totals.log_ratio / std::max(1, totals.count)), totals.smallest, 1e3 * totals.slowest_small);
}

void against_liblinear() {
  fmt::print(
      "\n20,000 bags x 200 features against LIBLINEAR's L1-loss dual SVR (bias value 1, tolerance 1e-4)\n");
  fmt::print("objectives of LIBLINEAR's problem (which also regularises the bias), relative to ours\n\n");
  fmt::print("{:<10}{:>6} |{:>10}{:>10} |{:>12}{:>12} |{:>8}\n", "data", "C", "ours ms", "ssn ms",
             "linear ms", "above ours", "ratio");
  for (const auto kind : {GeneratorKind::kGaussian, GeneratorKind::kDocuments}) {
    Task task;
    make_task(kind, 40000, 2, task);
    for (const double cost : {1.0, 32.0, 128.0}) {
      set_cost(task, cost);
      const TubeProblem& p = task.problem;
      const Answer ours = best_of(5, [&] { return solve_ours(p, 1e-6, TubeAlgorithm::kAutomatic); });
      const Answer ssn = best_of(5, [&] { return solve_ours(p, 1e-6, TubeAlgorithm::kSemismooth); });
      const Answer linear = solve_liblinear(p, 1e-4);
      const double above = objective_with_bias(p, linear) / objective_with_bias(p, ours) - 1;
      fmt::print("{:<10}{:>6g} |{:>10.0f}{:>10.0f} |{:>12.0f}{:>12.1e} |{:>7.1f}x{}\n", name(kind), cost,
                 1e3 * ours.seconds, 1e3 * ssn.seconds, 1e3 * linear.seconds, above,
                 linear.seconds / ours.seconds, above < -1e-6 ? "  ours is above" : "");
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view part = argc > 1 ? argv[1] : "all";
  Totals totals;
  if (part == "all" || part == "libsvm") against_libsvm(totals);
  if (part == "all" || part == "liblinear") against_liblinear();
  if (part == "all" || part == "sparse") {
    const std::uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
    against_liblinear_on_sparse_rows(argc > 2 ? argv[2] : "", seed);
  }
  return 0;
}
