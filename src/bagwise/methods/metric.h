// The metric pca: methods see rows along their principal axes, each stretched by its singular value.
//
//   z = V (x - mean),    the method sees g_i z_i,    g_i = c s_i / s_1
//
// V (orthonormal rows), mean and s are those of the rows of all tasks together, without any label
// (linalg/principal_axes.h); c makes the mean length of the rows seen 1. A plane u.(g z) + b found there is
// the plane w.x + b - w.mean with w = V' (g u) on raw rows: that is what the model keeps.
//
// The rotation keeps lengths and the stretch is a diagonal, so a method gets the rotated rows together with a
// Scaling, in which bounds in raw units stay exact: |V' (g u)| = |g u|.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bagwise/core/options.h"
#include "bagwise/core/result.h"
#include "bagwise/linalg/principal_axes.h"
#include "bagwise/methods/model.h"
#include "bagwise/methods/registry.h"

namespace bagwise {

enum class MetricKind { kNone, kPca };
inline std::vector<std::pair<std::string_view, MetricKind>> names(MetricKind) {
  return {{"none", MetricKind::kNone}, {"pca", MetricKind::kPca}};
}

// The option that every method has besides its own.
struct MetricOptions {
  MetricKind metric = MetricKind::kNone;

  template <class Visitor>
  static void describe(Visitor&& visit) {
    visit("metric", &MetricOptions::metric,
          "pca: weigh the principal axes of the rows by their singular values; needs single rows", Rule{});
  }
};

struct Metric {
  PrincipalAxes axes;
  Scaling scaling;  // of the coordinates along the axes: kind "pca", shift 0, factor g
};

// Tasks in coordinates along the axes, which are their features.
struct MappedTasks {
  Metric metric;
  std::vector<std::string> features;                    // the names of the raw ones
  std::vector<std::unique_ptr<const BaggedData>> rows;  // of each task, in bags as before; none if not kept
  // As before, in the new coordinates; bounds stay in raw units. Moments are not gathered: the scaling is the
  // metric's.
  std::vector<TrainingTask> tasks;

  // What a fit of `tasks` gets: the metric's scaling. This object must outlive it.
  [[nodiscard]] Context context(Context outer) const {
    outer.scaling = &metric.scaling;
    return outer;
  }
};

// Fits the metric on the rows of all tasks and maps them. Without `keep_rows`, the mapped tasks have sums per
// bag alone. Errors: tasks without rows or of different features, several ranks, rows that are all equal,
// numbers too large, and a stop by the observer.
Result<MappedTasks> map_tasks(std::span<const TrainingTask> tasks, const Context& context,
                              bool keep_rows = true);

// Turns a linear model of mapped tasks into the same model on raw rows. Norms, angles and residuals in its
// report stay those of the metric's space.
void fold_back(const MappedTasks& mapped, Model& model);

// Maps, fits, folds back.
Result<Fit> fit_in_metric(
    std::span<const TrainingTask> tasks, const Context& context, bool keep_rows,
    const std::function<Result<Fit>(std::span<const TrainingTask>, const Context&)>& fit);

// That a method's other options go with the metric pca: kernel linear and scale none.
Result<void> check_metric_options(const std::vector<std::pair<std::string, OptionValue>>& options);

}  // namespace bagwise
