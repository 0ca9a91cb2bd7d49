#include "bagwise/evaluate/metrics.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "bagwise/core/random.h"

namespace {

using bagwise::BagError;
using bagwise::label_metrics;
using bagwise::Rng;

struct Sample {
  std::vector<double> scores, probabilities;
  std::vector<std::int8_t> labels;
};

// Scores on a coarse grid, so that there are many ties.
Sample random_sample(std::size_t n, Rng& rng) {
  Sample s;
  for (std::size_t i = 0; i < n; ++i) {
    s.scores.push_back(static_cast<double>(rng.below(9)) - 4);
    s.probabilities.push_back(rng.below(5) == 0 ? static_cast<double>(rng.below(2)) : rng.uniform());
    s.labels.push_back(rng.below(3) == 0 ? 1 : -1);
  }
  return s;
}

double auc_over_all_pairs(const Sample& s) {
  double won = 0, pairs = 0;
  for (std::size_t i = 0; i < s.labels.size(); ++i) {
    for (std::size_t j = 0; j < s.labels.size(); ++j) {
      if (s.labels[i] <= 0 || s.labels[j] >= 0) continue;
      ++pairs;
      won += s.scores[i] > s.scores[j] ? 1 : s.scores[i] == s.scores[j] ? 0.5 : 0;
    }
  }
  return won / pairs;
}

}  // namespace

TEST_CASE("metrics: all agree with their definitions", "[evaluate][metrics]") {
  Rng rng(1);
  for (int repeat = 0; repeat < 100; ++repeat) {
    const Sample s = random_sample(2 + rng.below(60), rng);
    const auto m = label_metrics(s.scores, s.probabilities, s.labels);
    const std::size_t n = s.labels.size();
    double table[2][2] = {};  // label, prediction
    double log_loss = 0, brier = 0;
    for (std::size_t i = 0; i < n; ++i) {
      ++table[s.labels[i] > 0][s.scores[i] > 0];
      const double y = s.labels[i] > 0, p = std::min(std::max(s.probabilities[i], 1e-15), 1 - 1e-15);
      log_loss -= y * std::log(p) + (1 - y) * std::log(1 - p);
      brier += (s.probabilities[i] - y) * (s.probabilities[i] - y);
    }
    double calibration = 0;
    for (int bin = 0; bin < 10; ++bin) {
      double mean_p = 0, mean_y = 0, count = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const bool inside = std::min(9, static_cast<int>(s.probabilities[i] * 10)) == bin;
        if (!inside) continue;
        ++count;
        mean_p += s.probabilities[i];
        mean_y += s.labels[i] > 0;
      }
      if (count > 0)
        calibration += count / static_cast<double>(n) * std::abs(mean_p / count - mean_y / count);
    }
    const double positives = table[1][0] + table[1][1], negatives = table[0][0] + table[0][1];
    CHECK(m.rows == n);
    CHECK(static_cast<double>(m.positives) == positives);
    CHECK(m.accuracy == Approx((table[0][0] + table[1][1]) / static_cast<double>(n)));
    CHECK(m.log_loss == Approx(log_loss / static_cast<double>(n)).epsilon(1e-3));
    CHECK(m.brier == Approx(brier / static_cast<double>(n)));
    CHECK(m.calibration_error == Approx(calibration).margin(1e-14));
    CHECK(m.balanced_accuracy.has_value() == (positives > 0 && negatives > 0));
    CHECK(m.auc.has_value() == (positives > 0 && negatives > 0));
    if (positives > 0 && negatives > 0) {
      CHECK(*m.balanced_accuracy == Approx((table[1][1] / positives + table[0][0] / negatives) / 2));
      CHECK(*m.auc == Approx(auc_over_all_pairs(s)).epsilon(1e-14));
    }
    const double precision = table[1][1] / (table[1][1] + table[0][1]), recall = table[1][1] / positives;
    if (table[1][1] > 0) CHECK(m.f1.value() == Approx(2 * precision * recall / (precision + recall)));
  }
}

TEST_CASE("metrics: a perfect and a reversed ranking have AUC 1 and 0", "[evaluate][metrics][known]") {
  const std::vector<double> scores = {-2, -1, 1, 2}, p = {0.1, 0.2, 0.8, 0.9};
  const std::vector<std::int8_t> right = {-1, -1, 1, 1}, wrong = {1, 1, -1, -1};
  CHECK(label_metrics(scores, p, right).auc == 1);
  CHECK(label_metrics(scores, p, right).f1 == 1);
  CHECK(label_metrics(scores, p, wrong).auc == 0);
  CHECK(label_metrics(scores, p, wrong).accuracy == 0);
  CHECK(label_metrics(scores, p, wrong).f1 == 0);
  const std::vector<double> flat(4, 0.0);
  CHECK(label_metrics(flat, p, right).auc == 0.5);
  CHECK(label_metrics(flat, p, right).accuracy == 0.5);  // a score of 0 is negative
}

