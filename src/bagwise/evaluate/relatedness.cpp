#include "bagwise/evaluate/relatedness.h"

#include <algorithm>
#include <cmath>

#include "bagwise/bags/folds.h"
#include "bagwise/bags/take_bags.h"

namespace bagwise {
namespace {

constexpr std::size_t kFolds = 5;
constexpr std::size_t kFewest = 4;  // bags over which a correlation means anything
constexpr double kLargest = 0.95;   // correlation: beyond it a few bags would seem to prove too much

Result<Plane> plane_of(const TrainingTask& task, const ReducedBags& bags, const OptionTexts& options,
                       const Context& context) {
  const TrainingTask alone{"target", bags, nullptr, task.origin};
  auto fit = find_method("inv-cal")->fit({&alone, 1}, options, context);
  if (!fit) return fit.error();
  return raw_plane(fit->model, 0);
}

// atanh of the correlation between the plane's values at the bag means and the proportions.
double agreement(const Plane& plane, const ReducedBags& bags) {
  const DenseRows means = bags.sums.means();
  const Eigen::ArrayXd f = (means.view().matrix() * plane.weights).array();
  const Eigen::Map<const Eigen::ArrayXd> p(bags.bags.proportions.data(), f.size());
  const Eigen::ArrayXd a = f - f.mean(), b = p - p.mean();
  const double lengths = std::sqrt(a.square().sum() * b.square().sum());
  if (!(lengths > 0)) return 0;
  return std::atanh(std::clamp((a * b).sum() / lengths, -kLargest, kLargest));
}

// The same on folds of the source's own bags that the plane has not seen.
Result<double> own_agreement(const TrainingTask& source, const OptionTexts& options, const Context& context) {
  const ReducedBags& bags = source.reduced;
  std::vector<std::uint64_t> sizes;
  for (std::size_t k = 0; k < bags.bags.size(); ++k) sizes.push_back(bags.sums.count(k));
  Rng rng(context.seed);
  const std::size_t folds = std::min(kFolds, bags.bags.size() / kFewest);
  if (folds < 2) return 0.0;
  double sum = 0;
  for (const auto& fold : bag_folds(sizes, bags.bags.proportions, folds, rng)) {
    const auto plane = plane_of(source, take_bags(bags, other_bags(sizes.size(), fold)), options, context);
    if (!plane) return plane.error();
    sum += agreement(*plane, take_bags(bags, fold));
  }
  return std::max(0.0, sum / static_cast<double>(folds));
}

}  // namespace

Result<Relatedness> relatedness(std::span<const TrainingTask> tasks, const OptionTexts& options,
                                const Context& context) {
  const ReducedBags& target = tasks.back().reduced;
  Relatedness out;
  if (target.bags.size() < kFewest) return out;
  const double root = std::sqrt(static_cast<double>(target.bags.size()) - 3);
  for (std::size_t t = 0; t + 1 < tasks.size(); ++t) {
    const auto own = own_agreement(tasks[t], options, context);
    if (!own) return own.error();
    const auto plane = plane_of(tasks[t], tasks[t].reduced, options, context);
    if (!plane) return plane.error();
    const double seen = agreement(*plane, target);
    const double z = root * seen, m = root * *own;
    const double log_odds = m * z - m * m / 2;
    if (t == 0 || log_odds > out.log_odds) out = {std::tanh(seen), std::tanh(*own), log_odds};
  }
  return out;
}

}  // namespace bagwise
