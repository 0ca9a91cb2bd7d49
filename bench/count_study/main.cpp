// The study behind tl-count: how good it is, where its gain comes from, and what sources do to it.
//
// usage: bench_count_study presets KIND PRESET BAG_SIZE FIRST_SEED LAST_SEED [ARMS]
//        bench_count_study tables SOURCE.csv TARGET.csv NAME BAG_SIZE FIRST_FOLD LAST_FOLD [ARMS]
//        bench_count_study clusters BAG_SIZE FIRST_SEED LAST_SEED [ARMS]
//        bench_count_study starts BAG_SIZE C FIRST_SEED LAST_SEED
//
// One CSV line per cell and arm: data,bag_size,seed,arm,accuracy. Every arm is what `bagwise tune` gives with
// its defaults; ARMS are names of arms with commas between them, all if there are none.
#include <fmt/format.h>

#include <cstdio>
#include <sstream>
#include <string>

#include "bagwise/evaluate/tuning.h"
#include "bagwise/methods/scorer.h"
#include "clusters.h"
#include "starts.h"
#include "support/cells.h"

namespace bagwise::bench {
namespace {

// What is tuned: methods in metrics, with the sources or without.
struct StudyArm {
  std::string name;
  std::vector<std::pair<std::string, std::string>> methods;  // and their metric
  bool sources = true;
};

std::vector<StudyArm> study_arms() {
  std::vector<StudyArm> out;
  for (const std::string metric : {"none", "pca"}) {
    for (const std::string method : {"inv-cal", "tl-llp", "tl-count", "alter-psvm"})
      out.push_back({method + "/" + metric, {{method, metric}}});
    out.push_back({"tl-count-alone/" + metric, {{"tl-count", metric}}, false});
    out.push_back({"alter-psvm-alone/" + metric, {{"alter-psvm", metric}}, false});
    out.push_back({"tl-count+alter-psvm/" + metric, {{"tl-count", metric}, {"alter-psvm", metric}}});
  }
  out.push_back({"tl-count/both", {{"tl-count", "none"}, {"tl-count", "pca"}}});
  return out;
}

double accuracy(const Model& model, const Dataset& test) {
  const auto f = Scorer(model, model.tasks.size() - 1).scores(test.features.view(), 1);
  double right = 0;
  for (std::size_t i = 0; i < f.size(); ++i) right += (f[i] > 0) == (test.labels[i] > 0) ? 1 : 0;
  return right / static_cast<double>(f.size());
}

void run(const std::string& data, std::size_t size, std::uint64_t seed, const Cell& cell,
         const std::vector<StudyArm>& arms) {
  std::vector<TrainingTask> tasks;
  if (!cell.source.bag_of_row.empty()) tasks.push_back({"source", reduce(cell.source, 1), &cell.source});
  tasks.push_back({"target", reduce(cell.target, 1), &cell.target});
  for (const StudyArm& one : arms) {
    const std::span<const TrainingTask> all = tasks;
    const auto seen = one.sources ? all : all.last(1);
    std::vector<Arm> chosen;
    for (const auto& [method, metric] : one.methods) {
      const Method* found = find_method(method);
      chosen.push_back({found, metric, found->default_grid(seen.size() - 1)});
    }
    const auto tuned = tune(seen, chosen, {}, {.seed = seed, .threads = 1});
    if (!tuned) {
      std::fputs((tuned.error().message + "\n").c_str(), stderr);
      std::exit(1);
    }
    fmt::print("{},{},{},{},{:.5f}\n", data, size, seed, one.name, accuracy(tuned->fit.model, cell.test));
    std::fflush(stdout);
  }
}

std::vector<StudyArm> arms_named(const std::string& names) {
  std::vector<StudyArm> out;
  for (StudyArm& arm : study_arms()) {
    if (names.empty() || ("," + names + ",").find("," + arm.name + ",") != std::string::npos)
      out.push_back(std::move(arm));
  }
  return out;
}

// Rows with clusters or without, learnt from the target alone.
void clusters(std::size_t size, std::uint64_t first, std::uint64_t last, const std::string& names) {
  constexpr std::size_t kRows = 640, kFeatures = 20, kTestRows = 4000;
  const std::vector<StudyArm> arms = arms_named(names);
  struct Kind {
    const char* name;
    Clusters clusters;
    bool white;
  };
  const Kind kinds[] = {{"classes", Clusters::kClasses, false},
                        {"none", Clusters::kNone, false},
                        {"across", Clusters::kAcross, false},
                        {"classes-white", Clusters::kClasses, true},
                        {"none-white", Clusters::kNone, true}};
  for (const Kind& kind : kinds) {
    for (std::uint64_t seed = first; seed <= last; ++seed) {
      Rng rng(seed, size);
      Cell cell;
      cell.target = in_bags(clustered_rows(kind.clusters, kind.white, kRows, kFeatures, rng), size, rng);
      cell.test = clustered_rows(kind.clusters, kind.white, kTestRows, kFeatures, rng);
      run(fmt::format("clusters-{}", kind.name), size, seed, cell, arms);
    }
  }
}

}  // namespace
}  // namespace bagwise::bench

int main(int argc, char** argv) {
  using namespace bagwise::bench;
  const std::vector<std::string> a(argv + 1, argv + argc);
  const std::string what = a.empty() ? "" : a[0];
  if (what == "presets" && (a.size() == 6 || a.size() == 7)) {
    const auto arms = arms_named(a.size() == 7 ? a[6] : "");
    const std::size_t size = std::stoul(a[3]);
    for (std::uint64_t seed = std::stoul(a[4]); seed <= std::stoul(a[5]); ++seed)
      run(a[1] + "-" + a[2], size, seed, preset_cell(a[1], a[2], size, seed), arms);
    return 0;
  }
  if (what == "tables" && (a.size() == 7 || a.size() == 8)) {
    const auto arms = arms_named(a.size() == 8 ? a[7] : "");
    const LabelledPair pair(a[1], a[2]);
    const std::size_t size = std::stoul(a[4]);
    for (std::uint64_t fold = std::stoul(a[5]); fold <= std::stoul(a[6]); ++fold)
      run(a[3], size, fold, pair.cell(size, fold), arms);
    return 0;
  }
  if (what == "clusters" && (a.size() == 4 || a.size() == 5)) {
    clusters(std::stoul(a[1]), std::stoul(a[2]), std::stoul(a[3]),
             a.size() == 5 ? a[4] : "inv-cal/none,inv-cal/pca,alter-psvm/none,tl-count/none,tl-count/pca");
    return 0;
  }
  if (what == "starts" && a.size() == 5) {
    compare_starts(std::stoul(a[1]), std::stod(a[2]), std::stoul(a[3]), std::stoul(a[4]));
    return 0;
  }
  std::fputs(
      "usage: bench_count_study presets KIND PRESET BAG_SIZE FIRST_SEED LAST_SEED [ARMS]\n"
      "       bench_count_study tables SOURCE.csv TARGET.csv NAME BAG_SIZE FIRST_FOLD LAST_FOLD [ARMS]\n"
      "       bench_count_study clusters BAG_SIZE FIRST_SEED LAST_SEED [ARMS]\n"
      "       bench_count_study starts BAG_SIZE C FIRST_SEED LAST_SEED\n",
      stderr);
  return 2;
}
