#include "bagwise/methods/recalibrate.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "bagwise/core/random.h"
#include "bagwise/methods/scorer.h"

namespace bagwise {
namespace {

constexpr std::size_t kFeatures = 5;
constexpr double kHalf = 0.5;  // of the distance of the classes, along every feature

// Two normal classes, 0.5 and -0.5 in every feature with variance 1: the log-odds of a row are the sum of its
// values, so the true probability of every row is known.
struct NormalBags {
  BaggedData data;
  std::vector<double> truth;
};

NormalBags normal_bags(Rng& rng, std::size_t bags, std::size_t size) {
  NormalBags out;
  DenseRows rows(kFeatures);
  for (std::size_t j = 0; j < kFeatures; ++j) out.data.feature_names.push_back(fmt::format("x{}", j));
  for (std::size_t k = 0; k < bags; ++k) {
    int positives = 0;
    for (std::size_t i = 0; i < size; ++i) {
      const bool positive = rng.below(2) == 0;
      positives += positive ? 1 : 0;
      double* row = rows.append(1);
      double odds = 0;
      for (std::size_t j = 0; j < kFeatures; ++j) {
        row[j] = (positive ? kHalf : -kHalf) + rng.normal();
        odds += 2 * kHalf * row[j];
      }
      out.truth.push_back(1 / (1 + std::exp(-odds)));
      out.data.bag_of_row.push_back(static_cast<std::uint32_t>(k));
    }
    out.data.bags.names.push_back(fmt::format("{:04}", k));
    out.data.bags.proportions.push_back(positives / static_cast<double>(size));
  }
  out.data.features = Features(std::move(rows));
  return out;
}

// In ten equal bins of what is said: the distance between the mean said and the mean of the truth.
double calibration_error(const Model& model, const NormalBags& test) {
  const std::size_t last = model.tasks.size() - 1;
  const auto f = Scorer(model, last).scores(test.data.features.view(), 1);
  std::vector<double> off(10, 0);
  for (std::size_t i = 0; i < f.size(); ++i) {
    const double said = model.tasks[last].probability.of(f[i]);
    off[std::min<std::size_t>(9, static_cast<std::size_t>(10 * said))] += said - test.truth[i];
  }
  double sum = 0;
  for (const double d : off) sum += std::abs(d);
  return sum / static_cast<double>(f.size());
}

TEST_CASE("recalibrate: probabilities come near the true ones, nearer than before",
          "[methods][recalibrate]") {
  constexpr std::uint64_t kSeeds = 5;
  for (const char* name : {"inv-cal", "mean-map", "tl-llp"}) {
    double before = 0, after = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      Rng rng(seed);
      const NormalBags source = normal_bags(rng, 100, 8), target = normal_bags(rng, 100, 8);
      const NormalBags test = normal_bags(rng, 250, 8);
      const Method& method = *find_method(name);
      std::vector<TrainingTask> tasks;
      if (method.uses_sources) tasks.push_back({"source", reduce(source.data), &source.data});
      tasks.push_back({"target", reduce(target.data), &target.data});
      auto fit = method.fit(tasks, {}, {});
      REQUIRE(fit);
      before += calibration_error(fit->model, test) / kSeeds;
      recalibrate(fit->model, tasks, 1);
      after += calibration_error(fit->model, test) / kSeeds;
    }
    CAPTURE(name, before, after);
    CHECK(after < 0.05);
    CHECK(after < before);
  }
}

TEST_CASE("recalibrate: a task without rows keeps its sigmoid", "[methods][recalibrate]") {
  Rng rng(7);
  const NormalBags bags = normal_bags(rng, 20, 4);
  const TrainingTask task{"target", reduce(bags.data)};
  auto fit = find_method("inv-cal")->fit({&task, 1}, {}, {});
  REQUIRE(fit);
  recalibrate(fit->model, {&task, 1}, 1);
  CHECK(fit->model.tasks[0].probability.slope == 1);
  CHECK(fit->model.tasks[0].probability.offset == 0);
}

TEST_CASE("recalibrate: rows in any order give the sigmoid of rows by bag", "[methods][recalibrate]") {
  Rng rng(8);
  const Bags bags{{"a", "b", "c"}, {0.25, 0.5, 1}};
  std::vector<std::uint32_t> bag_of_row;
  std::vector<double> scores, grouped;
  for (int i = 0; i < 60; ++i) {
    bag_of_row.push_back(static_cast<std::uint32_t>(rng.below(3)));
    scores.push_back(rng.normal() + bag_of_row.back());
  }
  std::vector<std::size_t> start = {0};
  for (std::uint32_t k = 0; k < 3; ++k) {
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (bag_of_row[i] == k) grouped.push_back(scores[i]);
    }
    start.push_back(grouped.size());
  }
  const Probability expected = fit_bag_sigmoid(grouped, start, bags.proportions);
  const Probability got = fit_bag_sigmoid(scores, bag_of_row, bags);
  CHECK(got.slope == expected.slope);
  CHECK(got.offset == expected.offset);
}

}  // namespace
}  // namespace bagwise
