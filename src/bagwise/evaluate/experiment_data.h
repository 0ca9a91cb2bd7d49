// The labelled rows an experiment deals into bags, from wherever its plan says.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "bagwise/core/observer.h"
#include "bagwise/core/result.h"
#include "bagwise/data/corpus/corpus.h"
#include "bagwise/data/dataset.h"
#include "bagwise/evaluate/experiment_plan.h"

namespace bagwise {

struct LabelledTasks {
  Dataset source, target;  // of the same features; a source without rows: there is none

  [[nodiscard]] bool has_source() const { return source.rows() > 0; }
};

// Tells data apart that differ in any value, label or name of a feature.
std::uint64_t fingerprint(const LabelledTasks& tasks);

// Loads data one after the other; a corpus is read once for all its pairs.
class ExperimentLoader {
 public:
  // `corpora`: a folder that has 20news-19997 and reuters21578, unpacked or as .tar, .tar.gz or .tar.xz; only
  // pairs need it.
  explicit ExperimentLoader(std::string corpora, unsigned threads = 0)
      : corpora_(std::move(corpora)), threads_(threads) {}

  // Errors: of reading or generating; tables without labels, or of different features.
  Result<LabelledTasks> load(const ExperimentData& data, const Observer& observer = {});

 private:
  Result<LabelledTasks> load_pair(const ExperimentPair& wanted, const Observer& observer);

  std::string corpora_;
  unsigned threads_;
  std::map<std::pair<CorpusKind, MissingBody>, Corpus> read_;
};

}  // namespace bagwise
