// How well a score tells the classes apart, seen from bags alone, and scores simple enough to ask it of.
//
// For a score u of rows and the (unknown) class, the line through the bags' mean scores has the slope
// E[u | +] - E[u | -]; with V the variance of u over rows,
//
//   r = slope sqrt(pi (1 - pi) / V)
//
// is the correlation of score and class: 0 the score says nothing, 1 it is the class. Its standard error is
// that of a correlation seen on as many labelled rows as the bags are worth (effective_size in
// diagnosis_task.h), sqrt((1 - r^2) / rows), and larger where bags lie further off the line than their sizes
// explain.
// Test  diagnosis_signal_test.cpp: bags of one give the plain correlation; coverage on made data.
#pragma once

#include <cstdint>
#include <span>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/bags/feature_moments.h"
#include "bagwise/core/random.h"
#include "bagwise/evaluate/diagnosis_statistics.h"

namespace bagwise {

struct ClassSignal {
  double correlation = 0;
  double error = 1;          // standard error
  Interval interval{-1, 1};  // of 95 %
};
// 0 with the widest interval where the proportions are all alike or there are fewer than three bags.
ClassSignal class_signal(std::span<const double> scores, std::span<const std::uint32_t> bag_of_row,
                         std::span<const double> proportions);

// The direction from the mean of the negatives to that of the positives, each feature in its unit:
// unit_j^2 (mu_+ - mu_-)_j. Not defined (no values) where the proportions are all alike.
Vector class_direction(const ReducedBags& data, std::span<const double> units);

// The units that bring features together: 1, or 1/deviation where the scales are unlike.
std::vector<double> feature_units(const FeatureMoments& moments);

// Of the class direction of one part of the bags on the rest, over `folds` parts: what there is to learn,
// without flattery. The scores of each part have mean 0 and variance 1 over its rows' task.
ClassSignal held_out_signal(const BaggedData& data, const ReducedBags& reduced, std::span<const double> units,
                            std::size_t folds, Rng& rng, unsigned threads = 0);

}  // namespace bagwise
