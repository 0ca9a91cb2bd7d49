#include "bagwise/evaluate/bag_criteria.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "bagwise/linalg/compensated.h"
#include "bagwise/methods/bag_sigmoid.h"
#include "bagwise/methods/calibration.h"

namespace bagwise {
namespace {

// p log(p / q), 0 for p = 0.
double divergence_term(double p, double q) { return p > 0 ? p * std::log(p / q) : 0; }

double share_of_positives(std::span<const double> scores) {
  const auto positives = std::count_if(scores.begin(), scores.end(), [](double f) { return f > 0; });
  return static_cast<double>(positives) / static_cast<double>(scores.size());
}

double mean_probability(std::span<const double> scores, const Probability& probability) {
  CompensatedSum sum;
  for (const double f : scores) sum.add(probability.of(f));
  return sum.value() / static_cast<double>(scores.size());
}

}  // namespace

double bag_trust(double proportion, std::size_t size, double noise) {
  if (noise == 0) return 1;
  const double p = clipped_proportion(proportion, size, {});
  const double own = p * (1 - p) / static_cast<double>(size);
  return own / (own + noise * noise);
}

double criterion_value(Criterion criterion, std::span<const double> scores, const Probability& probability,
                       std::span<const std::size_t> bag_start, const Bags& bags) {
  assert(bag_start.size() == bags.size() + 1 && bag_start.back() == scores.size());
  const Probability refitted = criterion == Criterion::kLikelihood
                                   ? fit_bag_sigmoid(scores, bag_start, bags.proportions)
                                   : probability;
  constexpr double kLeast = 1e-12;  // of a probability whose logarithm is taken
  CompensatedSum total;
  for (std::size_t k = 0; k < bags.size(); ++k) {
    const auto f = scores.subspan(bag_start[k], bag_start[k + 1] - bag_start[k]);
    if (f.empty()) continue;
    const double p = bags.proportions[k];
    double off = 0;
    switch (criterion) {
      case Criterion::kMiscount:
        off = std::abs(share_of_positives(f) - p);
        break;
      case Criterion::kSoftError:
        off = std::abs(mean_probability(f, refitted) - p);
        break;
      case Criterion::kLikelihood: {
        const double q = std::clamp(mean_probability(f, refitted), kLeast, 1 - kLeast);
        off = divergence_term(p, q) + divergence_term(1 - p, 1 - q);
        break;
      }
    }
    total.add(bag_trust(p, f.size(), bags.noise_of(k)) * static_cast<double>(f.size()) * off);
  }
  return total.value();
}

}  // namespace bagwise
