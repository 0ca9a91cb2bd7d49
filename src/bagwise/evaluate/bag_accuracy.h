// How often labels given to single rows are right, when only the bags' numbers of positives are known.
//
// Bag k has n_k positives and m_k negatives, of which the model (fitted without this bag) calls c_k positive.
// With a the share of positives called positive and b that of negatives, the same in every bag,
//
//   c_k ~ Binomial(n_k, a) + Binomial(m_k, b)              log-likelihood l(a, b) = sum_k log P(c_k)
//   accuracy  A = pi a + (1 - pi) (1 - b)
//
// The estimate is A of the largest likelihood; the interval holds the A with
//
//   2 (l - max of l where the accuracy is A) <= dispersion t^2
//
// t Student's quantile for bags - 2 degrees of freedom, dispersion how much further the counts lie from their
// mean than the model says (Pearson's statistic over its degrees of freedom, at least 1).
//
// What it rests on: rows of a class are called positive alike in all bags. It fails where bags differ in
// more than their proportion; then the dispersion rises and with it the interval, but not without bound.
// Exact for bags of up to 64 rows; larger ones by the normal distribution of the same mean and variance.
// Test  bag_accuracy_test.cpp: a twin by brute force, bags of one, coverage on made counts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "bagwise/evaluate/diagnosis_statistics.h"

namespace bagwise {

struct CountedBag {
  std::uint64_t rows = 0;
  double positives = 0;         // known; rounded to a whole number
  std::uint64_t predicted = 0;  // called positive
};

struct BagAccuracy {
  double accuracy = 0;
  Interval interval;
  double sensitivity = 0;      // a: share of positives called positive
  double false_positives = 0;  // b: share of negatives called positive
  double dispersion = 1;
};

double log_likelihood(std::span<const CountedBag> bags, double sensitivity, double false_positives);

// Nothing where there is nothing to go by: fewer than three bags, or all of one proportion.
std::optional<BagAccuracy> estimate_bag_accuracy(std::span<const CountedBag> bags, double confidence = 0.95);

}  // namespace bagwise
