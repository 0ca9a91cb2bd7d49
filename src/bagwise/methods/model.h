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
#include "bagwise/data/dataset.h"
#include "bagwise/linalg/kernel_function.h"
#include "bagwise/linalg/rows.h"

namespace bagwise {

// How a score f becomes a probability: 1 / (1 + exp(-(slope * f + offset))).
struct Probability {
  double slope = 1, offset = 0;
  [[nodiscard]] double of(double score) const;
  [[nodiscard]] double of_negative(double score) const;  // 1 - of(score), with all its digits
};

// x is seen by the weights as (x - shift) * factor, feature by feature; both empty = as it is.
struct Scaling {
  std::string kind = "none";  // none, standard, maxabs
  std::vector<double> shift, factor;
};

// The rows a kernel model compares with: f(x) = sum_i weights_i k(row_i, x) + bias, x as scaled.
struct Expansion {
  KernelFunction kernel;
  Features rows;  // in the scaled space
};

struct TaskModel {
  std::string name;
  std::vector<double> weights;  // one per feature, in the scaled space; of a kernel model one per row it has
  double bias = 0;
  Probability probability;
};

// How one task was fitted, bag by bag, and how its plane stands to the others.
struct TaskReport {
  std::string name;
  std::uint64_t instances = 0;
  double norm = 0;                     // |w_t|
  double own_norm = 0;                 // |v_t|; w_t = w_0 + v_t
  double shared_part = 0;              // w_0.w_t / |w_t|^2: 1 all shared, 0 all its own
  std::vector<double> angles;          // degrees between w_t and the plane of every task
  std::vector<std::string> bag_names;  // and per bag:
  std::vector<double> residual;        // f of the observed mean, less its target
  std::vector<double> shift;   // how far uncertainty moves the mean along w_t; empty: unknown to the method
  std::vector<bool> at_bound;  // whether that is as far as its bound allows
};

// One of several starts of a method that is not convex.
struct StartReport {
  std::string init;      // "random", "inv-cal", "tl-llp"; "path": the setting before
  double objective = 0;  // what it came to
  int machines = 0;      // convex problems solved on the way
};

// What training reports of itself, without times and memory: part of the model file.
struct TrainingReport {
  double objective = 0;
  std::optional<double> dual_objective, relative_gap;  // convex methods, or the last convex problem
  std::optional<double> convex_objective;              // of that problem, where it is not the objective
  std::string termination;                             // "converged", "iteration-limit", "stopped", ...
  int rounds = 1;
  std::vector<double> objective_history;                // alternating methods
  std::vector<int> solver_steps;                        // of each round's solve
  std::uint64_t instances = 0, features = 0, bags = 0;  // of the target
  std::uint64_t seed = 0;
  std::optional<double> shared_norm;  // |w_0|, of methods that have it
  std::vector<StartReport> starts;    // of methods that have several; none ends below the model
  std::vector<TaskReport> tasks;      // sources in order, the target last
  std::vector<std::string> warnings;
};

// Several planes in place of one: P(x) = sum_m share_m P_m(x) and f(x) = log(P(x) / (1 - P(x))).
// The model's tasks then hold the averaged plane sum_m share_m (w_m, b_m), which is what people look at.
struct Committee {
  struct Planes {
    RowMatrix weights;  // one row per member, on raw values
    std::vector<double> bias;
    std::vector<Probability> probability;
  };
  std::vector<std::string> settings;   // the methods and options its members were trained with
  std::vector<std::uint32_t> setting;  // per member, into settings
  std::vector<std::uint32_t> fold;     // per member, the fold of bags it has not seen, from 0
  std::vector<double> share;           // per member; they add up to 1
  std::vector<Planes> tasks;           // as Model::tasks

  [[nodiscard]] std::size_t size() const { return share.size(); }
};

// How a model's options were chosen on bags.
struct Selection {
  std::string criterion, combine, search;
  std::uint64_t folds = 0, repeats = 1, seed = 0;
  std::uint64_t settings = 0;  // tried
  std::string best;            // the setting with the least value, as "inv-cal C=1 epsilon=0.1"
  double value = 0;            // its criterion on held-out bags
};

// The metric the planes were found in, for the reader: weights and biases are of raw rows again.
struct ModelMetric {
  std::string kind = "none";  // none, pca
  std::uint64_t rank = 0;     // pca: how many axes there are
  double variance_kept = 0;   // pca: their share of the rows' variance, in (0, 1]
};

struct Model {
  std::string method;
  std::vector<std::string> features;
  std::vector<std::string> one_hot;  // columns that were spread into "column=value" features
  std::string missing = "error";     // error, mean, zero: what an empty cell means
  std::vector<double> fill;          // with missing = mean: one per feature
  Scaling scaling;
  ModelMetric metric;
  std::optional<Expansion> expansion;  // of a kernel model
  std::vector<TaskModel> tasks;        // sources in order, the target last
  std::vector<double> shared_weights;  // w_0, the part all tasks share; empty: none
  std::optional<Committee> committee;  // of an average over models
  std::optional<Selection> selection;  // of a tuned model
  std::vector<std::pair<std::string, OptionValue>> options;
  TrainingReport training;

  // "target", "source" (the first), a task's name, or its number from 1.
  [[nodiscard]] Result<std::size_t> find_task(const std::string& name) const;
};

// A linear model's task as a plane, with the scaling folded in: f(x) = weights . x + bias on raw rows.
// A kernel model has no plane: it gets one without weights. What scores rows by any model is in scorer.h.
struct Plane {
  Vector weights;
  double bias = 0;
};
Plane raw_plane(const Model& model, std::size_t task);
Plane raw_plane(const Scaling& scaling, const std::vector<double>& weights, double bias);

// f(x) for every row; on up to `threads` threads, the same bits whatever their number.
std::vector<double> scores(const Plane& plane, const RowsView& rows, unsigned threads = 0);

}  // namespace bagwise
