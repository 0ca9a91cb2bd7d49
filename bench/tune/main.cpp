// A fit inside the default grid beside a cold fit of the same setting.
//
// 2,000 + 640 rows of 200 features, bags of 8, one fold of five held out, one thread. Cold: the sums per bag
// from the rows, then the fit to its own gap. On the path: sums made once, each solve from the last, to the
// gap of a path. Objectives are compared before times.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "bagwise/bags/folds.h"
#include "bagwise/bags/take_bags.h"
#include "bagwise/core/timing.h"
#include "bagwise/methods/registry.h"
#include "support/generated_bags.h"

namespace bagwise::bench {
namespace {

struct Times {
  double cold = 0, solve = 0, path = 0;  // seconds of all settings; solve: of cold without the sums
  std::size_t settings = 0;
  std::vector<double> above;  // objective on the path over the cold one, less 1
};

Times compare(GeneratorKind kind, const char* name) {
  GeneratorOptions options = generator_preset(kind, GeneratorPreset::kRelated, 1);
  options.target_rows = 800;
  const GeneratedData data = generated(options);
  Rng rng(1);
  const BaggedData source = in_bags(data.source, 8, rng), all = in_bags(data.target, 8, rng);
  const std::vector<std::uint64_t> sizes(all.bags.size(), 8);
  const auto folds = bag_folds(sizes, all.bags.proportions, 5, rng);
  const BaggedData target = take_bags(all, other_bags(all.bags.size(), folds[0]));

  const Method& method = *find_method(name);
  const Context context{.threads = 1};
  const auto tasks_of = [&] {
    std::vector<TrainingTask> tasks;
    if (method.uses_sources) tasks.push_back({"source", reduce(source, 1), &source});
    tasks.push_back({"target", reduce(target, 1), &target});
    return tasks;
  };
  Times out;
  const Stopwatch whole;
  const std::vector<TrainingTask> tasks = tasks_of();
  double sums = whole.seconds();
  for (const SettingsPath& path : method.default_grid(1)) {
    const Stopwatch watch;
    const auto fits = method.fit_path(tasks, path, context);
    out.path += watch.seconds();
    if (!fits) std::abort();
    for (std::size_t s = 0; s < path.size(); ++s) {
      const Stopwatch cold;
      const std::vector<TrainingTask> own = tasks_of();
      const Stopwatch solve;
      const auto fit = method.fit(own, path[s], context);
      out.solve += solve.seconds();
      out.cold += cold.seconds();
      if (!fit) std::abort();
      out.above.push_back((*fits)[s].model.training.objective / fit->model.training.objective - 1);
      ++out.settings;
    }
  }
  out.path += sums;
  std::sort(out.above.begin(), out.above.end());
  return out;
}

}  // namespace
}  // namespace bagwise::bench

int main() {
  using namespace bagwise;
  fmt::print(
      "| data | method | settings | objective above: median, 95 %, most | cold fit, ms | without sums | on "
      "the path | cold / path |\n|---|---|---|---|---|---|---|---|\n");
  for (const auto& [name, kind] : names(GeneratorKind{})) {
    for (const char* method : {"inv-cal", "tl-llp"}) {
      const bench::Times t = bench::compare(kind, method);
      const auto n = static_cast<double>(t.settings);
      fmt::print("| {} | {} | {} | {:.1e}, {:.1e}, {:.1e} | {:.2f} | {:.2f} | {:.2f} | {:.1f} |\n", name,
                 method, t.settings, t.above[t.above.size() / 2], t.above[t.above.size() * 95 / 100],
                 t.above.back(), 1e3 * t.cold / n, 1e3 * t.solve / n, 1e3 * t.path / n, t.cold / t.path);
      std::fflush(stdout);
    }
  }
  return 0;
}
