#include "bagwise/methods/number_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <variant>

#include "bagwise/bags/visit_means.h"
#include "bagwise/comm/agree.h"
#include "bagwise/linalg/finite.h"
#include "bagwise/linalg/rows.h"

namespace bagwise {
namespace {

using Options = std::vector<std::pair<std::string, OptionValue>>;

constexpr std::string_view kTooLarge = "the numbers are too large to compute with";
constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Data and options within these are not what a fault is blamed on, if anything else is beyond them.
constexpr double kUsualFeature = 1e8, kUsualOption = 1e6;
constexpr int kUsualDegree = 5;

// A sum that has overflowed is infinite, or not a number where both signs have.
double size_of(double value) { return std::isnan(value) ? kInfinity : std::abs(value); }

bool has_moments(const ReducedBags& data) { return data.moments.largest.size() == data.sums.features(); }

// The largest value of a feature, over the rows where that is known, else over the means of bags.
struct Peak {
  const TrainingTask* task = nullptr;
  std::size_t feature = 0;
  double size = -1;

  void take(const TrainingTask& other, std::size_t j, double value) {
    if (size_of(value) > size) *this = {&other, j, size_of(value)};
  }
};

Peak peak_of(std::span<const TrainingTask> tasks) {
  Peak out;
  for (const TrainingTask& task : tasks) {
    if (has_moments(task.reduced)) {
      for (std::size_t j = 0; j < task.reduced.sums.features(); ++j)
        out.take(task, j, task.reduced.moments.largest[j]);
    } else {
      visit_means(task.reduced.sums,
                  [&](std::size_t, std::size_t j, double mean) { out.take(task, j, mean); });
    }
  }
  return out;
}

// The feature whose largest value is the least, other than 0.
Peak least_peak_of(std::span<const TrainingTask> tasks) {
  Peak out;
  for (const TrainingTask& task : tasks) {
    for (std::size_t j = 0; has_moments(task.reduced) && j < task.reduced.sums.features(); ++j) {
      const double size = task.reduced.moments.largest[j];
      if (size > 0 && (out.task == nullptr || size < out.size)) out = {&task, j, size};
    }
  }
  return out;
}

std::string name_of_feature(const TrainingTask& task, std::size_t j) {
  return fmt::format("feature \"{}\" of the {}", task.reduced.feature_names[j], task.name);
}

bool is_usual(double value) {
  const double size = std::abs(value);
  return size == 0 || (size <= kUsualOption && size >= 1 / kUsualOption);
}

bool is_usual(std::string_view name, const OptionValue& value) {
  if (name == "degree") return std::get<std::int64_t>(value) <= kUsualDegree;
  constexpr std::array kSizes = {"C",       "C-source", "C-p",   "lambda", "lambda-source",
                                 "epsilon", "delta",    "gamma", "clip"};
  if (std::find(kSizes.begin(), kSizes.end(), name) == kSizes.end()) return true;
  if (const auto* number = std::get_if<double>(&value)) return is_usual(*number);
  if (const auto* several = std::get_if<std::vector<double>>(&value))
    return std::all_of(several->begin(), several->end(), [](double v) { return is_usual(v); });
  return true;
}

std::vector<std::string> unusual(const Options& options) {
  const bool poly = std::any_of(options.begin(), options.end(), [](const auto& option) {
    return option.first == "kernel" && to_text(option.second) == "poly";
  });
  std::vector<std::string> out;
  for (const auto& [name, value] : options) {
    if (!is_usual(name, value) && (poly || name != "degree"))
      out.push_back(fmt::format("{} = {}", name, to_text(value)));
  }
  return out;
}

// The largest mean bound of a bag, of tasks whose rows have bounds of their own.
Peak bound_peak(std::span<const TrainingTask> tasks) {
  Peak out;
  for (const TrainingTask& task : tasks) {
    if (!task.reduced.has_bounds) continue;
    for (std::size_t k = 0; k < task.reduced.bags.size(); ++k)
      out.take(task, k, task.reduced.sums.mean_bound(k));
  }
  return out;
}

// The first bag with a sum that is no number; as an error.
Result<void> check_sums_of(const TrainingTask& task) {
  const ReducedBags& data = task.reduced;
  for (std::size_t k = 0; k < data.bags.size(); ++k) {
    if (std::isfinite(data.sums.bound_sum(k))) continue;
    return Error{fmt::format("the bounds (delta) of the {} are too large: those of bag \"{}\" add up to no "
                             "number; expected bounds in the unit of the features",
                             task.name, data.bags.names[k]),
                 task.origin};
  }
  // Sums stay numbers where even the largest value in every row would.
  if (has_moments(data)) {
    const auto rows = static_cast<double>(data.moments.rows);
    const double most = std::numeric_limits<double>::max() / 2;
    if (std::all_of(data.moments.largest.begin(), data.moments.largest.end(),
                    [&](double size) { return size <= most / std::max(rows, 1.0); }))
      return {};
  }
  std::optional<std::pair<std::size_t, std::size_t>> found;  // bag, feature
  visit_means(data.sums, [&](std::size_t k, std::size_t j, double mean) {
    if (!found && !std::isfinite(mean)) found = {k, j};
  });
  if (!found) return {};
  const std::string reach =
      has_moments(data) ? fmt::format(" (they reach {:.3g})", data.moments.largest[found->second]) : "";
  return Error{fmt::format("{} is too large: its values in bag \"{}\" add up to no number{}; divide it by a "
                           "power of ten beforehand, or leave it out",
                           name_of_feature(task, found->second), data.bags.names[found->first], reach),
               task.origin};
}

bool is_finite(const TaskReport& task) {
  return all_finite(task.residual) && all_finite(task.shift) && all_finite(task.angles) &&
         std::isfinite(task.norm) && std::isfinite(task.own_norm) && std::isfinite(task.shared_part);
}

bool is_finite(const TrainingReport& report) {
  return std::isfinite(report.objective) && std::isfinite(report.dual_objective.value_or(0)) &&
         std::isfinite(report.relative_gap.value_or(0)) &&
         std::isfinite(report.convex_objective.value_or(0)) &&
         std::isfinite(report.shared_norm.value_or(0)) && all_finite(report.objective_history) &&
         std::all_of(report.starts.begin(), report.starts.end(),
                     [](const StartReport& start) { return std::isfinite(start.objective); }) &&
         std::all_of(report.tasks.begin(), report.tasks.end(),
                     [](const TaskReport& task) { return is_finite(task); });
}

bool is_finite(const TaskModel& task) {
  return all_finite(task.weights) && std::isfinite(task.bias) && std::isfinite(task.probability.slope) &&
         std::isfinite(task.probability.offset);
}

bool is_finite(const Expansion& expansion) {
  return std::isfinite(expansion.kernel.gamma) && all_finite(stored_values(expansion.rows.view()));
}

}  // namespace

Error overflow_error() { return {std::string(kTooLarge)}; }

Error with_cause(Error error, std::span<const TrainingTask> tasks, const Options& options, BagsSeen seen) {
  if (error.message != kTooLarge) return error;
  const Peak feature = peak_of(tasks), bound = bound_peak(tasks);
  const std::vector<std::string> strange = unusual(options);
  std::vector<std::string> causes;
  if (feature.size > kUsualFeature) {
    causes.push_back(
        fmt::format("{} reaches {:.3g}", name_of_feature(*feature.task, feature.feature), feature.size));
    error.file = feature.task->origin;
  }
  if (const Peak tiny = least_peak_of(tasks); tiny.task != nullptr && tiny.size < 1 / kUsualFeature) {
    causes.push_back(
        fmt::format("{} is nowhere above {:.3g}", name_of_feature(*tiny.task, tiny.feature), tiny.size));
  }
  if (bound.size > kUsualFeature)
    causes.push_back(fmt::format("the bounds (delta) of the {} reach {:.3g}", bound.task->name, bound.size));
  if (!strange.empty()) causes.push_back(fmt::format("{}", fmt::join(strange, ", ")));
  if (causes.empty() && seen == BagsSeen::kSome) {
    error.message +=
        ": a feature of bags on another rank may be; expected features of a more usual size (scale maxabs), "
        "and "
        "such options (C, lambda, delta)";
    return error;
  }
  if (causes.empty()) {
    error.message += fmt::format(
        ", though the data are not (no feature is above {:.3g}): expected options of a more usual size (C, "
        "lambda, delta, gamma, degree)",
        std::max(0.0, feature.size));
    return error;
  }
  error.message += fmt::format(": {}; ", fmt::join(causes, ", and "));
  error.message +=
      feature.size > kUsualFeature
          ? "divide the feature by a power of ten beforehand, scale the features (scale maxabs), or "
            "leave it out"
          : "expected sizes nearer to 1";
  return error;
}

Result<void> check_sums(std::span<const TrainingTask> tasks, Communicator* spread) {
  Result<void> checked;
  for (const TrainingTask& task : tasks) {
    if (checked) checked = check_sums_of(task);
  }
  return spread != nullptr ? agree(*spread, checked) : checked;
}

Result<void> check_gamma(std::span<const TrainingTask> tasks, const Options& options) {
  const auto is = [&](std::string_view name, std::string_view text) {
    return std::any_of(options.begin(), options.end(), [&](const auto& option) {
      return option.first == name && to_text(option.second) == text;
    });
  };
  if (!(is("kernel", "rbf") || is("kernel", "poly")) || !is("gamma", "auto")) return {};
  const Peak peak = peak_of(tasks);
  constexpr double kSmall = 1e-140;
  for (const TrainingTask& task : tasks) {
    for (std::size_t j = 0; has_moments(task.reduced) && j < task.reduced.sums.features(); ++j) {
      if (std::isfinite(task.reduced.moments.variance(j))) continue;
      return Error{
          fmt::format("{} reaches {:.3g}, too large to be squared, which gamma = auto needs; divide it "
                      "by a power of ten beforehand, or give gamma",
                      name_of_feature(task, j), task.reduced.moments.largest[j]),
          task.origin};
    }
  }
  if (peak.size > 0 && peak.size < kSmall) {
    return Error{
        fmt::format("no feature is above {:.3g}, too small to be squared, which gamma = auto needs; "
                    "multiply them by a power of ten beforehand, or give gamma",
                    peak.size)};
  }
  return {};
}

Result<void> check_finite(const Model& model) {
  for (std::size_t t = 0; t < model.tasks.size(); ++t) {
    const Plane plane = raw_plane(model, t);
    if (!std::isfinite(plane.bias) || !plane.weights.allFinite()) return overflow_error();
  }
  const bool fine = is_finite(model.training) && all_finite(model.shared_weights) &&
                    all_finite(model.scaling.shift) && all_finite(model.scaling.factor) &&
                    (!model.expansion || is_finite(*model.expansion)) &&
                    std::all_of(model.tasks.begin(), model.tasks.end(),
                                [](const TaskModel& task) { return is_finite(task); });
  return fine ? Result<void>() : overflow_error();
}

}  // namespace bagwise
