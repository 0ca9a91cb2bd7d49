#include "bagwise/methods/metric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "bagwise/bags/feature_moments.h"
#include "bagwise/methods/bag_checks.h"
#include "bagwise/methods/number_range.h"

namespace bagwise {
namespace {

constexpr std::size_t kRowsAtOnce = 16384;  // mapped: fixed, as lengths are added up by these

Result<void> check_tasks(std::span<const TrainingTask> tasks, const Context& context) {
  if (context.comm != nullptr && context.comm->size() > 1)
    return Error{
        "metric = pca looks at the rows of all tasks together: expected one process that has them all"};
  for (const TrainingTask& task : tasks) {
    if (task.rows != nullptr) continue;
    return Error{fmt::format("the {} is given by sums per bag only; metric pca needs its rows", task.name)};
  }
  const ReducedBags& target = tasks.back().reduced;
  if (auto checked = check_target_bags(target); !checked) return checked;
  std::vector<std::string> told_later;
  for (const TrainingTask& source : tasks.first(tasks.size() - 1)) {
    if (auto checked = check_source_bags(source, source.reduced, target, told_later); !checked)
      return checked;
  }
  return {};
}

// Calls take(task, first row, coordinates) for all rows, some at a time. False: the observer stopped it.
template <class Take>
bool over_coordinates(std::span<const TrainingTask> tasks, const PrincipalAxes& axes, const Context& context,
                      const Take& take) {
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const RowsView rows = tasks[t].rows->features.view();
    const std::size_t n = row_count(rows);
    for (std::size_t from = 0; from < n; from += kRowsAtOnce) {
      if (tell(context.observer, {"mapping", static_cast<double>(from), static_cast<double>(n)}) ==
          Next::kStop)
        return false;
      take(t, from, coordinates(axes, rows, from, std::min(kRowsAtOnce, n - from), context.threads));
    }
  }
  return true;
}

// The means of the bags are mapped as the rows are.
ReducedBags mapped_sums(const ReducedBags& data, const PrincipalAxes& axes,
                        const std::vector<std::string>& names) {
  const DenseRows means = data.sums.means();
  const RowMatrix mapped = coordinates(axes, means.view(), 0, means.rows());
  ReducedBags out{names, data.bags, BagSums(data.bags.size(), names.size()), FeatureMoments(names.size()),
                  data.has_bounds};
  std::vector<double> packed = out.sums.pack();
  const std::vector<double> before = data.sums.pack();
  const std::size_t bags = data.bags.size(), numbers = 3 * bags;  // counts and sums of bounds stay
  std::copy_n(before.begin(), numbers, packed.begin());
  for (std::size_t k = 0; k < bags; ++k) {
    for (std::size_t j = 0; j < names.size(); ++j) {
      packed[numbers + k * names.size() + j] =
          static_cast<double>(data.sums.count(k)) *
          mapped(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(j));
    }
  }
  out.sums.unpack(packed);
  return out;
}

std::unique_ptr<const BaggedData> mapped_rows(const BaggedData& data, DenseRows rows,
                                              const std::vector<std::string>& names) {
  BaggedData out;
  out.features = Features(std::move(rows));
  out.feature_names = names;
  out.bags = data.bags;
  out.bag_of_row = data.bag_of_row;
  out.bounds = data.bounds;
  return std::make_unique<const BaggedData>(std::move(out));
}

// V' (g u)
std::vector<double> raw_weights(const Metric& metric, const std::vector<double>& u) {
  const Plane stretched = raw_plane(metric.scaling, u, 0);
  const Vector w = metric.axes.axes.transpose() * stretched.weights;
  return {w.data(), w.data() + w.size()};
}

}  // namespace

