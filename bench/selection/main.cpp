// The study behind tune's defaults: criteria, combining and metric, without and with labels to compare by.
//
// usage: bench_selection presets KIND PRESET BAG_SIZE FIRST_SEED LAST_SEED
//        bench_selection tables SOURCE.csv TARGET.csv NAME BAG_SIZE FIRST_FOLD LAST_FOLD
//
// One CSV line per method, metric and rule: data,bag_size,seed,method,metric,rule,accuracy. Tables are
// labelled; folds are fifths of the target's rows, numbered from 0, of which one is the test.
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "rules.h"

namespace bagwise::bench {
namespace {

void print(const std::string& data, std::size_t size, std::uint64_t seed, const Cell& cell) {
  for (const Outcome& one : compare_rules(cell, seed, 1)) {
    fmt::print("{},{},{},{},{},{},{:.5f}\n", data, size, seed, one.method, one.metric, one.rule,
               one.accuracy);
  }
  std::fflush(stdout);
}

void presets(const std::string& kind, const std::string& preset, std::size_t size, std::uint64_t first,
             std::uint64_t last) {
  for (std::uint64_t seed = first; seed <= last; ++seed)
    print(fmt::format("{}-{}", kind, preset), size, seed, preset_cell(kind, preset, size, seed));
}

void tables(const std::string& source, const std::string& target, const std::string& name, std::size_t size,
            std::uint64_t first, std::uint64_t last) {
  const LabelledPair pair(source, target);
  for (std::uint64_t fold = first; fold <= last; ++fold) print(name, size, fold, pair.cell(size, fold));
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
