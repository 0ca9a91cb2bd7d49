// conv-pSVM: the convex relaxation of proportion-SVM, by cutting planes (Yu et al. 2013).
//
//   min over M of  max over 0 <= alpha_j <= C of  sum_j alpha_j - 1/2 sum_ij alpha_i alpha_j k(x_i, x_j) M_ij
//   M in the convex hull of { y y' : y feasible }
//
// y is feasible if the number of positives of every bag has a share within epsilon of its proportion, or is
// the nearest number where none has. There is no bias.
//
// Rounds: the master problem over the labelings found so far (solver/simplex_kernel.h), then a new labeling
// that it violates (labeling_cut.h). The master's value never rises with the rounds, is never above the SVM
// value of any labeling it has, and never below the relaxation's.
// Classifier: f(x) = sum_j alpha_j v_j k(x_j, x), v the first eigenvector of sum_s mu_s y_s y_s', of squared
// length N, with the sign that fits the bags' proportions better.
//
// Given   the rows of one task in bags, options.
// Returns a model with one plane or expansion; its report certifies the last master.
// See     Yu, Liu, Kumar, Jebara, Chang (2013), ICML; docs/methods/conv-psvm.md.
// Test    conv_psvm_test.cpp, against the relaxation over all labelings of tiny bags.
#pragma once

#include <optional>
#include <vector>

#include "bagwise/core/options.h"
#include "bagwise/methods/bag_labels.h"
#include "bagwise/methods/conv_psvm/labeling_cut.h"
#include "bagwise/methods/kernel_model.h"
#include "bagwise/methods/registry.h"
#include "bagwise/methods/scaling.h"
#include "bagwise/solver/simplex_kernel.h"

namespace bagwise {

struct ConvPsvmOptions {
  double C = 1;
  double epsilon = 0.1;
  KernelKind kernel = KernelKind::kLinear;
  std::optional<double> gamma = {};
  int degree = 3;
  int nystrom = 0;
  double gap = 1e-6;
  double tolerance = 1e-2;
  int max_rounds = 100;
  Scale scale = Scale::kNone;

  [[nodiscard]] KernelChoice kernel_choice() const { return {kernel, gamma, degree, nystrom}; }

  template <class Visitor>
  static void describe(Visitor&& visit) {
    using O = ConvPsvmOptions;
    visit("C", &O::C, "cost of each row's hinge loss", positive());
    visit("epsilon", &O::epsilon, "how far the share of a bag's labels may be from its proportion",
          Rule{">= 0 and < 1", [](double v) { return v >= 0 && v < 1; }});
    describe_kernel<O>(visit);
    visit("gap", &O::gap, "stop each master problem at this relative duality gap",
          Rule{">= 1e-10 and < 1", [](double v) { return v >= 1e-10 && v < 1; }});
    visit("tolerance", &O::tolerance,
          "stop when a labeling is violated by, or lowered the value by, at most this share",
          Rule{">= 0 and < 1", [](double v) { return v >= 0 && v < 1; }});
    visit("max-rounds", &O::max_rounds, "stop after this many rounds, each with one more labeling",
          Rule{">= 1", [](double v) { return v >= 1; }});
    visit("scale", &O::scale, "scaling of the features, fitted on the training rows", Rule{});
  }
};

// The rounds, over rows of an explicit map.
enum class CutsEnd { kConverged, kRoundLimit, kIterationLimit, kStopped, kNumericalFault };
struct Cuts {
  std::vector<Labels> labels;    // y_s
  SimplexKernelSolution master;  // over all of them
  std::vector<double> history;   // the master's value after each round
  std::vector<int> steps;        // of each master
  double violation = 0;          // of the last labeling found: |w_y|^2 / max_s |w_s|^2 - 1
  CutsEnd end = CutsEnd::kRoundLimit;
};
// From the labelings `first`, at least one; candidates are taken along the first `coordinates` columns of the
// rows.
Cuts cutting_planes(const RowsView& rows, std::size_t coordinates, const FeasibleLabels& feasible,
                    std::vector<Labels> first, const ConvPsvmOptions& options, const Context& context);

// v: the first eigenvector of sum_s mu_s y_s y_s', of squared length N, not against y_1.
Vector common_labels(const std::vector<Labels>& labels, std::span<const double> mu);

// Whether the scores' opposite fits the bags' proportions better:
// sum_k |B_k| |share of f > 0 - p_k|, where equal the same with squares, where equal no.
bool opposite_fits_better(const Vector& scores, std::span<const std::size_t> bag_start,
                          std::span<const double> proportions);

Result<Fit> fit_conv_psvm(const TrainingTask& target, const ConvPsvmOptions& options, const Context& context);

// Its entry in the registry.
Method conv_psvm_method();

}  // namespace bagwise
