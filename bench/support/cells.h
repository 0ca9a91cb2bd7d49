// Cells of a study: bags to learn from, and labelled rows to look at afterwards.
#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "bagwise/data/read_table.h"
#include "support/generated_bags.h"

namespace bagwise::bench {

struct Cell {
  BaggedData source, target;
  Dataset test;  // with labels, which nothing that learns or chooses sees
};

inline Dataset some_rows(const Dataset& all, const std::vector<std::size_t>& rows) {
  Dataset out;
  out.features = take_rows(all.features.view(), rows);
  out.feature_names = all.feature_names;
  for (const std::size_t i : rows) out.labels.push_back(all.labels[i]);
  return out;
}

// KIND gaussian or documents, PRESET related or unrelated, with up to 2,000 rows to test by.
inline Cell preset_cell(const std::string& kind, const std::string& preset, std::size_t size,
                        std::uint64_t seed) {
  constexpr std::size_t kTestRows = 2000;
  const GeneratorOptions options =
      generator_preset(kind == "gaussian" ? GeneratorKind::kGaussian : GeneratorKind::kDocuments,
                       preset == "related" ? GeneratorPreset::kRelated : GeneratorPreset::kUnrelated, seed);
  GeneratedData data = generated(options);
  Rng rng(seed, size);
  std::vector<std::size_t> rows(std::min(kTestRows, data.test.rows()));
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  Cell cell;
  cell.test = some_rows(data.test, rows);
  cell.source = in_bags(std::move(data.source), size, rng);
  cell.target = in_bags(std::move(data.target), size, rng);
  return cell;
}

// Two labelled tables. Folds are fifths of the target's rows, numbered from 0, of which one is the test.
class LabelledPair {
 public:
  LabelledPair(const std::string& source, const std::string& target)
      : source_(labelled(source)), target_(labelled(target)), order_(target_.rows()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    Rng rng(1);
    shuffle(std::span(order_), rng);
  }

  [[nodiscard]] Cell cell(std::size_t size, std::uint64_t fold) const {
    std::vector<std::size_t> train, test;
    for (std::size_t i = 0; i < order_.size(); ++i) (i % 5 == fold ? test : train).push_back(order_[i]);
    Rng rng(fold, size);
    Cell out;
    out.test = some_rows(target_, test);
    out.source = in_bags(source_, size, rng);
    out.target = in_bags(some_rows(target_, train), size, rng);
    return out;
  }

 private:
  static Dataset labelled(const std::string& path) {
    TableOptions options;
    options.want_labels = true;
    auto table = read_table(path, options);
    if (!table) std::abort();
    return std::move(*table);
  }

  Dataset source_, target_;
  std::vector<std::size_t> order_;
};

}  // namespace bagwise::bench
