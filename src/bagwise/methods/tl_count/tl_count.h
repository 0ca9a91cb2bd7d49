// tl-count: planes that make each bag's number of positives likely, with transfer from source tasks.
//
//   min  1/2 |w_0|^2 + sum_t lambda_t/2 |v_t|^2 + sum_t C_t sum_k nll_tk
//   over w_0, v_t, b_t;  q_j = 1/(1 + exp(-f_t(x_j))),  f_t(x) = (w_0 + v_t).x + b_t
//
// with nll_tk minus the logarithm of the probability that bag k of task t has as many positives as it has if
// each row is positive with probability q_j (solver/bag_count.h). The planes are those of TL-LLP; the loss
// looks at single rows, so that rows which cannot be told from bag means alone, as clusters, tell something.
//
// Given   the rows of all tasks in bags, options.
// Returns a model with a plane per task whose scores are log-odds; its report has the objective of every
//         step. Not convex: the answer is a stationary point, found from TL-LLP's planes.
// See     docs/methods/tl-count.md; docs/design/tl-count.md for how good it is, and why.
// Test    tl_count_test.cpp.
#pragma once

#include <cstddef>
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

enum class CountStart { kAnneal, kTlLlp };
inline std::vector<std::pair<std::string_view, CountStart>> names(CountStart) {
  return {{"anneal", CountStart::kAnneal}, {"tl-llp", CountStart::kTlLlp}};
}

struct TlCountOptions {
  double C = 1;
  std::vector<double> C_source = {};  // empty: a share of C
  double lambda = 1;
  std::vector<double> lambda_source = {};  // empty: a multiple of lambda
  int exact_up_to = 64;
  CountStart init = CountStart::kAnneal;
  KernelKind kernel = KernelKind::kLinear;
  std::optional<double> gamma = {};
  int degree = 3;
  int nystrom = 0;
  double tolerance = 1e-6;
  int max_steps = 500;
  Scale scale = Scale::kNone;

  static constexpr double kSourceCost = 0.3, kSourceLambda = 10;
  [[nodiscard]] std::vector<double> costs_of_sources() const {
    return C_source.empty() ? std::vector{kSourceCost * C} : C_source;
  }
  [[nodiscard]] std::vector<double> lambdas_of_sources() const {
    return lambda_source.empty() ? std::vector{kSourceLambda * lambda} : lambda_source;
  }
  [[nodiscard]] KernelChoice kernel_choice() const { return {kernel, gamma, degree, nystrom}; }

  template <class Visitor>
  static void describe(Visitor&& visit) {
    using O = TlCountOptions;
    visit("C", &O::C, "weight of each target bag's log-likelihood", positive());
    visit("C-source", &O::C_source,
          "the same for the sources: once for all, or once per source; auto: three tenths of C", positive());
    visit("lambda", &O::lambda, "what keeps the target at the common plane; small: it goes its own way",
          positive());
    visit("lambda-source", &O::lambda_source,
          "the same for the sources: once for all, or once per source; auto: ten times lambda", positive());
    // Sums over all counts keep rows^2 numbers: 134 MB at most.
    visit("exact-up-to", &O::exact_up_to,
          "bags of up to this many rows have their exact likelihood, larger ones its normal form",
          Rule{"from 0 to 4096", [](double v) { return v >= 0 && v <= 4096; }});
    visit("init", &O::init,
          "anneal: all costs small at first, then fourfold at a time; tl-llp: at once from TL-LLP's planes",
          Rule{});
    describe_kernel<O>(visit);
    visit("tolerance", &O::tolerance,
          "stop when a step is expected to gain no more log-likelihood per bag than this", positive());
    visit("max-steps", &O::max_steps, "at most this many steps", non_negative());
    visit("scale", &O::scale, "scaling of the features, fitted on the training rows of all tasks", Rule{});
  }
};

// Tasks: sources in order, the target last.
Result<Fit> fit_tl_count(std::span<const TrainingTask> tasks, const TlCountOptions& options,
                         const Context& context);

// Its entry in the registry.
Method tl_count_method();

}  // namespace bagwise
