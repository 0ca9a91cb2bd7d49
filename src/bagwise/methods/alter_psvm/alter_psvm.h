// alter-pSVM: labels and a large-margin plane found together, by turns (Yu et al. 2013).
//
//   min over y, w, b of  1/2 |w|^2 + C sum_j max(0, 1 - y_j (w.x_j + b))
//                        + C_p sum_k |B_k| max(0, |share_k(y) - p_k| - eps)
//
// with share_k(y) the share of bag k's rows labelled +1. Not convex: the alternation of alternation.h runs
// from several starts, the lowest objective wins, and its labels are reheated (C lowered and raised again).
//
// Given   the rows of the target in bags, and of sources for a start from TL-LLP's labels; options.
// Returns a model with one plane or expansion, the target's; its report certifies the last support vector
//         machine, and lists the starts. Probabilities: bag_sigmoid.h.
// See     Yu, Liu, Kumar, Jebara, Chang (2013), proportion-SVM for learning with label proportions, ICML;
//         docs/methods/alter-psvm.md. Test alter_psvm_test.cpp.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bagwise/core/options.h"
#include "bagwise/methods/kernel_model.h"
#include "bagwise/methods/registry.h"
#include "bagwise/methods/scaling.h"

namespace bagwise {

enum class Init { kRandom, kInvCal, kTlLlp, kBoth };
inline std::vector<std::pair<std::string_view, Init>> names(Init) {
  return {
      {"random", Init::kRandom}, {"inv-cal", Init::kInvCal}, {"tl-llp", Init::kTlLlp}, {"both", Init::kBoth}};
}

struct AlterPsvmOptions {
  double C = 0.1;
  double C_p = 1;
  double epsilon = 0;
  Init init = Init::kBoth;
  int restarts = 10;
  bool reheat = true;
  KernelKind kernel = KernelKind::kLinear;
  std::optional<double> gamma = {};
  int degree = 3;
  int nystrom = 0;
  double cache = 1000;
  double gap = 1e-6;
  int max_rounds = 1000;
  Scale scale = Scale::kNone;

  [[nodiscard]] KernelChoice kernel_choice() const { return {kernel, gamma, degree, nystrom}; }

  template <class Visitor>
  static void describe(Visitor&& visit) {
    using O = AlterPsvmOptions;
    visit("C", &O::C, "cost of each row's hinge loss", positive());
    visit("C-p", &O::C_p, "cost of each row that a bag's labels are off its proportion", positive());
    visit("epsilon", &O::epsilon, "by how much a bag's share of labels may be off at no cost",
          Rule{">= 0 and < 1", [](double v) { return v >= 0 && v < 1; }});
    visit("init", &O::init,
          "labels to start from: random, inv-cal's, tl-llp's; both: random, and tl-llp's if there are "
          "sources, else inv-cal's",
          Rule{});
    visit("restarts", &O::restarts, "how many random starts; the lowest objective wins",
          Rule{"from 1 to 100000", [](double v) { return v >= 1 && v <= 100000; }});
    visit("reheat", &O::reheat,
          "lower C again from the best labels and raise it while that lowers the objective", Rule{});
    describe_kernel<O>(visit);
    visit("cache", &O::cache, "megabytes of the kernel rbf or poly to keep in memory", positive());
    visit("gap", &O::gap, "relative duality gap of the support vector machines",
          Rule{">= 1e-12 and < 1", [](double v) { return v >= 1e-12 && v < 1; }});
    visit("max-rounds", &O::max_rounds, "most rounds at the last C",
          Rule{">= 1", [](double v) { return v >= 1; }});
    visit("scale", &O::scale, "scaling of the features, fitted on the training rows of all tasks", Rule{});
  }
};

// Tasks: sources in order, the target last. Sources where no start uses them are an error.
Result<Fit> fit_alter_psvm(std::span<const TrainingTask> tasks, const AlterPsvmOptions& options,
                           const Context& context);

// Its entry in the registry.
Method alter_psvm_method();

}  // namespace bagwise
