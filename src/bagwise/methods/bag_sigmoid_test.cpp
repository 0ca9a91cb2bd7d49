#include "bagwise/methods/bag_sigmoid.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "bagwise/core/random.h"

namespace bagwise {
namespace {

struct ScoredBags {
  std::vector<double> scores;
  std::vector<std::size_t> start = {0};
  std::vector<double> proportions;

  void add(const std::vector<double>& bag, double proportion) {
    scores.insert(scores.end(), bag.begin(), bag.end());
    start.push_back(scores.size());
    proportions.push_back(proportion);
  }
  [[nodiscard]] Probability fit() const { return fit_bag_sigmoid(scores, start, proportions); }
};

long double spread(const ScoredBags& bags) {
  long double mean = 0, sum = 0;
  for (const double f : bags.scores) mean += f;
  mean /= static_cast<long double>(bags.scores.size());
  for (const double f : bags.scores) sum += std::abs(f - mean);
  return sum / static_cast<long double>(bags.scores.size());
}

// The header's formula, word by word, in long double: the problem's value at a sigmoid, with the sign turned.
long double loss(const ScoredBags& bags, long double slope, long double offset) {
  long double positives = 0, negatives = 0, sum = 0;
  for (std::size_t k = 0; k < bags.proportions.size(); ++k) {
    const auto n = static_cast<long double>(bags.start[k + 1] - bags.start[k]);
    positives += n * bags.proportions[k];
    negatives += n * (1 - bags.proportions[k]);
  }
  const long double high = (positives + 1) / (positives + 2), low = 1 / (negatives + 2);
  for (std::size_t k = 0; k < bags.proportions.size(); ++k) {
    const auto n = static_cast<long double>(bags.start[k + 1] - bags.start[k]);
    if (n == 0) continue;
    long double q = 0, rest = 0;
    for (std::size_t i = bags.start[k]; i < bags.start[k + 1]; ++i) {
      q += 1 / (1 + std::exp(-(slope * bags.scores[i] + offset))) / n;
      rest += 1 / (1 + std::exp(slope * bags.scores[i] + offset)) / n;
    }
    const long double p = bags.proportions[k], t = p * high + (1 - p) * low;
    sum -= n * (t * std::log(q) + (1 - t) * std::log(rest));
  }
  const long double standard = slope * spread(bags) / 10;
  return sum + standard * standard / 2;
}

long double loss(const ScoredBags& bags, const Probability& at) { return loss(bags, at.slope, at.offset); }

// Scores that tell the class more or less, labels drawn from a sigmoid of them.
ScoredBags random_scored_bags(Rng& rng, std::size_t bags, std::uint64_t largest, double steepness) {
  ScoredBags out;
  for (std::size_t k = 0; k < bags; ++k) {
    const std::uint64_t size = 1 + rng.below(largest);
    const double lean = 2 * rng.normal();
    std::vector<double> scores;
    double positives = 0;
    for (std::uint64_t i = 0; i < size; ++i) {
      scores.push_back(lean + rng.normal());
      if (rng.uniform() < 1 / (1 + std::exp(-(steepness * scores.back() - 0.7)))) ++positives;
    }
    out.add(scores, positives / static_cast<double>(size));
  }
  return out;
}

// The lowest loss on a grid of slopes and of scores where the probability is one half.
long double lowest_on_grid(const ScoredBags& bags) {
  const auto [least, most] = std::minmax_element(bags.scores.begin(), bags.scores.end());
  long double lowest = std::numeric_limits<long double>::infinity();
  for (long double slope = 1e-3L / spread(bags); slope < 200; slope *= 1.5L) {
    for (int step = -20; step <= 80; ++step) {
      const long double middle = *least + (*most - *least) * step / 60;
      lowest = std::min(lowest, loss(bags, slope, -slope * middle));
    }
  }
  return lowest;
}

TEST_CASE("bag_sigmoid: no point of a fine grid is better", "[methods][bag_sigmoid]") {
  Rng rng(1);
  for (const double steepness : {0.0, 0.5, 2.0, 30.0, -1.0}) {
    for (const std::uint64_t largest : {1U, 2U, 5U, 20U}) {
      CAPTURE(steepness, largest);
      const ScoredBags bags = random_scored_bags(rng, 12, largest, steepness);
      const Probability fitted = bags.fit();
      CHECK(fitted.slope > 0);
      CHECK(loss(bags, fitted) <= lowest_on_grid(bags) * (1 + 1e-9L));
    }
  }
}

TEST_CASE("bag_sigmoid: differences of the loss vanish at the fit", "[methods][bag_sigmoid]") {
  Rng rng(2);
  for (const std::uint64_t largest : {1U, 4U, 16U}) {
    const ScoredBags bags = random_scored_bags(rng, 40, largest, 1.5);
    const Probability at = bags.fit();
    const long double h = 1e-5;
    const long double along_slope = loss(bags, at.slope + h, at.offset) - loss(bags, at.slope - h, at.offset);
    const long double along_offset =
        loss(bags, at.slope, at.offset + h) - loss(bags, at.slope, at.offset - h);
    CHECK(std::abs(along_slope / (2 * h)) < 1e-6);
    CHECK(std::abs(along_offset / (2 * h)) < 1e-6);
  }
}

TEST_CASE("bag_sigmoid: bags of one get Platt's sigmoid", "[methods][bag_sigmoid]") {
  // Two scores, three rows of each label at each: by symmetry slope 0 would be right but for the prior's
  // pull, and with all of one label at each score the sigmoid meets Platt's targets (N + 1)/(N + 2) = 4/5.
  ScoredBags bags;
  for (int i = 0; i < 3; ++i) bags.add({2.0}, 1), bags.add({-2.0}, 0);
  const Probability at = bags.fit();
  CHECK(at.of(2) == Approx(0.8).margin(0.005));
  CHECK(at.of(-2) == Approx(0.2).margin(0.005));
  CHECK(at.offset == Approx(0).margin(1e-9));
}

TEST_CASE("bag_sigmoid: probabilities add up to the positives there are", "[methods][bag_sigmoid]") {
  Rng rng(3);
  const ScoredBags bags = random_scored_bags(rng, 300, 1, 2);
  const Probability at = bags.fit();
  double expected = 0, sum = 0;
  for (std::size_t i = 0; i < bags.scores.size(); ++i) {
    expected += bags.proportions[i];
    sum += at.of(bags.scores[i]);
  }
  CHECK(sum == Approx(expected).margin(1));
}

TEST_CASE("bag_sigmoid: the unit and the zero of the scores do not matter", "[methods][bag_sigmoid]") {
  Rng rng(4);
  const ScoredBags bags = random_scored_bags(rng, 50, 6, 1);
  const Probability plain = bags.fit();
  for (const double unit : {1e-290, 1e-3, 7.0, 1e8, 1e290}) {
    for (const double shift : {0.0, 3.0}) {
      CAPTURE(unit, shift);
      ScoredBags other = bags;
      for (double& f : other.scores) f = unit * (f + shift);
      const Probability at = other.fit();
      for (std::size_t i = 0; i < bags.scores.size(); ++i)
        CHECK(at.of(other.scores[i]) == Approx(plain.of(bags.scores[i])).epsilon(1e-7));
    }
  }
}

TEST_CASE("bag_sigmoid: the order of rows and bags does not matter", "[methods][bag_sigmoid]") {
  Rng rng(5);
  const ScoredBags bags = random_scored_bags(rng, 60, 8, 1);
  ScoredBags other;
  for (std::size_t k = bags.proportions.size(); k-- > 0;) {
    std::vector<double> bag(bags.scores.begin() + static_cast<std::ptrdiff_t>(bags.start[k]),
                            bags.scores.begin() + static_cast<std::ptrdiff_t>(bags.start[k + 1]));
    shuffle(std::span(bag), rng);
    other.add(bag, bags.proportions[k]);
  }
  const Probability a = bags.fit(), b = other.fit(), again = bags.fit();
  CHECK(a.slope == Approx(b.slope).epsilon(1e-8));
  CHECK(a.offset == Approx(b.offset).epsilon(1e-8));
  CHECK((a.slope == again.slope && a.offset == again.offset));
}

TEST_CASE("bag_sigmoid: whatever the scores, the sigmoid is finite and rises", "[methods][bag_sigmoid]") {
  const auto check = [](const ScoredBags& bags) {
    const Probability at = bags.fit();
    CHECK(std::isfinite(at.slope));
    CHECK(std::isfinite(at.offset));
    CHECK(at.slope > 0);
    for (const double f : bags.scores) {
      CHECK(at.of(f) >= 0);
      CHECK(at.of(f) <= 1);
    }
    return at;
  };
  const double huge = std::numeric_limits<double>::max(), tiny = std::numeric_limits<double>::denorm_min();
  ScoredBags bags;
  CHECK(check(bags).slope == 1);  // no bags at all
  bags.add({}, 0.3);
  CHECK(check(bags).slope == 1);  // no rows
  for (const double constant : {0.0, 5.0, -1e300, huge, tiny}) {
    CAPTURE(constant);
    ScoredBags alike;
    alike.add({constant, constant}, 0.25);
    alike.add({constant}, 1);
    alike.add({}, 1);
    CHECK(check(alike).of(constant) == Approx(0.5).margin(0.05));  // the share over all rows
  }
  for (const double large : {1.0, 1e300, huge, tiny, 1e-300}) {
    for (const double p : {0.0, 0.5, 1.0}) {
      CAPTURE(large, p);
      ScoredBags one;
      one.add({-large, large, large / 2}, p);
      check(one);
      one.add({}, 0.9);
      one.add({large}, 1);
      one.add({-large}, 0);
      check(one);
      one.add({0, 1, -1}, 1 - p);
      check(one);
    }
  }
}

TEST_CASE("bag_sigmoid: bags that scores sort perfectly get a steep sigmoid", "[methods][bag_sigmoid]") {
  ScoredBags bags;
  for (int k = 0; k < 50; ++k) {
    bags.add({1.0, 0.9, -1.0}, 2.0 / 3);
    bags.add({1.1, -0.9, -1.2}, 1.0 / 3);
  }
  const Probability at = bags.fit();
  CHECK(at.of(0.9) > 0.95);
  CHECK(at.of(-0.9) < 0.05);
}

}  // namespace
}  // namespace bagwise
