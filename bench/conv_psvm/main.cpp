// conv-pSVM at 2,000 x 200 in bags of 8: the whole method, and its master problem beside LIBLINEAR's.
//
// A run whose value is above the reference by more than its tolerance is shown as wrong, not as fast.
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <span>

#include "bagwise/core/timing.h"
#include "conv_psvm/task.h"

namespace {

using namespace bagwise;
using namespace bagwise::bench;

const char* name(GeneratorKind kind) { return kind == GeneratorKind::kGaussian ? "gaussian" : "documents"; }

void whole_method() {
  fmt::print("The whole method, default options (C = 1, epsilon 0.1, gap 1e-6, tolerance 5e-3).\n\n");
  fmt::print("{:<11}{:<10} |{:>7}{:>9}{:>14}{:>10}{:>14}\n", "data", "scale", "rounds", "seconds", "value",
             "gap", "ended");
  for (const auto kind : {GeneratorKind::kGaussian, GeneratorKind::kDocuments}) {
    const BaggedData data = make_task(kind);
    const TrainingTask task{"target", reduce(data), &data};
    for (const Scale scale : {Scale::kNone, Scale::kStandard}) {
      const auto fit = fit_conv_psvm(task, {.scale = scale}, {});
      if (!fit) continue;
      const TrainingReport& report = fit->model.training;
      fmt::print("{:<11}{:<10} |{:>7}{:>9.2f}{:>14.6g}{:>10.1e}{:>14}{}\n", name(kind),
                 scale == Scale::kNone ? "none" : "standard", report.rounds, fit->solve_seconds,
                 report.objective, *report.relative_gap, report.termination,
                 *report.relative_gap > 1e-6 ? "  WRONG" : "");
      std::fflush(stdout);
    }
  }
}

void master_alone() {
  fmt::print(
      "\nThe master problem alone, from nothing, over the first labelings of the method's. LIBLINEAR's "
      "L1-loss\n"
      "dual (no bias, tolerance 0.01) inside a loop over mu, until that changes the value by less than 1e-4 "
      "or a\n"
      "minute has passed. 'above' = value over ours at a gap of 1e-9.\n\n");
  fmt::print("{:<11}{:>10} |{:>9}{:>10} |{:>12}{:>10} |{:>8}\n", "data", "labelings", "ours s", "above",
             "LIBLINEAR s", "above", "ratio");
  for (const auto kind : {GeneratorKind::kGaussian, GeneratorKind::kDocuments}) {
    const DenseTask task = dense_task(make_task(kind));
    const Cuts cuts = make_cuts(task, {.tolerance = 0, .max_rounds = 16});
    for (const std::size_t count : {1U, 4U, 16U}) {
      const auto labels = std::span(cuts.labels).first(std::min<std::size_t>(count, cuts.labels.size()));
      const double best =
          solve_simplex_kernel({task.rows.view(), labels, 1}, {.gap_tolerance = 1e-9}).report.primal;
      const MasterAnswer ours = solve_ours(task, labels, 1);
      const MasterAnswer theirs = solve_liblinear(task, labels, 1, 0.01);
      const double above = master_value(task, labels, 1, ours) / best - 1;
      fmt::print("{:<11}{:>10} |{:>9.3f}{:>10.1e} |{:>12.3f}{:>10.1e} |{:>7.1f}x{}\n", name(kind),
                 labels.size(), ours.seconds, above, theirs.seconds,
                 master_value(task, labels, 1, theirs) / best - 1, theirs.seconds / ours.seconds,
                 above > 1e-6 ? "  WRONG" : "");
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main() {
  whole_method();
  master_alone();
  return 0;
}
