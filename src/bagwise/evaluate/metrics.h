// How good predictions are: against held-back labels, or against known bag proportions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bagwise {

// Against labels (+1 / -1; rows labelled 0 are passed over). A score > 0 predicts positive. Where a number is
// not defined (one class only; F1: neither a positive nor one predicted), it is absent.
struct LabelMetrics {
  std::uint64_t rows = 0, positives = 0;
  double accuracy = 0;
  std::optional<double> balanced_accuracy, f1, auc;
  double log_loss = 0, brier = 0;  // log loss with probabilities kept 1e-15 from 0 and 1
  double calibration_error = 0;    // expected calibration error over ten equal-width bins of probability
};
LabelMetrics label_metrics(std::span<const double> scores, std::span<const double> probabilities,
                           std::span<const std::int8_t> labels);

// Against the shares of positives known per bag.
struct BagError {
  std::string bag;
  std::uint64_t rows = 0;
  double known = 0, hard = 0, soft = 0;  // share known, share of scores > 0, mean probability
};
struct ProportionMetrics {
  std::vector<BagError> bags;
  double mean_error = 0;       // mean over bags of |hard - known|
  double mean_soft_error = 0;  // mean over bags of |soft - known|
  double miscount = 0;         // sum over bags of rows * |hard - known|
};
ProportionMetrics proportion_metrics(std::vector<BagError> bags);

// The shares of rows in any order, bags numbered as `known` has them, without names. Where there are no
// `probabilities` soft is 0; in a bag without rows both shares are.
std::vector<BagError> bag_errors(std::span<const double> scores, std::span<const double> probabilities,
                                 std::span<const std::uint32_t> bag_of_row, std::span<const double> known);

}  // namespace bagwise
