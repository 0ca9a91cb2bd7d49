// What an experiment runs: data x methods x bag sizes x noise x folds, as a value.
//
// How it stands in a file is in report/experiment_file.h, how a cell is run in experiment.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "bagwise/data/corpus/corpus.h"
#include "bagwise/data/generate.h"
#include "bagwise/evaluate/tuning.h"

namespace bagwise {

// Where the rows of source and target come from. All are labelled; what learns is given bags of them.
struct ExperimentTables {
  std::string source, target;  // files; no source: the target alone
};
struct ExperimentPair {
  int number = 0;  // of the reference experiment, 1 to 9
  std::uint64_t seed = 1;
  MissingBody missing_body = MissingBody::kTitle;
};

struct ExperimentData {
  std::string name;   // in results
  std::string title;  // for people
  std::variant<ExperimentTables, ExperimentPair, GeneratorOptions> origin;
};

struct ExperimentMethod {
  std::string name;             // in results
  std::string title;            // for people
  std::vector<Arm> arms;        // where there is a source,
  std::vector<Arm> arms_alone;  // and where there is none
  bool uses_sources = true;     // false: it is given the target alone, whatever there is
  bool tuned = true;            // false: one fit of the only setting there is
  TuneOptions selection;
};

// An accuracy that was published for a cell (over all folds), to stand beside ours. Shares, not per cent.
struct PublishedFigure {
  std::string data, method;
  std::uint64_t bag_size = 0;
  double accuracy = 0, deviation = 0;
};

struct ExperimentPlan {
  std::string name, title;
  std::vector<ExperimentData> data;
  std::vector<ExperimentMethod> methods;
  std::vector<std::uint64_t> bag_sizes;
  std::vector<double> noise = {0};  // shares of instances that have noise
  std::uint64_t folds = 5;          // of the target's rows,
  std::uint64_t run_folds = 5;      // of which the first so many are run
  std::uint64_t seed = 1;
  std::vector<PublishedFigure> published;
  std::string published_in;  // the source of those figures
};

// One combination of all that varies.
struct ExperimentKey {
  std::string data, method;
  std::uint64_t bag_size = 0;
  double noise = 0;
  std::uint64_t fold = 0;  // from 0

  friend bool operator==(const ExperimentKey&, const ExperimentKey&) = default;
  friend bool operator<(const ExperimentKey& a, const ExperimentKey& b) {
    return std::tie(a.data, a.method, a.bag_size, a.noise, a.fold) <
           std::tie(b.data, b.method, b.bag_size, b.noise, b.fold);
  }
};

// All keys of a plan: data by data, within it by noise, bag size, fold and method.
std::vector<ExperimentKey> keys_of(const ExperimentPlan& plan);

}  // namespace bagwise
