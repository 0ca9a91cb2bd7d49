#include "bagwise/evaluate/bag_criteria.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "bagwise/core/random.h"
#include "bagwise/methods/bag_sigmoid.h"

namespace bagwise {
namespace {

struct Held {
  std::vector<double> scores;
  std::vector<std::size_t> start = {0};
  Bags bags;
};

// Bags of 0 to 6 rows; pure bags among them, and noise where asked.
Held random_held_out(Rng& rng, std::size_t bags, bool noise) {
  Held out;
  for (std::size_t k = 0; k < bags; ++k) {
    const std::size_t size = rng.below(7);
    for (std::size_t i = 0; i < size; ++i) out.scores.push_back(2 * rng.normal());
    out.start.push_back(out.scores.size());
    out.bags.names.push_back("b");
    out.bags.proportions.push_back(k % 4 == 0 ? 0 : k % 4 == 1 ? 1 : rng.uniform());
    if (noise) out.bags.noise.push_back(k % 3 == 0 ? 0 : rng.uniform());
  }
  return out;
}

double value_of(Criterion criterion, const Held& held, const Probability& probability = {}) {
  return criterion_value(criterion, held.scores, probability, held.start, held.bags);
}

long double sigmoid(long double z) { return 1 / (1 + std::exp(-z)); }

// The three formulas by plain loops.
long double slow_value(Criterion criterion, const Held& held, Probability probability) {
  if (criterion == Criterion::kLikelihood)
    probability = fit_bag_sigmoid(held.scores, held.start, held.bags.proportions);
  long double rows = 0, share = 0;
  for (std::size_t k = 0; k < held.bags.size(); ++k) {
    const auto size = static_cast<long double>(held.start[k + 1] - held.start[k]);
    rows += size;
    share += size * held.bags.proportions[k];
  }
  share /= rows;
  long double sum = 0;
  for (std::size_t k = 0; k < held.bags.size(); ++k) {
    long double size = 0, positives = 0, mean = 0;
    for (std::size_t i = held.start[k]; i < held.start[k + 1]; ++i) {
      size += 1;
      positives += held.scores[i] > 0 ? 1 : 0;
      mean += sigmoid(static_cast<long double>(probability.slope) * held.scores[i] + probability.offset);
    }
    if (size == 0) continue;
    mean /= size;
    const long double p = held.bags.proportions[k];
    long double trust = 1;
    if (!held.bags.noise.empty()) {
      const long double s = held.bags.noise[k], c = 1 / (2 * size + 2);
      const long double clipped = share < c ? c : share > 1 - c ? 1 - c : share;
      const long double v = clipped * (1 - clipped) / size;
      trust = v / (v + s * s);
    }
    long double off = 0;
    if (criterion == Criterion::kMiscount) off = std::abs(positives / size - p);
    if (criterion == Criterion::kSoftError) off = std::abs(mean - p);
    if (criterion == Criterion::kLikelihood) {
      if (p > 0) off += p * std::log(p / mean);
      if (p < 1) off += (1 - p) * std::log((1 - p) / (1 - mean));
    }
    sum += trust * size * off;
  }
  return sum;
}

TEST_CASE("bag_criteria: the values are those of the stated formulas", "[evaluate][bag_criteria]") {
  Rng rng(1);
  for (int round = 0; round < 60; ++round) {
    const Held held = random_held_out(rng, 1 + rng.below(12), round % 2 == 0);
    const Probability probability{0.2 + rng.uniform(), rng.normal()};
    for (const Criterion criterion : {Criterion::kMiscount, Criterion::kSoftError, Criterion::kLikelihood}) {
      const double value = value_of(criterion, held, probability);
      CAPTURE(round, static_cast<int>(criterion));
      CHECK(value == Approx(static_cast<double>(slow_value(criterion, held, probability))).margin(1e-9));
      CHECK(value >= 0);
    }
  }
}

TEST_CASE("bag_criteria: scores that agree with every bag cost nothing", "[evaluate][bag_criteria]") {
  const Held held{{-1, 2, -3, 4, 5, -6}, {0, 2, 2, 5, 6}, {{"a", "b", "c", "d"}, {0.5, 0.3, 2.0 / 3, 0}}};
  CHECK(value_of(Criterion::kMiscount, held) == 0);
  // A probability of one half everywhere agrees with shares of one half.
  const Held even{{0.3, -2, 7}, {0, 1, 3}, {{"a", "b"}, {0.5, 0.5}}};
  CHECK(value_of(Criterion::kSoftError, even, {0, 0}) == 0);
  CHECK(value_of(Criterion::kLikelihood, even) == Approx(0).margin(1e-3));
}

TEST_CASE("bag_criteria: a miscount is a number of rows, and order within a bag means nothing",
          "[evaluate][bag_criteria]") {
  Held held{{1, 2, 3, -1, 0, 5}, {0, 4, 6}, {{"a", "b"}, {0.25, 1}}};
  CHECK(value_of(Criterion::kMiscount, held) == Approx(2 + 1));  // a score of 0 is no positive
  std::swap(held.scores[0], held.scores[3]);
  CHECK(value_of(Criterion::kMiscount, held) == Approx(2 + 1));
}

TEST_CASE("bag_criteria: noise takes weight from a bag, the more the larger it is",
          "[evaluate][bag_criteria]") {
  CHECK(bag_trust(0.3, 10, 0) == 1);
  CHECK(bag_trust(0, 10, 0) == 1);
  CHECK(bag_trust(0.5, 4, 0.25) == Approx(0.5));  // as much noise as a share of four rows varies by
  double last = 1;
  for (const double noise : {0.01, 0.1, 1.0, 10.0}) {
    const double trust = bag_trust(0, 10, noise);  // a pure bag is no bag without variance
    CHECK(trust > 0);
    CHECK(trust < last);
    last = trust;
  }
  Held held{{1, 1}, {0, 1, 2}, {{"a", "b"}, {0, 1}}};
  held.bags.noise = {0, 0};
  CHECK(value_of(Criterion::kMiscount, held) == 1);
  held.bags.noise = {0.5, 0};
  CHECK(value_of(Criterion::kMiscount, held) == bag_trust(0.5, 1, 0.5));  // half of all rows are positive
}

TEST_CASE("bag_criteria: the likelihood is that of a sigmoid of its own, whatever the model's",
          "[evaluate][bag_criteria]") {
  Rng rng(5);
  const Held held = random_held_out(rng, 10, false);
  const double value = value_of(Criterion::kLikelihood, held, {1, 0});
  CHECK(value_of(Criterion::kLikelihood, held, {3, -2}) == value);
  CHECK(value_of(Criterion::kSoftError, held, {3, -2}) != value_of(Criterion::kSoftError, held, {1, 0}));
  // Scores far from any doubt, all of them wrong, are dear but not infinite.
  const Held wrong{{900, 900, -900, -900}, {0, 2, 4}, {{"a", "b"}, {0, 1}}};
  CHECK(std::isfinite(value_of(Criterion::kLikelihood, wrong)));
  CHECK(value_of(Criterion::kMiscount, wrong) == 4);
}

}  // namespace
}  // namespace bagwise