Result<MappedTasks> map_tasks(std::span<const TrainingTask> tasks, const Context& context, bool keep_rows) {
  assert(!tasks.empty());
  if (auto checked = check_tasks(tasks, context); !checked) return checked.error();
  std::vector<RowsView> tables;
  for (const TrainingTask& task : tasks) tables.push_back(task.rows->features.view());
  auto axes = principal_axes(
      tables, {.seed = context.seed, .threads = context.threads, .observer = context.observer});
  if (!axes) return stopped_error();
  if (!std::isfinite(axes->total) || !axes->singular.allFinite() || !axes->axes.allFinite())
    return overflow_error();
  if (axes->rank() == 0) {
    constexpr double kSmall = 1e-140;
    double largest = 0;
    for (const RowsView& rows : tables) {
      for (const double v : stored_values(rows)) largest = std::max(largest, std::abs(v));
    }
    if (largest > 0 && largest < kSmall) {
      return Error{
          fmt::format("no feature is above {:.3g}, too small to be squared, which metric = pca needs; "
                      "multiply them by a power of ten beforehand",
                      largest)};
    }
  }
  if (axes->rank() == 0)
    return Error{"metric = pca: all rows are equal, so that they have no axes; expected rows that differ"};

  MappedTasks out;
  out.features = tasks.back().reduced.feature_names;
  out.metric.axes = std::move(*axes);
  const Vector ratio = out.metric.axes.singular / out.metric.axes.singular[0];
  const std::size_t rank = out.metric.axes.rank();
  std::vector<DenseRows> kept(tasks.size(), DenseRows(rank));
  double length = 0, rows = 0;
  const bool done =
      over_coordinates(tasks, out.metric.axes, context, [&](std::size_t t, std::size_t, const RowMatrix& z) {
        double sum = 0;
        for (Eigen::Index i = 0; i < z.rows(); ++i) sum += z.row(i).transpose().cwiseProduct(ratio).norm();
        length += sum;
        rows += static_cast<double>(z.rows());
        if (keep_rows) std::copy_n(z.data(), z.size(), kept[t].append(static_cast<std::size_t>(z.rows())));
      });
  if (!done) return stopped_error();
  const Vector factor = ratio * (rows / length);
  out.metric.scaling = {
      "pca", std::vector<double>(rank, 0.0), {factor.data(), factor.data() + factor.size()}};

  std::vector<std::string> names;
  for (std::size_t i = 1; i <= rank; ++i) names.push_back(fmt::format("axis {}", i));
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const TrainingTask& task = tasks[t];
    if (keep_rows) out.rows.push_back(mapped_rows(*task.rows, std::move(kept[t]), names));
    out.tasks.push_back({task.name, mapped_sums(task.reduced, out.metric.axes, names),
                         keep_rows ? out.rows.back().get() : nullptr, task.origin});
  }
  return out;
}

void fold_back(const MappedTasks& mapped, Model& model) {
  assert(!model.expansion);
  const PrincipalAxes& axes = mapped.metric.axes;
  for (TaskModel& task : model.tasks) {
    task.weights = raw_weights(mapped.metric, task.weights);
    task.bias -= Eigen::Map<const Vector>(task.weights.data(), axes.mean.size()).dot(axes.mean);
  }
  if (!model.shared_weights.empty()) model.shared_weights = raw_weights(mapped.metric, model.shared_weights);
  model.features = mapped.features;
  model.scaling = {};
  model.metric = {"pca", axes.rank(), std::min(1.0, axes.singular.squaredNorm() / axes.total)};
  model.training.features = mapped.features.size();
}

Result<Fit> fit_in_metric(
    std::span<const TrainingTask> tasks, const Context& context, bool keep_rows,
    const std::function<Result<Fit>(std::span<const TrainingTask>, const Context&)>& fit) {
  assert(context.scaling == nullptr);
  const auto mapped = map_tasks(tasks, context, keep_rows);
  if (!mapped) return mapped.error();
  auto found = fit(mapped->tasks, mapped->context(context));
  if (!found) return found;
  fold_back(*mapped, found->model);
  return found;
}

Result<void> check_metric_options(const std::vector<std::pair<std::string, OptionValue>>& options) {
  for (const auto& [name, value] : options) {
    const std::string text = to_text(value);
    const std::string wanted = name == "kernel" ? "linear" : name == "scale" ? "none" : text;
    if (text == wanted) continue;
    return Error{
        fmt::format("metric = pca does not go with {} {}; expected {} {}", name, text, name, wanted)};
  }
  return {};
}

}  // namespace bagwise
