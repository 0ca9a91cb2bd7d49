// What a fit tells of each task: how its bags were met, and how its plane stands to the others'.
#pragma once

#include <span>
#include <vector>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/linalg/rows.h"
#include "bagwise/methods/model.h"
#include "bagwise/methods/registry.h"
#include "bagwise/solver/tube_problem.h"

namespace bagwise {

// The planes by their inner products, which is all that is known of them in a kernel's space.
struct PlaneProducts {
  double shared = 0;                // |w_0|^2
  std::vector<double> own;          // |v_t|^2
  std::vector<double> with_shared;  // w_0.w_t
  ColMatrix between;                // w_s.w_t
};
PlaneProducts products_of(const TubePlanes& planes);

// Makes the planes the tasks of a model, by the names of the tasks they were found for.
void set_planes(const TubePlanes& planes, std::span<const TrainingTask> tasks, Model& model);

// Fills norms, shared parts and angles of the tasks in the report, and |w_0|.
void report_planes(const PlaneProducts& products, TrainingReport& report);

// f at the observed mean of every bag.
std::vector<double> values_at_means(const TubeProblem& problem, const TubePlanes& planes, unsigned threads);

// A report per task with its name, size and bags, and the residuals f(mean) - y of its bags; `values` are f
// at the observed bag means of all tasks, one task after the other. Where bags are spread over ranks, nothing
// is said of single bags.
std::vector<TaskReport> report_bags(std::span<const TrainingTask> tasks,
                                    std::span<const ReducedBags* const> data, const TubeTerms& terms,
                                    std::span<const double> values, Communicator* spread = nullptr);

}  // namespace bagwise
