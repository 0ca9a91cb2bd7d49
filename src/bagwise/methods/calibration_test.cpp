#include "bagwise/methods/calibration.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "bagwise/bags/deal.h"
#include "bagwise/data/generate.h"
#include "bagwise/methods/inv_cal/inv_cal.h"
#include "bagwise/methods/scorer.h"
#include "bagwise/methods/tl_llp/tl_llp.h"
#include "support/bag_problems.h"

namespace bagwise {
namespace {

using test::random_bags;

TubeTerms terms_of(const ReducedBags& data, const Calibration& how) {
  TubeTerms out;
  append_bags(data, how, 3, 0, out);
  return out;
}

TEST_CASE("calibration: noise of 0 changes no bit", "[methods][calibration]") {
  Rng rng(1);
  for (int round = 0; round < 20; ++round) {
    ReducedBags data = reduce(random_bags(rng, 12, 2));
    const Calibration how{.tube = round % 2 == 0 ? Tube::kConstant : Tube::kCalibrated,
                          .bag_weight = round % 3 == 0 ? BagWeight::kSize : BagWeight::kNone};
    const TubeTerms exact = terms_of(data, how);
    data.bags.noise.assign(data.bags.size(), 0.0);
    const TubeTerms noiseless = terms_of(data, how);
    CHECK(noiseless.tube == exact.tube);
    CHECK(noiseless.cost_above == exact.cost_above);
    CHECK(noiseless.cost_below == exact.cost_below);
    CHECK(noiseless.target == exact.target);
  }
}

TEST_CASE("calibration: the terms of noise are those of the formula", "[methods][calibration]") {
  Rng rng(2);
  for (int round = 0; round < 20; ++round) {
    ReducedBags data = reduce(random_bags(rng, 15, 1, 40));
    for (std::size_t k = 0; k < data.bags.size(); ++k)
      data.bags.noise.push_back(k % 3 == 0 ? 0 : rng.uniform() * (k % 3 == 1 ? 0.1 : 3));
    const std::optional<double> clip = round % 2 == 0 ? std::optional<double>() : 0.1;
    long double rows = 0, positives = 0, sum = 0;
    std::vector<long double> rho;
    for (std::size_t k = 0; k < data.bags.size(); ++k) {
      rows += static_cast<long double>(data.sums.count(k));
      positives += static_cast<long double>(data.sums.count(k)) * data.bags.proportions[k];
    }
    const auto kept = [&](long double p, std::size_t k) {
      const long double c =
          clip ? static_cast<long double>(*clip) : 1 / (2 * static_cast<long double>(data.sums.count(k)) + 2);
      return std::min(std::max(p, c), 1 - c);
    };
    for (std::size_t k = 0; k < data.bags.size(); ++k) {
      const long double q = kept(positives / rows, k);
      const long double v = q * (1 - q) / static_cast<long double>(data.sums.count(k));
      rho.push_back(v / (v + std::pow(static_cast<long double>(data.bags.noise[k]), 2)));
      sum += rho[k];
    }
    const auto got = noise_terms(data, clip);
    for (std::size_t k = 0; k < rho.size(); ++k) {
      const long double low = kept(positives / rows - data.bags.noise[k], k);
      const long double high = kept(positives / rows + data.bags.noise[k], k);
      const long double widening = 0.2L * (std::log(high / (1 - high)) - std::log(low / (1 - low)));
      CHECK(got[k].weight ==
            Approx(static_cast<double>(rho[k] / sum * static_cast<long double>(rho.size()))).epsilon(1e-12));
      CHECK(got[k].widening == Approx(static_cast<double>(widening)).margin(1e-12));
    }
  }
}

TEST_CASE("calibration: more noise means a lower cost and a wider tube", "[methods][calibration]") {
  Rng rng(3);
  ReducedBags data = reduce(random_bags(rng, 30, 1));
  const auto lower_and_wider = [&](double less, double more) {
    data.bags.noise.assign(data.bags.size(), 0.05);
    data.bags.noise[4] = less;
    const NoiseTerms first = noise_terms(data, {})[4];
    data.bags.noise[4] = more;
    const NoiseTerms second = noise_terms(data, {})[4];
    CHECK(second.weight < first.weight);
    CHECK(second.widening >= first.widening);
    CHECK(second.weight > 0);
    CHECK(std::isfinite(second.widening));
  };
  lower_and_wider(0, 0.01);
  lower_and_wider(0.01, 0.2);
  lower_and_wider(0.2, 90);
  data.bags.noise.assign(data.bags.size(), 1e300);  // nothing is known of any bag: they stay alike
  for (const NoiseTerms& bag : noise_terms(data, {})) CHECK((bag.weight > 0 && std::isfinite(bag.weight)));
}

struct NoisyTask {
  Dataset test;
  ReducedBags source, target;
};

// Bags of random rows; three in four have shares off by little, the others by much.
ReducedBags noisy_bags(Dataset rows, std::uint64_t size, Rng& rng) {
  auto dealt = deal_bags(std::move(rows), size, rng);
  REQUIRE(dealt);
  auto bags = attach_proportions(std::move(dealt->instances), "generated", &dealt->proportions);
  REQUIRE(bags);
  ReducedBags out = reduce(*bags, 1);
  for (std::size_t k = 0; k < out.bags.size(); ++k) {
    out.bags.noise.push_back(k % 4 == 0 ? 0.5 : 0.02);
    double& p = out.bags.proportions[k];
    p = std::clamp(p + out.bags.noise[k] * rng.normal(), 0.0, 1.0);
  }
  return out;
}

NoisyTask noisy_task(std::uint64_t seed) {
  GeneratorOptions how = generator_preset(GeneratorKind::kGaussian, GeneratorPreset::kRelated, seed);
  how.features = 20;
  how.source_rows = 800;
  how.target_rows = 400;
  how.test_rows = 2000;
  auto made = generate(how);
  REQUIRE(made);
  Rng rng(seed, 9);
  NoisyTask out;
  out.test = std::move(made->test);
  out.source = noisy_bags(std::move(made->source), 16, rng);
  out.target = noisy_bags(std::move(made->target), 8, rng);
  return out;
}

double accuracy(const Model& model, const Dataset& test) {
  const Scorer scorer(model, model.tasks.size() - 1);
  const auto f = scorer.scores(test.features.view(), 1);
  std::size_t right = 0;
  for (std::size_t i = 0; i < f.size(); ++i) right += (f[i] > 0) == (test.labels[i] > 0) ? 1U : 0U;
  return static_cast<double>(right) / static_cast<double>(f.size());
}

TEST_CASE("calibration: minding the noise of shares beats ignoring it", "[methods][calibration]") {
  constexpr std::uint64_t kSeeds = 10;
  double minded = 0, ignored = 0, minded_transfer = 0, ignored_transfer = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    NoisyTask task = noisy_task(seed);
    for (const bool mind : {true, false}) {
      if (!mind) task.source.bags.noise.clear(), task.target.bags.noise.clear();
      const auto alone = fit_inv_cal({"target", task.target}, {}, {});
      REQUIRE(alone);
      (mind ? minded : ignored) += accuracy(alone->model, task.test) / kSeeds;
      const TrainingTask both[] = {{"source", task.source}, {"target", task.target}};
      const auto transfer = fit_tl_llp(both, {}, {});
      REQUIRE(transfer);
      (mind ? minded_transfer : ignored_transfer) += accuracy(transfer->model, task.test) / kSeeds;
    }
  }
  CAPTURE(minded, ignored, minded_transfer, ignored_transfer);
  CHECK(minded > ignored + 0.01);
  CHECK(minded_transfer > ignored_transfer + 0.005);
}

}  // namespace
}  // namespace bagwise
