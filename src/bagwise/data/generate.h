// Built-in source/target data with a known truth, the same bits for the same seed on every machine.
//
// Half of the rows of each part are positive (exactly; one fewer than the negatives if rows are odd in
// number), in random order. Values are rounded to 1e-6, so that the files stay small.
//
// gaussian: two normal classes of one covariance S, whose axes have standard deviations 1/(1 + i/20) and are
//   mirrored, so that features are correlated and the first directions matter most. The true plane of a task
//   is S^-1 (mean of positives - mean of negatives); the two tasks' planes have exactly the angle asked for.
//   The means lie about one standard deviation off the origin, so the bias is not 0. The best accuracy is
//   exact: Phi of half the Mahalanobis distance of the means. Dense rows, features x1, x2, ...
// documents: a two-level topic hierarchy. The positives of source and target are two sub-categories of one
//   top category; the negatives of both come from four other top categories of two sub-categories each. Word
//   counts are Poisson, about 40 words a document, Zipf's law times how much the word belongs to the topic.
//   The vocabulary is the `features` most frequent words w1, w2, ... (rarer words would be the same in every
//   topic and are left out). Features are log(1+tf) * idf, rows of length 1, sparse. The true plane of a task
//   is its log-odds per unit of tf * idf, averaged over the negatives' sub-categories; the angle is exact.
//   How far topics differ is set by a search so that the best accuracy is the asked one; what it came to is
//   estimated with the true likelihood of the counts on fresh documents (the standard error says how well).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bagwise/core/result.h"
#include "bagwise/data/dataset.h"

namespace bagwise {

enum class GeneratorKind { kDocuments, kGaussian };
inline std::vector<std::pair<std::string_view, GeneratorKind>> names(GeneratorKind) {
  return {{"documents", GeneratorKind::kDocuments}, {"gaussian", GeneratorKind::kGaussian}};
}
enum class GeneratorPreset { kRelated, kUnrelated };
inline std::vector<std::pair<std::string_view, GeneratorPreset>> names(GeneratorPreset) {
  return {{"related", GeneratorPreset::kRelated}, {"unrelated", GeneratorPreset::kUnrelated}};
}

struct GeneratorOptions {
  GeneratorKind kind = GeneratorKind::kGaussian;
  std::uint64_t source_rows = 2000, target_rows = 800, test_rows = 20000;
  std::uint64_t features = 200;
  double best_accuracy = 0.90;  // of the best possible classifier of either task
  double angle_degrees = 20;    // between the true planes of source and target
  std::uint64_t seed = 1;
};

// related: 20 degrees; unrelated: 90. Everything else as GeneratorOptions has it.
GeneratorOptions generator_preset(GeneratorKind kind, GeneratorPreset preset, std::uint64_t seed);

struct GeneratedData {
  Dataset source, target, test;   // labelled, no bags; test is of the target task
  double best_accuracy = 0;       // of the best possible classifier on the target task
  std::string best_accuracy_how;  // "exact" or "estimated from N documents, standard error E"
  double angle_degrees = 0;       // between the true planes, measured
};

// What generate() makes at most: it holds all rows in memory.
constexpr std::uint64_t kMostGeneratedFeatures = 100'000, kMostGeneratedRows = 100'000'000;

// Errors: an option out of range (rows not in [1, kMostGeneratedRows], features not in [2,
// kMostGeneratedFeatures], best_accuracy not in (0.5, 1), angle not in [0, 180]).
Result<void> check(const GeneratorOptions& options);

// Errors: those of check(), or a best accuracy that documents cannot reach.
Result<GeneratedData> generate(const GeneratorOptions& options);

}  // namespace bagwise
