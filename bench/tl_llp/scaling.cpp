// How the time of one joint solve grows: with bags, beside products with the same matrix, and with instances.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/core/random.h"
#include "bagwise/core/timing.h"
#include "bagwise/linalg/kernels.h"
#include "bagwise/methods/inv_cal/inv_cal.h"
#include "tl_llp/task.h"

namespace bagwise::bench {
namespace {

// 200 products X w, from the shortest of several lots of 20.
double seconds_of_200_products(const TubeProblem& p) {
  constexpr int kLots = 5, kLot = 20;
  const Vector w = Vector::Constant(static_cast<Eigen::Index>(p.features()), 0.5);
  std::vector<double> out(p.size());
  double best = 1e300;
  for (int lot = 0; lot < kLots; ++lot) {
    const Stopwatch watch;
    for (int k = 0; k < kLot; ++k) multiply(p.rows, w, out, /*threads=*/0);
    best = std::min(best, watch.seconds());
  }
  return best * 200 / kLot;
}

// n to the what: between two rows of a table.
double exponent(double before, double now, double factor) {
  return std::log(now / before) / std::log(factor);
}

}  // namespace

void scaling_with_bags(const char* csv) {
  fmt::print(
      "\nOne joint solve to a relative gap of 1e-5, 100 features, beside 200 products X w on as many "
      "threads\n\n");
  fmt::print("{:>9} |{:>10}{:>10} |{:>12}{:>9} |{:>9}\n", "bags", "solve s", "gap", "200 Xw s", "ratio",
             "n to the");
  std::ofstream file;
  if (*csv != '\0') file.open(csv);
  file << "bags,solve_seconds,relative_gap,products_seconds\n";
  double before = 0, bags_before = 0;
  for (const std::size_t bags : {1'000, 3'000, 10'000, 30'000, 100'000, 300'000, 1'000'000}) {
    Task task;
    make_large_task(bags, task);
    const double products = seconds_of_200_products(task.problem);
    const Answer ours = best_of(10, [&] { return solve_ours(task.problem, 1e-5); });
    const auto n = static_cast<double>(bags);
    fmt::print("{:>9} |{:>10.4f}{:>10.1e} |{:>12.4f}{:>9.2f} |{}{}\n", bags, ours.seconds, ours.relative_gap,
               products, ours.seconds / products,
               before > 0 ? fmt::format("{:>9.2f}", exponent(before, ours.seconds, n / bags_before)) : "",
               ours.relative_gap > 1e-5 ? "  WRONG" : "");
    std::fflush(stdout);
    file << fmt::format("{},{},{},{}\n", bags, ours.seconds, ours.relative_gap, products);
    before = ours.seconds;
    bags_before = n;
  }
}

void scaling_with_instances() {
  constexpr std::size_t kBags = 1000, kFeatures = 20;
  fmt::print(
      "\n1,000 bags of 20 features: reading instances in memory to bag means, and the solve, to a gap of "
      "1e-6\n\n");
  fmt::print("{:>10} |{:>10}{:>9} |{:>9}\n", "instances", "reduce s", "solve s", "n to the");
  double before = 0;
  for (std::size_t instances = 100'000; instances <= 3'200'000; instances *= 2) {
    Rng rng(3);
    BaggedData data;
    DenseRows rows(kFeatures);
    double* value = rows.append(instances);
    for (std::size_t i = 0; i < instances; ++i) {
      for (std::size_t j = 0; j < kFeatures; ++j) *value++ = rng.normal();
      data.bag_of_row.push_back(static_cast<std::uint32_t>(rng.below(kBags)));
    }
    for (std::size_t k = 0; k < kBags; ++k) {
      data.bags.names.push_back(fmt::format("{:04}", k));
      data.bags.proportions.push_back(0.1 + 0.8 * rng.uniform());
    }
    for (std::size_t j = 0; j < kFeatures; ++j) data.feature_names.push_back(fmt::format("x{}", j));
    data.features = Features(std::move(rows));
    double reduce_seconds = 1e300, solve_seconds = 1e300;
    for (int run = 0; run < 3; ++run) {
      const Stopwatch watch;
      const ReducedBags reduced = reduce(data);
      reduce_seconds = std::min(reduce_seconds, watch.seconds());
      const DenseRows means = reduced.sums.means();
      TubeProblem p = inverse_calibration_problem(reduced, means.view(), {});
      p.lambda = {10, 1};
      for (std::size_t k = 0; k < kBags; ++k) p.task.push_back(k < kBags / 4 * 3 ? 0 : 1);
      solve_seconds = std::min(solve_seconds, solve_ours(p, 1e-6).seconds);
    }
    const double both = reduce_seconds + solve_seconds;
    fmt::print("{:>10} |{:>10.4f}{:>9.4f} |{}\n", instances, reduce_seconds, solve_seconds,
               before > 0 ? fmt::format("{:>9.2f}", exponent(before, both, 2)) : "");
    std::fflush(stdout);
    before = both;
  }
}

}  // namespace bagwise::bench
