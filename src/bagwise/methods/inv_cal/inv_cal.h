// InvCal: regress the inverse-calibrated proportion of each bag on the bag's mean (Rueping 2010).
//
//   min over w, b of  1/2 |w|^2 + sum_k C_k max(0, |w.m_k + b - y_k| - eps_k)
//
// with m_k the mean of bag k, y_k = -log(1/p_k - 1) for its clipped proportion p_k. With a kernel, m_k is the
// mean of the images of its rows.
//
// Given   the sums per bag of one task (with a kernel: its rows), options.
// Returns a model with one plane or expansion; its report certifies primal, dual and gap of the problem
// above. See     Rueping (2010), SVM classifier estimation from group probabilities, ICML;
// docs/methods/inv-cal.md. Test    inv_cal_test.cpp evaluates the formulas from scratch.
#pragma once

#include <optional>
#include <vector>

#include "bagwise/core/options.h"
#include "bagwise/methods/calibration.h"
#include "bagwise/methods/kernel_model.h"
#include "bagwise/methods/registry.h"
#include "bagwise/methods/scaling.h"
#include "bagwise/solver/tube_problem.h"

namespace bagwise {

struct InvCalOptions {
  double C = 1;
  double epsilon = 0.1;
  Tube tube = Tube::kConstant;
  std::optional<double> clip = {};
  KernelKind kernel = KernelKind::kLinear;
  std::optional<double> gamma = {};
  int degree = 3;
  int nystrom = 0;
  double gap = 1e-6;
  Scale scale = Scale::kNone;
  BagWeight bag_weight = BagWeight::kNone;

  [[nodiscard]] KernelChoice kernel_choice() const { return {kernel, gamma, degree, nystrom}; }

  template <class Visitor>
  static void describe(Visitor&& visit) {
    using O = InvCalOptions;
    visit("C", &O::C, "cost of each bag's error beyond its tube", positive());
    visit("epsilon", &O::epsilon, "half-width of the tube in which errors cost nothing", non_negative());
    visit("tube", &O::tube, "constant: epsilon; calibrated: epsilon / (p (1 - p))", Rule{});
    visit("clip", &O::clip, "proportions are clipped to [clip, 1 - clip]; auto: 1/(2 size + 2) per bag",
          Rule{"> 0 and < 0.5", [](double v) { return v > 0 && v < 0.5; }});
    describe_kernel<O>(visit);
    visit("gap", &O::gap, "stop at this relative duality gap",
          Rule{">= 1e-12 and < 1", [](double v) { return v >= 1e-12 && v < 1; }});
    visit("scale", &O::scale, "scaling of the features, fitted on the training rows", Rule{});
    visit("bag-weight", &O::bag_weight, "none: bags count alike; size: cost times size over mean size",
          Rule{});
  }
};

// The rows, targets, tubes and costs of the problem; the rows of `means`, the (scaled) bag means, must
// outlive it.
TubeProblem inverse_calibration_problem(const ReducedBags& data, const RowsView& means,
                                        const InvCalOptions& options, Communicator* spread = nullptr);

Result<Fit> fit_inv_cal(const TrainingTask& target, const InvCalOptions& options, const Context& context);

// Its scores of the very rows it is fitted to: what methods that label rows start from.
Result<std::vector<double>> inv_cal_scores(const BaggedData& data, const InvCalOptions& options,
                                           const Context& context);

// Its entry in the registry.
Method inv_cal_method();

}  // namespace bagwise
