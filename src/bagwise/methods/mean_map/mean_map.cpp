#include "bagwise/methods/mean_map/mean_map.h"

#include <fmt/format.h>

#include <cassert>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "bagwise/bags/memory_rows.h"
#include "bagwise/bags/visit_means.h"
#include "bagwise/comm/agree.h"
#include "bagwise/core/hash.h"
#include "bagwise/core/timing.h"
#include "bagwise/linalg/compensated.h"
#include "bagwise/methods/bag_checks.h"
#include "bagwise/methods/method_entry.h"
#include "bagwise/methods/number_range.h"
#include "bagwise/methods/saved_state.h"
#include "bagwise/solver/log_cosh_passes.h"

namespace bagwise {
namespace {

// The last of class_means() for sparse sums, whose zeros are not gone through.
void set_sparse_means(const BagSums& sums, std::span<const double> proportions, double squares,
                      ClassMeans& out) {
  const auto n = static_cast<double>(out.rows);
  std::vector<CompensatedSum> total(sums.features()), along(sums.features());
  CompensatedSum off;
  for (std::size_t k = 0; k < sums.bags(); ++k)
    off.add((proportions[k] - out.share) * static_cast<double>(sums.count(k)));
  visit_means(sums, [&](std::size_t k, std::size_t j, double mean) {
    const double sum = mean * static_cast<double>(sums.count(k));
    total[j].add(sum);
    along[j].add((proportions[k] - out.share) * sum);
  });
  for (std::size_t j = 0; j < sums.features(); ++j) {
    const double mean = total[j].value() / n;
    along[j].add(-mean * off.value());
    out.mean[static_cast<Eigen::Index>(j)] = mean;
    out.difference[static_cast<Eigen::Index>(j)] = along[j].value() / squares;
  }
}

}  // namespace

// With v the variance of the proportions over rows, the normal equations' matrix over N is
// [pi^2 + v, pi (1 - pi) - v; ., (1 - pi)^2 + v]: its determinant is v.
ClassMeans class_means(const BagSums& sums, std::span<const double> proportions) {
  assert(sums.bags() == proportions.size());
  ClassMeans out;
  CompensatedSum positives, squares;
  for (std::size_t k = 0; k < sums.bags(); ++k) {
    out.rows += sums.count(k);
    positives.add(static_cast<double>(sums.count(k)) * proportions[k]);
  }
  const auto n = static_cast<double>(out.rows);
  out.share = positives.value() / n;
  for (std::size_t k = 0; k < sums.bags(); ++k) {
    const double off = proportions[k] - out.share;
    squares.add(static_cast<double>(sums.count(k)) * off * off);
  }
  const double variance = squares.value() / n, other = 1 - out.share;
  out.deviation = std::sqrt(variance);
  const double trace = out.share * out.share + other * other + 2 * variance;
  const double largest = (trace + std::sqrt(std::max(0.0, trace * trace - 4 * variance))) / 2;
  out.condition = largest / out.deviation;

  const auto d = static_cast<Eigen::Index>(sums.features());
  out.mean.resize(d);
  out.difference.resize(d);
  if (sums.layout() == BagSums::Layout::kSparse) {
    set_sparse_means(sums, proportions, squares.value(), out);
    return out;
  }
  for (std::size_t j = 0; j < sums.features(); ++j) {
    CompensatedSum total, along;
    for (std::size_t k = 0; k < sums.bags(); ++k) total.add(sums.sum(k, j));
    const double mean = total.value() / n;
    for (std::size_t k = 0; k < sums.bags(); ++k) {
      const double off = sums.sum(k, j) - static_cast<double>(sums.count(k)) * mean;
      along.add((proportions[k] - out.share) * off);
    }
    out.mean[static_cast<Eigen::Index>(j)] = mean;
    out.difference[static_cast<Eigen::Index>(j)] = along.value() / squares.value();
  }
  return out;
}

Vector mean_operator_sum(const ClassMeans& means, const Scaling& scaling) {
  const Eigen::Index d = means.mean.size();
  const auto n = static_cast<double>(means.rows);
  const double excess = 2 * means.share - 1, spread = 2 * means.share * (1 - means.share);
  Vector out(d + 1);
  for (Eigen::Index j = 0; j < d; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const double shift = scaling.factor.empty() ? 0 : scaling.shift[at];
    const double factor = scaling.factor.empty() ? 1 : scaling.factor[at];
    out[j] = n * factor * (excess * (means.mean[j] - shift) + spread * means.difference[j]);
  }
  out[d] = n * excess;
  return out;
}

namespace {

Result<void> check_rows(const TrainingTask& target, const Context& context) {
  if (context.spread_bags)
    return Error{"mean-map takes the class means from all bags: expected their sums on every rank"};
  if (target.rows == nullptr && target.stream == nullptr)
    return Error{fmt::format("the {} is given by sums per bag only; mean-map needs its rows", target.name)};
  return {};
}

// Errors of bag means enter the difference of the class means up to 1/deviation times as large. Bags of 64
// rows dealt at random have a condition number of 8, of 1,000 rows 32. From 100 on, errors of a hundredth of
// the features' size, which no real bags are free of, drown the classes.
Result<void> check_condition(const ClassMeans& means, std::vector<std::string>& warnings) {
  constexpr double kLarge = 100;
  if (!(means.deviation > 0)) {
    return Error{
        fmt::format("all bags that have rows have the proportion {}; expected at least two different "
                    "proportions, else there is nothing to learn from",
                    means.share)};
  }
  if (means.condition > kLarge) {
    warnings.push_back(fmt::format(
        "the proportions differ little (by {:.2g} about {:.4g}, as a standard deviation): the class means "
        "are "
        "ill-conditioned (condition number {:.3g}), an error of the bag means enters their difference up to "
        "{:.3g} times as large",
        means.deviation, means.share, means.condition, 1 / means.deviation));
  }
  return {};
}

TrainingReport report_of(const LogCoshSolution& solution, const MeanMapOptions& options,
                         const ReducedBags& data, std::uint64_t seed) {
  TrainingReport out = convex_report(solution.report, options.tolerance, data, seed);
  const bool converged = solution.report.termination == Termination::kConverged;
  if (solution.report.termination == Termination::kIterationLimit) out.warnings.pop_back();  // it says less
  if (solution.report.termination == Termination::kIterationLimit ||
      (converged && solution.report.relative_gap() > options.tolerance)) {
    out.warnings.push_back(fmt::format(
        "the relative gradient norm is {:.3g} and the relative gap {:.3g}, {:.3g} was asked for; features of "
        "very different size or far from 0 for their spread make this hard{}",
        solution.relative_gradient, solution.report.relative_gap(), options.tolerance,
        options.scale == Scale::kStandard ? "" : ": try scale standard"));
  }
  // For labels y in [-1, 1] with sum_j y_j x_j = N mu every term log(exp(f) + exp(-f)) - y f is positive.
  if (converged && out.objective < 0) {
    out.warnings.push_back(fmt::format(
        "the objective is negative: no labels of the rows have the class means found in the bags (noise, or "
        "bags that differ in more than their shares); lambda = {:g} alone bounds the weights, and "
        "probabilities "
        "are too near 0 and 1: try a larger lambda",
        options.lambda));
  }
  return out;
}

// Whether some feature is so far from 0 for its spread that a shift folded into the products with the rows
// would cost digits that the answer needs.
bool is_far(const Scaling& scaling) {
  constexpr double kFar = 1e3;
  for (std::size_t j = 0; j < scaling.factor.size(); ++j) {
    if (std::abs(scaling.shift[j] * scaling.factor[j]) > kFar) return true;
  }
  return false;
}

// Where dense rows are far, a scaled copy of them; sparse rows are never filled up.
std::optional<Features> copy_if_far(const RowsView& rows, const Scaling& scaling) {
  if (!std::holds_alternative<DenseView>(rows) || !is_far(scaling)) return std::nullopt;
  return scaled_rows(scaling, rows, 0, row_count(rows));
}

Result<LogCoshSolution> solve_in_memory(const BaggedData& data, const Vector& linear, const Scaling& scaling,
                                        const MeanMapOptions& options, const LogCoshOptions& how,
                                        const Context& context) {
  const RowsView rows = data.features.view();
  const std::optional<Features> copy = copy_if_far(rows, scaling);
  LogCoshProblem problem{rows, linear, options.lambda};
  if (copy) {
    problem.rows = copy->view();
  } else {
    problem.shift = scaling.shift;
    problem.factor = scaling.factor;
  }
  return solve_log_cosh(problem, how, context.observer);
}

// The rows in passes, wherever they are.
class TaskPasses {
 public:
  explicit TaskPasses(const TrainingTask& task) : stream_(task.stream) {
    if (stream_ == nullptr) stream_ = &memory_.emplace(*task.rows);
  }
  TaskPasses(const TaskPasses&) = delete;
  TaskPasses& operator=(const TaskPasses&) = delete;
  RowStream& operator*() const { return *stream_; }

