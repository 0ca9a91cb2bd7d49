// Probabilities of any method, refitted where only the shares of bags are known.
//
// A method's own sigmoid takes its score for log-odds; how far that holds depends on costs, on the loss and
// on the size of bags. This fits slope and offset to the likelihood of the bags (bag_sigmoid.h) instead.
#pragma once

#include <cstdint>
#include <span>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/methods/bag_sigmoid.h"
#include "bagwise/methods/registry.h"

namespace bagwise {

// The sigmoid of bag_sigmoid.h for rows in any order: of training rows, or better of held-out ones.
Probability fit_bag_sigmoid(std::span<const double> scores, std::span<const std::uint32_t> bag_of_row,
                            const Bags& bags);

// Refits the probability of every task of the model on that task's rows; a task without rows keeps its own.
// Tasks are those the model was fitted to, in their order; the model may have kept the last of them only.
void recalibrate(Model& model, std::span<const TrainingTask> tasks, unsigned threads = 0);

}  // namespace bagwise
