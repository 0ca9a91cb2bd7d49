// TL-LLP: large-margin learning from label proportions with transfer from source tasks, under uncertain
// inputs.
//
//   min  1/2 |w_0|^2 + sum_t lambda_t/2 |v_t|^2 + sum_t sum_k C_tk (xi_tk + xi*_tk)
//   over w_0, v_t, b_t, xi >= 0, and every dx_tj with |dx_tj| <= delta_tj
//   s.t. w_t.m_tk(dx) + b_t - y_tk <= eps_tk + xi_tk,   y_tk - w_t.m_tk(dx) - b_t <= eps_tk + xi*_tk
//
// with w_t = w_0 + v_t the plane of task t, m_tk(dx) the mean of bag k's rows x_tj + dx_tj, and y_tk the
// inverse-calibrated proportion. Small lambda_t: task t goes its own way; large: it stays at the common w_0.
//
// Given   the sums per bag of all tasks (`literal` and kernels: their rows), options.
// Returns a model with a plane per task; its report has F of every round, the certificate of the last convex
//         problem, and per bag the residual and the shift.
// See     docs/methods/tl-llp.md for the derivation and for where this differs from the published algorithm.
// Test    tl_llp_test.cpp evaluates the formulas from scratch and checks the limits in lambda.
#pragma once

#include <optional>
#include <vector>

#include "bagwise/core/options.h"
#include "bagwise/methods/calibration.h"
#include "bagwise/methods/kernel_model.h"
#include "bagwise/methods/registry.h"
#include "bagwise/methods/scaling.h"
#include "bagwise/methods/tl_llp/uncertain_tube.h"

namespace bagwise {

enum class Uncertainty { kExact, kLiteral, kOff };
inline std::vector<std::pair<std::string_view, Uncertainty>> names(Uncertainty) {
  return {{"exact", Uncertainty::kExact}, {"literal", Uncertainty::kLiteral}, {"off", Uncertainty::kOff}};
}

inline constexpr double kDefaultDelta = 0.01;

struct TlLlpOptions {
  double C = 1;
  std::vector<double> C_source = {0.25};
  double lambda = 1;
  std::vector<double> lambda_source = {10};
  double epsilon = 0.1;
  Tube tube = Tube::kConstant;
  std::optional<double> clip = {};
  std::optional<double> delta = {};
  Uncertainty uncertainty = Uncertainty::kExact;
  KernelKind kernel = KernelKind::kLinear;
  std::optional<double> gamma = {};
  int degree = 3;
  int nystrom = 0;
  double gap = 1e-6;
  int max_rounds = 20;
  double tolerance = 1e-3;
  Scale scale = Scale::kNone;
  BagWeight bag_weight = BagWeight::kNone;

  [[nodiscard]] KernelChoice kernel_choice() const { return {kernel, gamma, degree, nystrom}; }

  template <class Visitor>
  static void describe(Visitor&& visit) {
    using O = TlLlpOptions;
    visit("C", &O::C, "cost of each target bag's error beyond its tube", positive());
    visit("C-source", &O::C_source, "the same for the sources: once for all, or once per source", positive());
    visit("lambda", &O::lambda, "what keeps the target at the common plane; small: it goes its own way",
          positive());
    visit("lambda-source", &O::lambda_source, "the same for the sources: once for all, or once per source",
          positive());
    visit("epsilon", &O::epsilon, "half-width of the tube in which errors cost nothing", non_negative());
    visit("tube", &O::tube, "constant: epsilon; calibrated: epsilon / (p (1 - p))", Rule{});
    visit("clip", &O::clip, "proportions are clipped to [clip, 1 - clip]; auto: 1/(2 size + 2) per bag",
          Rule{"> 0 and < 0.5", [](double v) { return v > 0 && v < 0.5; }});
    visit("delta", &O::delta,
          "how far a row may be from its true place, in raw units; auto: the table's delta column, or 0.01",
          non_negative());
    visit("uncertainty", &O::uncertainty,
          "exact: descend on the problem with uncertain rows; literal: the published alternation; off: rows "
          "are "
          "exact",
          Rule{});
    describe_kernel<O>(visit);
    visit("gap", &O::gap, "stop a convex solve at this relative duality gap",
          Rule{">= 1e-12 and < 1", [](double v) { return v >= 1e-12 && v < 1; }});
    visit("max-rounds", &O::max_rounds, "at most this many rounds of solving and moving",
          Rule{">= 1", [](double v) { return v >= 1; }});
    visit("tolerance", &O::tolerance, "stop when a round changes the objective by no more than this share",
          non_negative());
    visit("scale", &O::scale, "scaling of the features, fitted on the training rows of all tasks", Rule{});
    visit("bag-weight", &O::bag_weight, "none: bags count alike; size: cost times size over mean size",
          Rule{});
  }
};

// The regression of all tasks' bags, and how far each bag's mean may be from its true place. `means` are the
// (scaled) means of the bags of all tasks, one task after the other, and must outlive it.
UncertainTube tl_llp_problem(std::span<const ReducedBags* const> tasks, const RowsView& means,
                             const Scaling& scaling, const TlLlpOptions& options,
                             Communicator* spread = nullptr);

// Tasks: sources in order, the target last.
Result<Fit> fit_tl_llp(std::span<const TrainingTask> tasks, const TlLlpOptions& options,
                       const Context& context);

// Its entry in the registry.
Method tl_llp_method();

}  // namespace bagwise
