#include "starts.h"

#include <fmt/format.h>

#include "bagwise/bags/rows_by_bag.h"
#include "bagwise/methods/inv_cal/inv_cal.h"
#include "bagwise/methods/model.h"
#include "bagwise/solver/count_regression.h"
#include "clusters.h"
#include "support/cells.h"

namespace bagwise::bench {
namespace {

constexpr std::size_t kRows = 640, kTestRows = 4000;
constexpr Eigen::Index kFeatures = 20;

// The plane in equal parts shared and own, as lambda = 1 has it.
TubePlanes planes_of(const Vector& weights, double bias) { return {weights / 2, {weights / 2}, {bias}}; }

double accuracy(const TubePlanes& planes, const Dataset& test) {
  const auto f = scores(Plane{planes.weights(0), planes.bias[0]}, test.features.view());
  double right = 0;
  for (std::size_t i = 0; i < f.size(); ++i) right += (f[i] > 0) == (test.labels[i] > 0) ? 1 : 0;
  return right / static_cast<double>(f.size());
}

}  // namespace

void compare_starts(std::size_t bag_size, double C, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    Rng rng(seed, bag_size);
    const BaggedData target =
        in_bags(clustered_rows(Clusters::kClasses, false, kRows, kFeatures, rng), bag_size, rng);
    const Dataset test = clustered_rows(Clusters::kClasses, false, kTestRows, kFeatures, rng);
    const RowsByBag order(target.bag_of_row, target.bags.size());
    CountTask task{target.features.view(), order.row, order.start, {}, {}, 1};
    for (std::size_t k = 0; k < target.bags.size(); ++k)
      task.seen.push_back(count_seen(target.bags.proportions[k], 0, order.size(k)));
    task.cost.assign(target.bags.size(), C);
    CountProblem problem;
    problem.tasks.push_back(task);

    const auto inv_cal = fit_inv_cal({"target", reduce(target), &target}, {}, {});
    if (!inv_cal) std::abort();
    const TaskModel& plane = inv_cal->model.tasks[0];
    const Vector zero = Vector::Zero(kFeatures);
    struct Start {
      const char* name;
      TubePlanes planes;
      bool anneal;
    };
    const Start starts[] = {
        {"inv-cal", planes_of(Eigen::Map<const Vector>(plane.weights.data(), kFeatures), plane.bias), false},
        {"truth", planes_of(2 * Vector::Unit(kFeatures, 0), 0), false},
        {"anneal", planes_of(zero, 0), true},
        {"zero", planes_of(zero, 0), false}};
    for (const Start& start : starts) {
      const CountSolution end = solve_counts(problem, start.planes, {.anneal = start.anneal});
      fmt::print("starts,{},{},{},{:.2f},{:.5f}\n", bag_size, seed, start.name, end.objective,
                 accuracy(end.planes, test));
    }
  }
}

}  // namespace bagwise::bench
