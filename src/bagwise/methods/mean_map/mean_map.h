// MeanMap: logistic regression in which bags, instead of labels, give the mean operator (Quadrianto et al.
// 2009).
//
//   [mu_+, mu_-] = argmin sum_k |B_k| |m_k - p_k mu_+ - (1 - p_k) mu_-|^2         class means, by least
//   squares mu = pi mu_+ - (1 - pi) mu_-,  pi the share of positives over all rows        mean operator min
//   over w of  sum_j log(exp(w.x_j) + exp(-w.x_j)) - N w.mu + lambda/2 |w|^2
//
// with m_k the mean of bag k and p_k its proportion; x has a constant 1 appended for the bias, regularised
// like the rest. Convex and smooth.
//
// Given   the rows of one task and their bags, options.
// Returns a model with one plane; its report certifies objective and lower bound of the last problem.
// See     Quadrianto, Smola, Caetano, Le (2009), Estimating labels from label proportions, JMLR 10;
//         docs/methods/mean-map.md. The solver is solver/log_cosh.h.
// Test    mean_map_test.cpp evaluates the formulas from scratch.
#pragma once

#include <cstdint>
#include <span>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/core/options.h"
#include "bagwise/methods/registry.h"
#include "bagwise/methods/scaling.h"

namespace bagwise {

struct MeanMapOptions {
  double lambda = 1;
  double tolerance = 1e-8;
  Scale scale = Scale::kNone;

  template <class Visitor>
  static void describe(Visitor&& visit) {
    using O = MeanMapOptions;
    visit("lambda", &O::lambda, "weight of |w|^2/2 against the likelihood of all rows", positive());
    visit("tolerance", &O::tolerance,
          "stop at this gradient norm relative to that at w = 0, and at this relative gap",
          Rule{">= 1e-12 and < 1", [](double v) { return v >= 1e-12 && v < 1; }});
    visit("scale", &O::scale, "scaling of the features, fitted on the training rows", Rule{});
  }
};

// The class means, by what least squares finds of them: with weights |B_k| it is a straight line through the
// bags, from mu_- at p = 0 by the mean of all rows at p = pi to mu_+ at p = 1.
struct ClassMeans {
  std::uint64_t rows = 0;
  double share = 0;  // pi
  double deviation =
      0;  // of the bags' proportions about it, over rows; 0: the class means are not determined
  double condition = 0;  // of the least-squares problem
  Vector mean;           // of all rows
  Vector difference;     // mu_+ - mu_-

  [[nodiscard]] Vector positive() const { return mean + (1 - share) * difference; }
  [[nodiscard]] Vector negative() const { return mean - share * difference; }
};
ClassMeans class_means(const BagSums& sums, std::span<const double> proportions);

// N mu of the rows as scaled, with the constant's entry last.
Vector mean_operator_sum(const ClassMeans& means, const Scaling& scaling);

Result<Fit> fit_mean_map(const TrainingTask& target, const MeanMapOptions& options, const Context& context);

// Its entry in the registry.
Method mean_map_method();

}  // namespace bagwise
