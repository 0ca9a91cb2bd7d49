#include "bagwise/methods/conv_psvm/conv_psvm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bagwise/core/timing.h"
#include "bagwise/linalg/kernels.h"
#include "bagwise/linalg/spectrum.h"
#include "bagwise/methods/bag_checks.h"
#include "bagwise/methods/bag_sigmoid.h"
#include "bagwise/methods/grids.h"
#include "bagwise/methods/grouped_rows.h"
#include "bagwise/methods/inv_cal/inv_cal.h"
#include "bagwise/methods/method_entry.h"
#include "bagwise/methods/number_range.h"
#include "bagwise/methods/nystrom.h"
#include "bagwise/methods/path_state.h"
#include "bagwise/methods/single_rows.h"

namespace bagwise {
namespace {

using Index = Eigen::Index;

// Coordinates of a kernel's space that give candidates hold this share of the trace.
constexpr double kTraceShare = 0.95;
// Directions below this share of the largest eigenvalue hold rounding errors.
constexpr double kEigenCutoff = 1e-13;

DenseView view_of(const RowMatrix& rows) {
  return {rows.data(), static_cast<std::size_t>(rows.rows()), static_cast<std::size_t>(rows.cols())};
}

// The rows as the rounds see them: in the coordinates of an explicit map.
struct MappedRows : GroupedRows {
  RowMatrix mapped;               // phi(x_j), unless the kernel is linear
  std::optional<NystromMap> map;  // with landmarks
  ColMatrix rotation;             // with landmarks: from the map's coordinates to these
  std::size_t coordinates = 0;    // that give candidates

