// The alternation of alter-pSVM from one start: labels fixed, a support vector machine; plane fixed, labels.
//
//   F(y, w, b) = 1/2 |w|^2 + C sum_j max(0, 1 - y_j f_j) + C_p sum_k |B_k| max(0, |share_k(y) - p_k| - eps)
//
// Both steps are exact (the machine to its gap), so F never rises while C stays; C itself rises from 1e-5 of
// its value by factors of 1.5, so that early labels are not taken too seriously.
//
// Test    alternation_test.cpp: every labeling of small bags, F from scratch after every step.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "bagwise/core/watched.h"
#include "bagwise/methods/bag_labels.h"
#include "bagwise/solver/svm.h"

namespace bagwise::alter_psvm {

// The problem but for its rows, which stand by bag: those of bag k are [bag_start[k], bag_start[k + 1]).
struct Problem {
  std::span<const std::size_t> bag_start;
  std::span<const double> proportions;  // p_k
  double C = 1, C_p = 1, epsilon = 0;

  [[nodiscard]] std::size_t bags() const { return proportions.size(); }
  // C_p |B_k| max(0, |m/|B_k| - p_k| - eps): what m positives cost bag k.
  [[nodiscard]] double share_cost(std::size_t bag, std::size_t positives) const;
};

// F without 1/2 |w|^2, with `cost` for C, at the values f_j of every row.
double loss(const Problem& problem, double cost, std::span<const double> values, const Labels& labels);

// The labels of least loss; returns it.
double best_labels(const Problem& problem, double cost, std::span<const double> values, Labels& labels);

struct Schedule {
  double gap = 1e-6;        // of the machines at the end
  double tolerance = 1e-4;  // while C rises: a round that lowers F by less, relatively, is the last at its C
  int max_rounds = 1000;    // at the last C
};

enum class End { kConverged, kRoundLimit, kStopped, kNumericalFault };

struct Answer {
  Labels labels;
  SvmSolution machine;
  double objective = 0;         // F
  std::vector<double> history;  // F after every round at the last C (then every reheating); never rises
  std::vector<int> steps;       // of the machine of each
  int machines = 0;             // solved in all
  End end = End::kConverged;
};

// Where a run begins.
struct Start {
  Labels labels;
  double share = 1e-5;       // of C, from which it rises
  SvmSolution machine = {};  // a solution of any labels and cost to start the machines from
};

// How many values of C there are from 1e-5 C to C.
inline constexpr std::size_t kCosts = 30;

// Ends where neither step changes anything: the labels are the best for the plane, the plane for the labels.
// A stop leaves labels and plane of that moment. Every value of C is one of watched.steps.
Answer alternate(const Problem& problem, Svm& machine, Start start, const Schedule& schedule,
                 Watched& watched);

}  // namespace bagwise::alter_psvm
