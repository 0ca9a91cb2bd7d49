// What can be said of a model from bags alone: bag by bag, by leaving bags out, and by drawing them anew.
//
// Of the target's bags: the predicted and the known share, with the interval that the rows' probabilities
// allow (poisson_binomial.h) and whether the bag fits, many looks allowed for (Holm 1979). The error of the
// proportions over these bags, which the model was fitted to, flatters; so the model's method is fitted again
// to all but one part of the bags, part by part, and what such fits say of the bags left out gives the honest
// error and the accuracy on single rows (bag_accuracy.h). The intervals of weights come from fits to bags
// drawn with replacement.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bagwise/core/observer.h"
#include "bagwise/core/random.h"
#include "bagwise/core/result.h"
#include "bagwise/evaluate/bag_accuracy.h"
#include "bagwise/evaluate/diagnosis_statistics.h"
#include "bagwise/evaluate/metrics.h"
#include "bagwise/methods/model.h"
#include "bagwise/methods/registry.h"

namespace bagwise {

// One bag as the model sees it.
struct BagFit {
  BagError shares;      // known, hard (scores > 0), soft (mean probability)
  Interval interval;    // of 95 %: the share of positives that the rows' probabilities allow
  double p_value = 1;   // of the known share, two-sided
  double adjusted = 1;  // the same after all looks (Holm)
  bool fits = true;     // adjusted > 0.05
};

// A number with an interval of 95 %.
struct Estimate {
  double value = 0;
  Interval interval;
};

struct WeightInterval {
  std::string feature;
  double weight = 0;      // on raw values
  Interval interval;      // of 95 %, over bootstraps
  double other_sign = 0;  // share of bootstraps whose weight has the other sign, or is 0
};

struct HeldOutDiagnosis {
  std::size_t folds = 0;
  Estimate proportion_error;            // mean |hard - known| over bags left out
  std::optional<BagAccuracy> accuracy;  // of single rows; none where bags do not tell
  double mean_confidence = 0;           // mean of max(q, 1 - q): what the probabilities themselves promise
};

constexpr std::size_t kMostWeights = 1000;
struct BootstrapDiagnosis {
  std::size_t draws = 0, failed = 0;    // asked for, and of them those that could not be fitted
  std::vector<WeightInterval> weights;  // by falling |weight|, kMostWeights at most
};

struct ModelDiagnosis {
  std::string method, task;
  std::vector<BagFit> bags;
  double known_share = 0, predicted_share = 0, mean_probability = 0;  // over all rows
  double held = 0;            // share of bags whose known share is within its interval
  Estimate proportion_error;  // on the bags the model was fitted to; bootstrap over bags, without refits
  std::optional<HeldOutDiagnosis> held_out;
  std::optional<BootstrapDiagnosis> bootstrap;
  std::vector<std::string> remarks;  // what could not be done, and why
};

struct ModelDiagnosisOptions {
  std::uint64_t seed = 1;
  unsigned threads = 0;     // never changes a result
  std::size_t folds = 10;   // of bags; 0: leave none out
  std::size_t draws = 200;  // bootstraps; 0: none
};

// Whether a model may have been fitted to so many tasks: it has a plane of each, or it keeps none of the
// sources that gave alter-psvm its start.
bool may_be_of(const Model& model, std::size_t tasks);

// Every task with its rows, sources in order, the target last, with the features of the model in its order.
// Errors: a score that is not a number, an observer that stops.
Result<ModelDiagnosis> diagnose_model(const Model& model, std::span<const TrainingTask> tasks,
                                      const ModelDiagnosisOptions& options = {},
                                      const Observer& observer = {});

// The bags of `data` as `scores` and the probabilities of them see them.
std::vector<BagFit> fit_by_bag(const BaggedData& data, std::span<const double> scores,
                               std::span<const double> probabilities);

// The mean of some numbers, with the interval of means over draws with replacement.
Estimate bootstrap_mean(std::span<const double> values, std::size_t draws, Rng& rng);

}  // namespace bagwise
