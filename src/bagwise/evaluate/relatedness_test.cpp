#include "bagwise/evaluate/relatedness.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "bagwise/bags/deal.h"
#include "bagwise/bags/folds.h"
#include "bagwise/bags/take_bags.h"
#include "bagwise/data/generate.h"

namespace bagwise {
namespace {

BaggedData dealt(Dataset rows, std::uint64_t size, Rng& rng) {
  auto bags = deal_bags(std::move(rows), size, rng);
  return *attach_proportions(std::move(bags->instances), "made", &bags->proportions);
}

std::vector<TrainingTask> made_tasks(GeneratorPreset preset, std::uint64_t seed, std::uint64_t bag_size) {
  GeneratorOptions options = generator_preset(GeneratorKind::kGaussian, preset, seed);
  options.features = 20;
  options.source_rows = 640;
  options.target_rows = 320;
  options.test_rows = 1;
  GeneratedData data = *generate(options);
  Rng rng(seed);
  const BaggedData source = dealt(std::move(data.source), bag_size, rng);
  const BaggedData target = dealt(std::move(data.target), bag_size, rng);
  return {{"source", reduce(source)}, {"target", reduce(target)}};
}

double plain_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  double ma = 0, mb = 0, ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) ma += a[i] / double(a.size()), mb += b[i] / double(b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - ma) * (b[i] - mb);
    aa += (a[i] - ma) * (a[i] - ma);
    bb += (b[i] - mb) * (b[i] - mb);
  }
  return ab / std::sqrt(aa * bb);
}

// InvCal's plane of some bags, correlated with the shares of others, by plain loops.
double slow_agreement(const ReducedBags& from, const ReducedBags& on) {
  const TrainingTask alone{"target", from};
  const auto fit = find_method("inv-cal")->fit({&alone, 1}, {}, {});
  const Plane plane = raw_plane(fit->model, 0);
  std::vector<double> values;
  for (std::size_t k = 0; k < on.bags.size(); ++k) {
    double f = 0;
    for (std::size_t j = 0; j < on.sums.features(); ++j)
      f += plane.weights[static_cast<Eigen::Index>(j)] * on.sums.sum(k, j) / double(on.sums.count(k));
    values.push_back(f);
  }
  return plain_correlation(values, on.bags.proportions);
}

TEST_CASE("relatedness: the figures are those of the stated formulas", "[evaluate][relatedness]") {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const auto tasks = made_tasks(GeneratorPreset::kRelated, seed, 16);
    const auto found = relatedness(tasks, {}, {.seed = seed});
    REQUIRE(found);
    const ReducedBags &source = tasks[0].reduced, &target = tasks[1].reduced;
    CHECK(found->target == Approx(slow_agreement(source, target)).epsilon(1e-6));
    std::vector<std::uint64_t> sizes;
    for (std::size_t k = 0; k < source.bags.size(); ++k) sizes.push_back(source.sums.count(k));
    Rng rng(seed);
    double z = 0;
    for (const auto& fold : bag_folds(sizes, source.bags.proportions, 5, rng)) {
      const double r =
          slow_agreement(take_bags(source, other_bags(sizes.size(), fold)), take_bags(source, fold));
      z += std::atanh(std::clamp(r, -0.95, 0.95)) / 5;
    }
    CHECK(found->source == Approx(std::max(0.0, std::tanh(z))).epsilon(1e-6));
    const double n = double(target.bags.size()) - 3;
    const double expected = n * (std::atanh(found->source) * std::atanh(found->target) -
                                 std::pow(std::atanh(found->source), 2) / 2);
    CHECK(found->log_odds == Approx(expected).epsilon(1e-9));
  }
}

TEST_CASE("relatedness: related sources look it and unrelated ones do not", "[evaluate][relatedness]") {
  int related = 0, unrelated = 0;
  constexpr int kSeeds = 10;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    related += relatedness(made_tasks(GeneratorPreset::kRelated, seed, 8), {}, {})->log_odds > 0 ? 1 : 0;
    unrelated += relatedness(made_tasks(GeneratorPreset::kUnrelated, seed, 8), {}, {})->log_odds < 0 ? 1 : 0;
  }
  CHECK(related >= 9);
  CHECK(unrelated >= 9);
}

TEST_CASE("relatedness: of several sources the nearest counts, and few bags tell nothing",
          "[evaluate][relatedness]") {
  const auto near = made_tasks(GeneratorPreset::kRelated, 1, 8);
  const auto far = made_tasks(GeneratorPreset::kUnrelated, 1, 8);
  const std::vector<TrainingTask> both = {far[0], near[0], near[1]};
  const std::vector<TrainingTask> turned = {near[0], far[0], near[1]};
  const auto alone = relatedness(near, {}, {});
  CHECK(relatedness(both, {}, {})->log_odds == alone->log_odds);
  CHECK(relatedness(turned, {}, {})->log_odds == alone->log_odds);

  std::vector<TrainingTask> few = near;
  few[1].reduced = take_bags(near[1].reduced, std::vector<std::uint32_t>{0, 1, 2});
  CHECK(relatedness(few, {}, {})->log_odds == 0);
}

TEST_CASE("relatedness: the number of threads does not change it", "[evaluate][relatedness]") {
  const auto tasks = made_tasks(GeneratorPreset::kRelated, 4, 8);
  const auto one = relatedness(tasks, {}, {.threads = 1}), four = relatedness(tasks, {}, {.threads = 4});
  CHECK(one->log_odds == four->log_odds);
  CHECK(one->target == four->target);
}

}  // namespace
}  // namespace bagwise
