#include "bagwise/methods/conv_psvm/conv_psvm.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "bagwise/core/timing.h"
#include "bagwise/linalg/kernels.h"
#include "bagwise/methods/bag_checks.h"
#include "bagwise/methods/bag_sigmoid.h"
#include "bagwise/methods/grouped_rows.h"
#include "bagwise/methods/inv_cal/inv_cal.h"
#include "bagwise/methods/method_entry.h"
#include "bagwise/methods/nystrom.h"

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

// The rows as the rounds see them: by bag, bags by name, in the coordinates of an explicit map.
struct MappedRows {
  Features raw;  // as scaled
  std::vector<std::size_t> bag_start;
  Bags bags;
  RowMatrix mapped;               // phi(x_j), unless the kernel is linear
  std::optional<NystromMap> map;  // with landmarks
  ColMatrix rotation;             // with landmarks: from the map's coordinates to these
  std::size_t coordinates = 0;    // that give candidates

  [[nodiscard]] RowsView view() const {
    if (mapped.size() == 0) return raw.view();
    return view_of(mapped);
  }
};

// Rows grouped by bag, the bags by name: neither the order of rows nor that of bags changes a bit.
MappedRows rows_by_name(const BaggedData& data, const Scaling& scaling) {
  MappedRows out;
  const std::size_t bags = data.bags.size();
  std::vector<std::uint32_t> order(bags), place(bags);
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(
      order, [&](std::uint32_t a, std::uint32_t b) { return data.bags.names[a] < data.bags.names[b]; });
  for (std::size_t k = 0; k < bags; ++k) {
    place[order[k]] = static_cast<std::uint32_t>(k);
    out.bags.names.push_back(data.bags.names[order[k]]);
    out.bags.proportions.push_back(data.bags.proportions[order[k]]);
  }
  GroupedRows grouped;
  if (std::ranges::is_sorted(order)) {
    grouped = group_rows(data, scaling);
  } else {
    BaggedData sorted = data;
    for (auto& bag : sorted.bag_of_row) bag = place[bag];
    grouped = group_rows(sorted, scaling);
  }
  out.raw = std::move(grouped.rows);
  out.bag_start = std::move(grouped.bag_start);
  out.coordinates = out.raw.columns();
  return out;
}

// Eigenvectors, largest eigenvalue first, without those that hold rounding errors.
struct Axes {
  Vector values;
  ColMatrix vectors;
  std::size_t holding = 0;  // how many hold kTraceShare of the sum
};
Axes principal_axes(const ColMatrix& matrix) {
  const Eigen::SelfAdjointEigenSolver<ColMatrix> solver(matrix);
  const Vector all = solver.eigenvalues().reverse();
  Index kept = 0;
  while (kept < all.size() && all[kept] > kEigenCutoff * all[0]) ++kept;
  Axes out{all.head(kept), solver.eigenvectors().rowwise().reverse().leftCols(kept), 0};
  double held = 0;
  while (static_cast<Index>(out.holding) < kept && held < kTraceShare * out.values.sum())
    held += out.values[static_cast<Index>(out.holding++)];
  return out;
}

// phi = U sqrt(L) for the kernel matrix U L U' of all rows.
void map_by_kernel(const KernelFunction& kernel, MappedRows& rows) {
  RowMatrix matrix;
  kernel_block(kernel, rows.raw.view(), rows.raw.view(), matrix);
  const Axes axes = principal_axes(matrix);
  rows.mapped = axes.vectors * axes.values.cwiseSqrt().asDiagonal();
  rows.coordinates = axes.holding;
}

// Landmarks, turned to the principal axes of the mapped rows (about the origin).
void map_by_landmarks(const KernelFunction& kernel, std::size_t count, const Context& context,
                      MappedRows& rows) {
  const RowsView views[] = {rows.raw.view()};
  rows.map = fit_nystrom(kernel, views, {}, count, context.seed);
  const RowMatrix mapped = map_rows(*rows.map, {}, views[0], context.threads);
  const Axes axes = principal_axes(mapped.transpose() * mapped);
  rows.rotation = axes.vectors;
  rows.mapped = mapped * axes.vectors;
  rows.coordinates = axes.holding;
}

