// Experiment files: what an experiment runs, as JSON. docs/guide/experiments.md has every key.
//
//   {"name": "quick", "title": "...",
//    "data": [{"name": "a", "kind": "documents", "preset": "related"},
//             {"name": "b", "pair": 1}, {"name": "c", "target": "t.csv", "source": "s.csv"}],
//    "methods": [{"name": "tl-llp"}, {"name": "tl-llp-pca", "method": "tl-llp", "set": {"metric": "pca"}}],
//    "bag_sizes": [2, 8], "noise": [0, 0.32], "folds": 5, "seed": 1,
//    "selection": {"combine": "best", "search": "halving"},
//    "published": {"cite": "...", "file": "published.csv"}}
#pragma once

#include <string>
#include <string_view>

#include "bagwise/core/result.h"
#include "bagwise/evaluate/experiment_plan.h"

namespace bagwise {

struct ExperimentFile {
  ExperimentPlan plan;
  std::string document;  // the same as one JSON document, with what it took from other files
};

// Files that are named in it are looked for beside it. Errors name the key, what was found and what was
// expected.
Result<ExperimentFile> experiment_from_json(std::string_view text, const std::string& file);
Result<ExperimentFile> read_experiment_file(const std::string& path);

// Of all that decides what a method makes of bags: arms, sources, selection. As text.
std::string fingerprint(const ExperimentMethod& method);

}  // namespace bagwise
