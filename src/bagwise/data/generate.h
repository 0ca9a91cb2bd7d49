// Built-in source/target data with a known truth, the same bits for the same seed on every machine.
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

Result<GeneratedData> generate(const GeneratorOptions& options);

}  // namespace bagwise