// In every bag the rows that InvCal, on the mapped rows, scores highest.
Result<Labels> first_labels(const MappedRows& rows, const FeasibleLabels& feasible, const Context& context) {
  BaggedData data;
  if (rows.mapped.size() == 0) {
    data.features = rows.raw;
  } else {
    DenseRows copy(static_cast<std::size_t>(rows.mapped.cols()));
    std::copy_n(rows.mapped.data(), rows.mapped.size(),
                copy.append(static_cast<std::size_t>(rows.mapped.rows())));
    data.features = std::move(copy);
  }
  for (std::size_t j = 0; j < data.features.columns(); ++j)
    data.feature_names.push_back(fmt::format("{}", j));
  data.bags = rows.bags;
  for (std::size_t k = 0; k + 1 < rows.bag_start.size(); ++k)
    data.bag_of_row.insert(data.bag_of_row.end(), rows.bag_start[k + 1] - rows.bag_start[k],
                           static_cast<std::uint32_t>(k));
  const auto fit = fit_inv_cal({"target", reduce(data, context.threads)}, {}, context);
  if (!fit) return fit.error();
  const std::vector<double>& w = fit->model.tasks[0].weights;
  std::vector<double> scores(data.bag_of_row.size());
  multiply(rows.view(), Eigen::Map<const Vector>(w.data(), static_cast<Index>(w.size())), scores,
           context.threads);
  return feasible.best(scores);
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

// The plane or expansion of the weights alpha_j v_j; returns f of the rows.
Vector set_classifier(const MappedRows& rows, const KernelFunction& kernel, const Cuts& cuts,
                      const std::string& name, unsigned threads, Model& model) {
  const auto n = static_cast<Index>(cuts.master.alpha.size());
  Vector weight = Eigen::Map<const Vector>(cuts.master.alpha.data(), n)
                      .cwiseProduct(common_labels(cuts.labels, cuts.master.mu));
  const std::span<const double> weights(weight.data(), static_cast<std::size_t>(n));
  Vector w = multiply_transposed(rows.view(), weights, threads), f(n);
  multiply(rows.view(), w, {f.data(), static_cast<std::size_t>(n)}, threads);
  if (opposite_fits_better(f, rows.bag_start, rows.bags.proportions)) {
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
    std::vector<std::size_t> support;
    for (Index j = 0; j < n; ++j) {
      if (weight[j] == 0) continue;
      support.push_back(static_cast<std::size_t>(j));
      task.weights.push_back(weight[j]);
    }
    model.expansion = Expansion{kernel, take_rows(rows.raw.view(), support)};
  }
  model.tasks = {std::move(task)};
  return f;
}

}  // namespace

Result<Fit> fit_conv_psvm(const TrainingTask& target, const ConvPsvmOptions& options,
                          const Context& context) {
  if (const auto faults = validate(options); !faults.empty())
    return Error{fmt::format("{}", fmt::join(faults, "; "))};
  const KernelChoice choice = options.kernel_choice();
  if (auto checked = check_kernel_choice(choice); !checked) return checked.error();
  if (auto checked = check_rows_at_hand({&target, 1}, context); !checked) return checked.error();
  const ReducedBags& data = target.reduced;
  if (auto checked = check_target_bags(data); !checked) return checked.error();
  auto scaling = fit_scaling(options.scale, data.moments, data.feature_names);
  if (!scaling) return scaling.error();

  const Stopwatch watch;
  const KernelFunction kernel = kernel_function(choice, data.moments, *scaling);
  MappedRows rows = rows_by_name(*target.rows, *scaling);
  if (choice.nystrom > 0) {
    map_by_landmarks(kernel, static_cast<std::size_t>(choice.nystrom), context, rows);
  } else if (!choice.is_linear()) {
    map_by_kernel(kernel, rows);
  }
  const ReducedBags* const all[] = {&data};
  if (rows.mapped.size() > 0 && !rows.mapped.allFinite()) return overflow_error(all);
  const FeasibleLabels feasible(rows.bag_start, rows.bags.proportions, options.epsilon);
  auto first = first_labels(rows, feasible, context);
  if (!first) return first.error();
  const Cuts cuts =
      cutting_planes(rows.view(), rows.coordinates, feasible, std::move(*first), options, context);
  if (cuts.end == CutsEnd::kNumericalFault) return overflow_error(all);

  Fit fit;
  fit.model.method = "conv-psvm";
  fit.model.options = option_values(options);
  fit.model.training = report_of(cuts, options, data, context.seed);
  const Vector f = set_classifier(rows, kernel, cuts, target.name, context.threads, fit.model);
  fit.model.features = data.feature_names;
  fit.model.scaling = *scaling;
  if (rows.map) use_landmarks(*rows.map, data.feature_names, *scaling, fit.model);
  const std::span<const double> scores(f.data(), static_cast<std::size_t>(f.size()));
  if (!f.allFinite()) return overflow_error(all);
  warn_if_one_class(scores, fit.model.training.warnings);
  fit.model.tasks[0].probability = fit_bag_sigmoid(scores, rows.bag_start, rows.bags.proportions);
  fit.solve_seconds = watch.seconds();
  if (auto checked = check_finite(fit.model, all); !checked) return checked.error();
  return fit;
}

Method conv_psvm_method() {
  return make_method<ConvPsvmOptions>({
      .name = "conv-psvm",
      .summary = "the convex relaxation over all labelings that fit the bags, by cuts (Yu et al. 2013)",
      .fit = [](std::span<const TrainingTask> tasks, const ConvPsvmOptions& options,
                const Context& context) { return fit_conv_psvm(tasks[0], options, context); },
      .check = [](const ConvPsvmOptions& options) { return check_kernel_choice(options.kernel_choice()); },
      .needs_instances = [](const ConvPsvmOptions&) { return true; },
  });
}

}  // namespace bagwise