  [[nodiscard]] RowsView view() const {
    if (mapped.size() == 0) return rows();
    return view_of(mapped);
  }
};

// Eigenvectors, largest eigenvalue first, without those that hold rounding errors.
struct Axes {
  Vector values;
  ColMatrix vectors;
  std::size_t holding = 0;  // how many hold kTraceShare of the sum
};
Axes principal_axes(const ColMatrix& matrix) {
  const Spectrum all = spectrum_of(matrix);
  Index kept = 0;
  while (kept < all.values.size() && all.values[kept] > kEigenCutoff * all.values[0]) ++kept;
  Axes out{all.values.head(kept), all.vectors.leftCols(kept), 0};
  double held = 0;
  while (static_cast<Index>(out.holding) < kept && held < kTraceShare * out.values.sum())
    held += out.values[static_cast<Index>(out.holding++)];
  return out;
}

// phi = U sqrt(L) for the kernel matrix U L U' of all rows.
Result<void> map_by_kernel(const KernelFunction& kernel, MappedRows& rows) {
  RowMatrix matrix;
  kernel_block(kernel, rows.rows(), rows.rows(), matrix);
  if (!matrix.allFinite()) return overflow_error();
  const Axes axes = principal_axes(matrix);
  rows.mapped = axes.vectors * axes.values.cwiseSqrt().asDiagonal();
  rows.coordinates = axes.holding;
  return {};
}

// Landmarks, turned to the principal axes of the mapped rows (about the origin).
Result<void> map_by_landmarks(const KernelFunction& kernel, std::size_t count, const Context& context,
                              MappedRows& rows) {
  const RowsView views[] = {rows.rows()};
  rows.map = fit_nystrom(kernel, views, {}, count, context.seed);
  if (rows.map->coordinates() == 0) return overflow_error();
  const RowMatrix mapped = map_rows(*rows.map, {}, views[0], context.threads);
  const ColMatrix products = mapped.transpose() * mapped;
  if (!products.allFinite()) return overflow_error();
  const Axes axes = principal_axes(products);
  rows.rotation = axes.vectors;
  rows.mapped = mapped * axes.vectors;
  rows.coordinates = axes.holding;
  return {};
}

const char* end_name(CutsEnd end) {
  switch (end) {
    case CutsEnd::kConverged:
      return "converged";
    case CutsEnd::kRoundLimit:
      return "round-limit";
    case CutsEnd::kIterationLimit:
      return "iteration-limit";
    case CutsEnd::kStopped:
      return "stopped";
    case CutsEnd::kNumericalFault:
      break;
  }
  return "numerical-fault";
}

TrainingReport report_of(const Cuts& cuts, const ConvPsvmOptions& options, const ReducedBags& data,
                         std::uint64_t seed) {
  TrainingReport out = convex_report(cuts.master.report, options.gap, data, seed);
  out.termination = end_name(cuts.end);
  out.rounds = static_cast<int>(cuts.history.size());
  out.objective_history = cuts.history;
  out.solver_steps = cuts.steps;
  if (cuts.end == CutsEnd::kRoundLimit) {
    out.warnings.push_back(
        fmt::format("after max-rounds = {} a labeling was still violated by {:.2g}; scaled features (scale "
                    "standard) need fewer rounds",
                    options.max_rounds, cuts.violation));
  } else if (cuts.end == CutsEnd::kStopped && cuts.master.report.termination == Termination::kConverged) {
    out.warnings.emplace_back("stopped before the rounds came to their end");
  }
  return out;
}

// Where the rounds begin: at the labels of InvCal's plane, on a path at those that mattered last. They are
// feasible at any C, so the relaxation gets no looser by them.
Result<std::vector<Labels>> first_labelings(const MappedRows& rows, const FeasibleLabels& feasible,
                                            const InvCalOptions& inv_cal, const ConvPsvmOptions& options,
                                            const Context& context) {
  if (context.path != nullptr && context.path->cut && context.path->cut->epsilon == options.epsilon)
    return context.path->cut->labels;
  const auto scores = inv_cal_scores(rows.data, inv_cal, context);
  if (!scores) return scores.error();
  return std::vector<Labels>{feasible.best(*scores)};
}

// The labelings that have a share in the last master.
std::vector<Labels> used_labelings(const Cuts& cuts) {
  constexpr double kShare = 1e-6;
  std::vector<Labels> out;
  for (std::size_t s = 0; s < cuts.labels.size(); ++s) {
    if (cuts.master.mu[s] > kShare) out.push_back(cuts.labels[s]);
  }
  return out;
}

// The plane or expansion of the weights alpha_j v_j; returns f of the rows.
Vector set_classifier(const MappedRows& rows, const KernelFunction& kernel, const Cuts& cuts,
                      const std::string& name, unsigned threads, Model& model) {
  const auto n = static_cast<Index>(cuts.master.alpha.size());
  Vector weight = Eigen::Map<const Vector>(cuts.master.alpha.data(), n)
                      .cwiseProduct(common_labels(cuts.labels, cuts.master.mu));
  const std::span<const double> weights(weight.data(), static_cast<std::size_t>(n));
  Vector w = multiply_transposed(rows.view(), weights, threads), f(n);
  multiply(rows.view(), w, {f.data(), static_cast<std::size_t>(n)}, threads);
  if (opposite_fits_better(f, rows.bag_start, rows.proportions())) {
    weight = -weight;
    w = -w;
    f = -f;
  }
  TaskModel task{name, {}, 0, {}};
  if (kernel.kind == KernelKind::kLinear) {
    task.weights.assign(w.begin(), w.end());
  } else if (rows.map) {
    const Vector unturned = rows.rotation * w;
    task.weights.assign(unturned.begin(), unturned.end());
  } else {
    set_row_weights(kernel, rows.rows(), {weight.data(), static_cast<std::size_t>(n)}, std::move(task),
                    model);
    return f;
  }
  model.tasks = {std::move(task)};
  return f;
}

}  // namespace

Result<Fit> fit_conv_psvm(const TrainingTask& target, const ConvPsvmOptions& options,
                          const Context& context) {
  const auto prepared = check_and_scale({&target, 1}, options, context);
  if (!prepared) return prepared.error();
  const Scaling& scaling = prepared->scaling;
  const ReducedBags& data = target.reduced;

  const Stopwatch watch;
  const KernelChoice choice = options.kernel_choice();
  if (auto fits = check_kernel_memory(choice, {&target, 1}, KernelUse::kRows); !fits) return fits.error();
  const KernelFunction kernel = kernel_function(choice, data.moments, scaling);
  MappedRows rows{group_rows(*target.rows, scaling), {}, {}, {}, data.feature_names.size()};
  Result<void> mapped;
  if (choice.nystrom > 0) {
    mapped = map_by_landmarks(kernel, static_cast<std::size_t>(choice.nystrom), context, rows);
  } else if (!choice.is_linear()) {
    mapped = map_by_kernel(kernel, rows);
  }
  if (!mapped) return mapped.error();
  const FeasibleLabels feasible(rows.bag_start, rows.proportions(), options.epsilon);
  auto first = first_labelings(rows, feasible, with_kernel<InvCalOptions>(choice, kernel), options, context);
  if (!first) return first.error();
  const Cuts cuts =
      cutting_planes(rows.view(), rows.coordinates, feasible, std::move(*first), options, context);
  if (context.path != nullptr) context.path->cut = {used_labelings(cuts), options.epsilon};
  if (cuts.end == CutsEnd::kNumericalFault) return overflow_error();

  Fit fit;
  fit.model.method = "conv-psvm";
  fit.model.options = option_values(options);
  fit.model.training = report_of(cuts, options, data, context.seed);
  const Vector f = set_classifier(rows, kernel, cuts, target.name, context.threads, fit.model);
  fit.model.features = data.feature_names;
  fit.model.scaling = scaling;
  if (rows.map) use_landmarks(*rows.map, data.feature_names, scaling, fit.model);
  const std::span<const double> scores(f.data(), static_cast<std::size_t>(f.size()));
  if (!f.allFinite()) return overflow_error();
  warn_if_one_class(scores, fit.model.training.warnings);
  warn_if_noise_ignored(data.bags, "conv-psvm", fit.model.training.warnings);
  fit.model.tasks[0].probability = fit_bag_sigmoid(scores, rows.bag_start, rows.proportions());
  fit.solve_seconds = watch.seconds();
  return fit;
}

Method conv_psvm_method() {
  return make_method<ConvPsvmOptions>({
      .name = "conv-psvm",
      .summary = "the convex relaxation over all labelings that fit the bags, by cuts (Yu et al. 2013)",
      .fit = [](std::span<const TrainingTask> tasks, const ConvPsvmOptions& options,
                const Context& context) { return fit_conv_psvm(tasks[0], options, context); },
      .check = [](const ConvPsvmOptions& options) { return check_kernel_choice(options.kernel_choice()); },
      .rows_needed = [](const ConvPsvmOptions&) { return RowsNeeded::kAll; },
      .default_grid =
          [](std::size_t) {
            return cost_paths(powers_of_two(-2, 5), "epsilon", {0.01, 0.1});
          },
  });
}

}  // namespace bagwise
