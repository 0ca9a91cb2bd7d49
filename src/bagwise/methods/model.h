// Model: what training leaves behind and prediction needs.
//
// It does not know files (report/model_file.h) nor how it was found (the methods).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bagwise/core/options.h"
#include "bagwise/core/result.h"
#include "bagwise/linalg/rows.h"

namespace bagwise {

// How a score f becomes a probability: 1 / (1 + exp(-(slope * f + offset))).
struct Probability {
  double slope = 1, offset = 0;
  [[nodiscard]] double of(double score) const;
};

// x is seen by the weights as (x - shift) * factor, feature by feature; both empty = as it is.
struct Scaling {
  std::string kind = "none";  // none, standard, maxabs
  std::vector<double> shift, factor;
};

struct TaskModel {
  std::string name;
  std::vector<double> weights;  // in the scaled space
  double bias = 0;
  Probability probability;
};

// What training reports of itself, without times and memory: part of the model file.
struct TrainingReport {
  double objective = 0;
  std::optional<double> dual_objective, relative_gap;  // convex methods
  std::string termination;                             // "converged", "iteration-limit", "stopped"
  int rounds = 1;
  std::vector<double> objective_history;                // alternating methods
  std::uint64_t instances = 0, features = 0, bags = 0;  // of the target
  std::uint64_t seed = 0;
  std::vector<std::string> warnings;
};

struct Model {
  std::string method;
  std::vector<std::string> features;
  std::vector<std::string> one_hot;  // columns that were spread into "column=value" features
  std::string missing = "error";     // error, mean, zero: what an empty cell means
  std::vector<double> fill;          // with missing = mean: one per feature
  Scaling scaling;
  std::vector<TaskModel> tasks;  // sources in order, the target last
  std::vector<std::pair<std::string, OptionValue>> options;
  TrainingReport training;

  // "target", "source" (the first), a task's name, or its number from 1.
  [[nodiscard]] Result<std::size_t> find_task(const std::string& name) const;
};

// A task's plane with the scaling folded in: f(x) = weights . x + bias on raw rows.
struct Plane {
  Vector weights;
  double bias = 0;
};
Plane raw_plane(const Model& model, std::size_t task);

// f(x) for every row; on up to `threads` threads, the same bits whatever their number.
std::vector<double> scores(const Plane& plane, const RowsView& rows, unsigned threads = 0);

}  // namespace bagwise