TEST_CASE("metrics: log loss stays finite where a sure prediction is wrong", "[evaluate][metrics]") {
  const auto m =
      label_metrics(std::vector<double>{-1, 1}, std::vector<double>{0, 1}, std::vector<std::int8_t>{1, -1});
  CHECK(m.log_loss == Approx(-std::log(1e-15)).epsilon(1e-3));
  CHECK(m.brier == 1);
  CHECK(m.calibration_error == 1);
}

TEST_CASE("metrics: what one class cannot tell is absent", "[evaluate][metrics]") {
  const std::vector<double> scores = {-1, -2}, p = {0.3, 0.2};
  const auto negative = label_metrics(scores, p, std::vector<std::int8_t>{-1, -1});
  CHECK(negative.accuracy == 1);
  CHECK_FALSE(negative.auc.has_value());
  CHECK_FALSE(negative.balanced_accuracy.has_value());
  CHECK_FALSE(negative.f1.has_value());
  const auto positive = label_metrics(scores, p, std::vector<std::int8_t>{1, 1});
  CHECK_FALSE(positive.auc.has_value());
  CHECK(positive.f1 == 0);
  const auto none = label_metrics({}, {}, {});
  CHECK(none.rows == 0);
  CHECK(none.accuracy == 0);
}

TEST_CASE("metrics: rows without a label are passed over", "[evaluate][metrics]") {
  Rng rng(2);
  Sample s = random_sample(50, rng);
  const auto before = label_metrics(s.scores, s.probabilities, s.labels);
  for (int i = 0; i < 20; ++i) {
    s.scores.push_back(rng.normal());
    s.probabilities.push_back(rng.uniform());
    s.labels.push_back(0);
  }
  const auto after = label_metrics(s.scores, s.probabilities, s.labels);
  CHECK(after.rows == 50);
  CHECK(after.accuracy == before.accuracy);
  CHECK(after.auc == before.auc);
  CHECK(after.log_loss == before.log_loss);
  CHECK(after.calibration_error == before.calibration_error);
}

TEST_CASE("metrics: bag errors are averaged, the miscount is summed", "[evaluate][metrics][known]") {
  const auto m =
      bagwise::proportion_metrics({BagError{"a", 4, 0.5, 0.75, 0.6}, BagError{"b", 10, 0.2, 0.1, 0.25}});
  CHECK(m.mean_error == Approx(0.175));
  CHECK(m.mean_soft_error == Approx(0.075));
  CHECK(m.miscount == Approx(2));
  REQUIRE(m.bags.size() == 2);
  CHECK(m.bags[1].bag == "b");
  const auto none = bagwise::proportion_metrics({});
  CHECK(none.mean_error == 0);
  CHECK(none.miscount == 0);
}

TEST_CASE("metrics: the shares of bags are those of counting bag by bag", "[evaluate][metrics]") {
  Rng rng(7);
  const Sample s = random_sample(60, rng);
  std::vector<std::uint32_t> bag_of_row;
  for (std::size_t i = 0; i < 60; ++i) bag_of_row.push_back(static_cast<std::uint32_t>(rng.below(4)));
  const std::vector<double> known = {0, 0.25, 0.5, 1, 0.75};  // the last has no row
  const auto with = bagwise::bag_errors(s.scores, s.probabilities, bag_of_row, known);
  const auto without = bagwise::bag_errors(s.scores, {}, bag_of_row, known);
  REQUIRE(with.size() == 5);
  for (std::size_t k = 0; k < 5; ++k) {
    double rows = 0, hard = 0, soft = 0;
    for (std::size_t i = 0; i < 60; ++i) {
      if (bag_of_row[i] != k) continue;
      rows += 1;
      hard += s.scores[i] > 0 ? 1 : 0;
      soft += s.probabilities[i];
    }
    CHECK(static_cast<double>(with[k].rows) == rows);
    CHECK(with[k].known == known[k]);
    CHECK(with[k].hard == (rows > 0 ? hard / rows : 0));
    CHECK(with[k].soft == Approx(rows > 0 ? soft / rows : 0));
    CHECK(without[k].hard == with[k].hard);
    CHECK(without[k].soft == 0);
  }
}
