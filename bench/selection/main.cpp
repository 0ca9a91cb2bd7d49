// The study behind tune's defaults: criteria, combining and metric, without and with labels to compare by.
//
// usage: bench_selection presets KIND PRESET BAG_SIZE FIRST_SEED LAST_SEED
//        bench_selection tables SOURCE.csv TARGET.csv NAME BAG_SIZE FIRST_FOLD LAST_FOLD
//
// One CSV line per method, metric and rule: data,bag_size,seed,method,metric,rule,accuracy. Tables are
// labelled; folds are fifths of the target's rows, numbered from 0, of which one is the test.
#include <fmt/format.h>

#include <cstdio>
#include <numeric>
#include <string>

#include "bagwise/data/read_table.h"
#include "rules.h"
#include "support/generated_bags.h"

namespace bagwise::bench {
namespace {

constexpr std::size_t kTestRows = 2000;

Dataset some_rows(const Dataset& all, const std::vector<std::size_t>& rows) {
  Dataset out;
  out.features = take_rows(all.features.view(), rows);
  out.feature_names = all.feature_names;
  for (const std::size_t i : rows) out.labels.push_back(all.labels[i]);
  return out;
}

void print(const std::string& data, std::size_t size, std::uint64_t seed, const Cell& cell) {
  for (const Outcome& one : compare_rules(cell, seed, 1)) {
    fmt::print("{},{},{},{},{},{},{:.5f}\n", data, size, seed, one.method, one.metric, one.rule,
               one.accuracy);
  }
  std::fflush(stdout);
}

void presets(const std::string& kind, const std::string& preset, std::size_t size, std::uint64_t first,
             std::uint64_t last) {
  for (std::uint64_t seed = first; seed <= last; ++seed) {
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
    print(fmt::format("{}-{}", kind, preset), size, seed, cell);
  }
}

void tables(const std::string& source, const std::string& target, const std::string& name, std::size_t size,
            std::uint64_t first, std::uint64_t last) {
  TableOptions options;
  options.want_labels = true;
  const auto from = read_table(source, options), to = read_table(target, options);
  if (!from || !to) std::abort();
  std::vector<std::size_t> order(to->rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng folds(1);
  shuffle(std::span(order), folds);
  for (std::uint64_t fold = first; fold <= last; ++fold) {
    std::vector<std::size_t> train, test;
    for (std::size_t i = 0; i < order.size(); ++i) (i % 5 == fold ? test : train).push_back(order[i]);
    Rng rng(fold, size);
    Cell cell;
    cell.test = some_rows(*to, test);
    cell.source = in_bags(*from, size, rng);
    cell.target = in_bags(some_rows(*to, train), size, rng);
    print(name, size, fold, cell);
  }
}

}  // namespace
}  // namespace bagwise::bench

int main(int argc, char** argv) {
  using namespace bagwise::bench;
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "presets" && argc == 7) {
    presets(argv[2], argv[3], std::stoul(argv[4]), std::stoul(argv[5]), std::stoul(argv[6]));
    return 0;
  }
  if (what == "tables" && argc == 8) {
    tables(argv[2], argv[3], argv[4], std::stoul(argv[5]), std::stoul(argv[6]), std::stoul(argv[7]));
    return 0;
  }
  std::fputs(
      "usage: bench_selection presets KIND PRESET BAG_SIZE FIRST_SEED LAST_SEED\n"
      "       bench_selection tables SOURCE.csv TARGET.csv NAME BAG_SIZE FIRST_FOLD LAST_FOLD\n",
      stderr);
  return 2;
}
