#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <utility>
#include <vector>

#include "bagwise/core/parallel.h"
#include "bagwise/core/random.h"
#include "bagwise/core/timing.h"
#include "bagwise/methods/tl_count/tl_count.h"
#include "tl_count/parts.h"

namespace bagwise::bench {
namespace {

constexpr std::size_t kFeatures = 50, kBagSize = 16;

// Two clusters a little apart along a plane, in bags one after the other.
BaggedData make_bags(std::size_t rows, std::uint64_t seed) {
  BaggedData data;
  const std::size_t bags = rows / kBagSize;
  for (std::size_t j = 0; j < kFeatures; ++j) data.feature_names.push_back(fmt::format("x{}", j));
  data.bags.names.reserve(bags);
  for (std::size_t k = 0; k < bags; ++k) data.bags.names.push_back(fmt::format("{}", k));
  data.bags.proportions.resize(bags);
  data.bag_of_row.resize(bags * kBagSize);
  DenseRows table(kFeatures);
  double* const values = table.append(bags * kBagSize);
  constexpr std::size_t kBlock = 256;
  parallel_for((bags + kBlock - 1) / kBlock, 0, [&](std::size_t block) {
    Rng rng(seed, block);
    for (std::size_t k = block * kBlock; k < std::min(bags, (block + 1) * kBlock); ++k) {
      const double share = rng.uniform();
      int positives = 0;
      for (std::size_t i = k * kBagSize; i < (k + 1) * kBagSize; ++i) {
        const bool positive = rng.uniform() < share;
        positives += positive ? 1 : 0;
        for (std::size_t j = 0; j < kFeatures; ++j)
          values[i * kFeatures + j] = rng.normal() + (positive ? 0.15 : -0.15);
        data.bag_of_row[i] = static_cast<std::uint32_t>(k);
      }
      data.bags.proportions[k] = positives / static_cast<double>(kBagSize);
    }
  });
  data.features = Features(std::move(table));
  return data;
}

struct Timed {
  Fit fit;
  double processor = 0;  // seconds on all threads
};
Timed timed_fit(const std::vector<TrainingTask>& tasks) {
  const std::clock_t start = std::clock();
  auto fit = fit_tl_count(tasks, {}, {});
  if (!fit) std::abort();
  return {std::move(*fit), static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC};
}

}  // namespace

void scaling_with_rows(std::size_t most) {
  fmt::print(
      "\nOne fit at its defaults, three quarters of the rows a source's, {} features, bags of {}, {} "
      "threads.\n"
      "ns: processor time of the whole fit per row\n\n",
      kFeatures, kBagSize, std::thread::hardware_concurrency());
  fmt::print("{:>10} |{:>9} |{:>8}{:>10} |{:>9}\n", "rows", "seconds", "ns", "n to the", "F per bag");
  double before = 0;
  for (std::size_t rows = std::min<std::size_t>(most, 10'000); rows <= most; rows *= 10) {
    const BaggedData source = make_bags(rows / 4 * 3, 1), target = make_bags(rows / 4, 2);
    const std::vector<TrainingTask> tasks = {{"source", reduce(source), &source},
                                             {"target", reduce(target), &target}};
    const Timed whole = timed_fit(tasks);
    fmt::print("{:>10} |{:>9.3f} |{:>8.0f}{:>10} |{:>9.5f}\n", rows, whole.fit.solve_seconds,
               1e9 * whole.processor / static_cast<double>(rows),
               before > 0 ? fmt::format("{:.2f}", std::log10(whole.processor / before)) : "",
               whole.fit.model.training.objective / static_cast<double>(rows / kBagSize));
    std::fflush(stdout);
    before = whole.processor;
  }
}

}  // namespace bagwise::bench