 private:
  std::optional<MemoryRows> memory_;
  RowStream* stream_;
};

Result<LogCoshSolution> solve_in_passes(const TrainingTask& target, const Vector& linear,
                                        const Scaling& scaling, const MeanMapOptions& options,
                                        const LogCoshOptions& how, const Context& context) {
  const TaskPasses rows(target);
  LogCoshPasses problem;
  problem.pass = [&](const auto& work, const auto& fold) {
    return (*rows).pass([&](const RowBlock& block) { return work(block.rows); }, fold, context.threads,
                        context.observer);
  };
  problem.linear = linear;
  problem.lambda = options.lambda;
  problem.shift = scaling.shift;
  problem.factor = scaling.factor;
  problem.comm = context.comm;

  // The weights after every step.
  constexpr std::string_view kKind = "bagwise mean-map steps 1";
  Fnv1a hash;
  for (const auto& [name, value] : option_values(options)) hash.add(name).add(to_text(value));
  hash.add(std::span(linear.data(), static_cast<std::size_t>(linear.size())));
  hash.add(std::span<const double>(scaling.shift)).add(std::span<const double>(scaling.factor));
  struct Left {
    Vector weights;
    std::size_t steps = 0;
  };
  const auto parse = [&](std::string_view bytes) -> std::optional<Left> {
    StateReader in(bytes);
    Left out;
    out.steps = static_cast<std::size_t>(in.whole(std::numeric_limits<int>::max()));
    out.weights = in.vector();
    if (!in.at_end() || out.weights.size() != linear.size()) return std::nullopt;
    return out;
  };
  const auto left = load_state<Left>(context.checkpoint, context.comm, kKind, hash.value(), parse,
                                     [](const Left& state) { return state.steps; });
  if (!left) return left.error();
  LogCoshCourse course;
  if (*left) {
    course.start = &(*left)->weights;
    course.steps = static_cast<int>((*left)->steps);
  }
  if (context.checkpoint != nullptr) {
    course.after_step = [&](const Vector& weights, int steps) -> Result<void> {
      StateWriter out;
      out.put(steps);
      out.put(weights);
      auto saved = context.checkpoint->save(with_mark(kKind, hash.value(), out.take()));
      return context.comm != nullptr ? agree(*context.comm, saved) : saved;
    };
  }
  return solve_log_cosh_in_passes(problem, how, context.observer, course);
}

// How many rows of all ranks are on the positive side.
Result<std::size_t> count_positive(const TrainingTask& target, const Plane& plane, const Context& context) {
  const TaskPasses rows(target);
  const auto count = [&](const RowBlock& block, double& part) {
    for (const double f : scores(plane, block.rows, 1)) part += f > 0 ? 1 : 0;
  };
  auto found = sum_over_blocks(
      *rows, 0.0, count, [](double& sum, double part) { sum += part; }, context.threads, context.observer);
  if (context.comm != nullptr) {
    found = agree(*context.comm, std::move(found));
    if (found) context.comm->sum({&*found, 1});
  }
  if (!found) return found.error();
  return static_cast<std::size_t>(*found);
}

}  // namespace

Result<Fit> fit_mean_map(const TrainingTask& target, const MeanMapOptions& options, const Context& context) {
  if (const auto faults = validate(options); !faults.empty())
    return Error{fmt::format("{}", fmt::join(faults, "; "))};
  if (auto checked = check_rows(target, context); !checked) return checked.error();
  const ReducedBags& data = target.reduced;
  if (auto checked = check_target_bags(data); !checked) return checked.error();
  auto scaling = fit_scaling(options.scale, data.moments, data.feature_names, context.scaling);
  if (!scaling) return scaling.error();

  const Stopwatch watch;
  const ClassMeans means = class_means(data.sums, data.bags.proportions);
  std::vector<std::string> warnings;
  if (auto checked = check_condition(means, warnings); !checked) return checked.error();
  const LogCoshOptions how{.tolerance = options.tolerance, .threads = context.threads};
  const Vector linear = mean_operator_sum(means, *scaling);
  const bool in_passes = target.stream != nullptr || (context.comm != nullptr && context.comm->size() > 1);
  auto solved = in_passes ? solve_in_passes(target, linear, *scaling, options, how, context)
                          : solve_in_memory(*target.rows, linear, *scaling, options, how, context);
  if (!solved) return solved.error();
  const LogCoshSolution& solution = *solved;
  if (solution.report.termination == Termination::kNumericalFault) return overflow_error();

  Fit fit;
  fit.solve_seconds = watch.seconds();
  fit.model.method = "mean-map";
  fit.model.features = data.feature_names;
  fit.model.scaling = std::move(*scaling);
  fit.model.options = option_values(options);
  const Vector& w = solution.weights;
  fit.model.tasks = {{target.name, {w.data(), w.data() + w.size() - 1}, w[w.size() - 1], {2, 0}}};
  fit.model.training = report_of(solution, options, data, context.seed);
  auto& told = fit.model.training.warnings;
  told.insert(told.begin(), warnings.begin(), warnings.end());
  if (in_passes) {
    const auto positive = count_positive(target, raw_plane(fit.model, 0), context);
    if (!positive) return positive.error();
    warn_if_one_class(*positive, means.rows, told);
  } else {
    warn_if_one_class(scores(raw_plane(fit.model, 0), target.rows->features.view(), context.threads), told);
  }
  warn_if_noise_ignored(data.bags, "mean-map", told);
  return fit;
}

Method mean_map_method() {
  return make_method<MeanMapOptions>({
      .name = "mean-map",
      .summary = "logistic regression from class means that the bags tell (Quadrianto et al. 2009)",
      .fit = [](std::span<const TrainingTask> tasks, const MeanMapOptions& options,
                const Context& context) { return fit_mean_map(tasks[0], options, context); },
      .rows_needed = [](const MeanMapOptions&) { return RowsNeeded::kPasses; },
      .default_grid =
          [](std::size_t) {
            return std::vector<SettingsPath>{{{{"lambda", "0.1"}}, {{"lambda", "1"}}, {{"lambda", "10"}}}};
          },
  });
}

}  // namespace bagwise
