#include "bagwise/evaluate/rank_statistics.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "bagwise/core/random.h"

namespace bagwise {
namespace {

std::vector<CaseScores> known(const std::vector<std::vector<double>>& cases) {
  std::vector<CaseScores> out;
  for (const auto& one_case : cases) out.emplace_back(one_case.begin(), one_case.end());
  return out;
}

// Table 6 of Demsar (2006): four forms of C4.5 on 14 sets. On "voting" he ranks what rounding made equal.
const std::vector<std::vector<double>> kDemsar = {
    {0.763, 0.768, 0.771, 0.798},  {0.599, 0.591, 0.590, 0.569}, {0.954, 0.971, 0.968, 0.967},
    {0.628, 0.661, 0.654, 0.657},  {0.882, 0.888, 0.886, 0.898}, {0.936, 0.931, 0.916, 0.931},
    {0.661, 0.668, 0.609, 0.685},  {0.583, 0.583, 0.563, 0.625}, {0.775, 0.838, 0.866, 0.875},
    {1.000, 1.000, 1.000, 1.000},  {0.940, 0.962, 0.965, 0.962}, {0.619, 0.666, 0.614, 0.669},
    {0.972, 0.981, 0.975, 0.9749}, {0.957, 0.978, 0.946, 0.970}};

// Scores out of a few values, so that ties are common.
std::vector<CaseScores> random_cases(Rng& rng, std::size_t cases, std::size_t methods) {
  std::vector<CaseScores> out(cases);
  for (CaseScores& one_case : out) {
    for (std::size_t j = 0; j < methods; ++j) one_case.emplace_back(static_cast<double>(rng.below(6)) / 10);
  }
  return out;
}

// 1 + how many are better + half of how many others are as good.
double counted_rank(const CaseScores& one_case, std::size_t j) {
  double rank = 1;
  for (std::size_t i = 0; i < one_case.size(); ++i) {
    if (i == j) continue;
    rank += *one_case[i] > *one_case[j] ? 1.0 : *one_case[i] == *one_case[j] ? 0.5 : 0.0;
  }
  return rank;
}

// The integral of a density over [from, to] by Simpson's rule.
template <class F>
double integral(const F& f, double from, double to, int steps = 20000) {
  const double h = (to - from) / steps;
  double sum = f(from) + f(to);
  for (int i = 1; i < steps; ++i) sum += (i % 2 == 1 ? 4 : 2) * f(from + i * h);
  return sum * h / 3;
}

}  // namespace

TEST_CASE("rank_statistics: Demsar's example comes out as he prints it",
          "[evaluate][rank_statistics][known]") {
  const RankTest found = compare_ranks(known(kDemsar));
  REQUIRE(found.cases == 14);
  const std::vector<double> ranks = {3.143, 2.000, 2.893, 1.964};
  for (std::size_t j = 0; j < 4; ++j) CHECK(found.mean_ranks[j] == Approx(ranks[j]).margin(0.0005));
  REQUIRE(found.tests);
  // His chi-square of 9.28 has no correction for ties: three pairs and one case of four.
  const double ties = 1 - (3 * 6 + 60) / (14.0 * 60);
  CHECK(found.tests->friedman * ties == Approx(9.28).margin(0.005));
  const double plain = found.tests->friedman * ties;
  CHECK(13 * plain / (14 * 3 - plain) == Approx(3.69).margin(0.005));
  CHECK(found.tests->iman_davenport == Approx(13 * found.tests->friedman / (14 * 3 - found.tests->friedman)));
  CHECK(fisher_upper(2.85, 3, 39) == Approx(0.05).margin(0.0005));  // his critical value
  CHECK(found.tests->critical_difference == Approx(1.25).margin(0.005));
  CHECK(compare_ranks(known(kDemsar), 0.10).tests->critical_difference == Approx(1.12).margin(0.005));
  // At 0.10 the first form differs from the second and the last, and the third is like either.
  CHECK(compare_ranks(known(kDemsar), 0.10).tests->alike ==
        std::vector<std::vector<std::size_t>>{{3, 1, 2}, {2, 0}});
}

TEST_CASE("rank_statistics: Nemenyi's quantiles are those of the published table",
          "[evaluate][rank_statistics][known]") {
  // Demsar (2006), table 5 (a); the last digit there is cut off or rounded.
  const double at_05[] = {1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164};
  const double at_10[] = {1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920};
  for (std::size_t k = 2; k <= 10; ++k) {
    CHECK(nemenyi_quantile(k, 0.05) == Approx(at_05[k - 2]).margin(0.00101));
    CHECK(nemenyi_quantile(k, 0.10) == Approx(at_10[k - 2]).margin(0.00101));
  }
  // Two methods: a two-sided test of one difference.
  CHECK(nemenyi_quantile(2, 0.05) == Approx(1.959963984540054).epsilon(1e-12));
}

TEST_CASE("rank_statistics: ranks are what counting the better ones gives", "[evaluate][rank_statistics]") {
  Rng rng(7);
  for (int round = 0; round < 200; ++round) {
    const std::size_t methods = 2 + rng.below(5), cases = 2 + rng.below(8);
    const auto scores = random_cases(rng, cases, methods);
    const RankTest found = compare_ranks(scores);
    REQUIRE(found.cases == cases);
    REQUIRE(found.tests);
    // Friedman's test from the ranks one by one: an analysis of variance between methods.
    const double k = static_cast<double>(methods), n = static_cast<double>(cases);
    double between = 0, all = 0;
    for (std::size_t j = 0; j < methods; ++j) {
      double sum = 0;
      for (const CaseScores& one_case : scores) {
        const double rank = counted_rank(one_case, j);
        sum += rank;
        all += (rank - (k + 1) / 2) * (rank - (k + 1) / 2);
      }
      CHECK(found.mean_ranks[j] == Approx(sum / n));
      between += n * std::pow(sum / n - (k + 1) / 2, 2);
    }
    if (all == 0) {
      CHECK(found.tests->friedman == 0);
      CHECK(found.tests->friedman_p == 1);
      continue;
    }
    CHECK(found.tests->friedman == Approx(between / (all / (n * (k - 1)))).margin(1e-9));
    // Two methods are alike if and only if some group has both.
    for (std::size_t a = 0; a < methods; ++a) {
      for (std::size_t b = a + 1; b < methods; ++b) {
        const auto& groups = found.tests->alike;
        const bool together = std::any_of(groups.begin(), groups.end(), [&](const auto& group) {
          return std::count(group.begin(), group.end(), a) + std::count(group.begin(), group.end(), b) == 2;
        });
        CHECK(together ==
              (std::abs(found.mean_ranks[a] - found.mean_ranks[b]) < found.tests->critical_difference));
      }
    }
  }
}

TEST_CASE("rank_statistics: cases that lack a method are left out and counted",
          "[evaluate][rank_statistics]") {
  auto cases = known({{0.9, 0.8}, {0.7, 0.6}, {0.5, 0.6}});
  cases.push_back({0.1, std::nullopt});
  cases.push_back({std::nullopt, std::nullopt});
  const RankTest found = compare_ranks(cases);
  CHECK(found.cases == 3);
  CHECK(found.left_out == 1);
  CHECK(found.mean_ranks[0] == Approx(4.0 / 3));
  CHECK(compare_ranks({}).cases == 0);
  CHECK(compare_ranks({}).mean_ranks.empty());
  // One case or one method gives ranks, but nothing to test.
  CHECK_FALSE(compare_ranks(known({{0.9, 0.8}})).tests);
  CHECK(compare_ranks(known({{0.9, 0.8}})).mean_ranks == std::vector<double>{1, 2});
  CHECK_FALSE(compare_ranks(known({{0.9}, {0.8}})).tests);
}

TEST_CASE("rank_statistics: cases that all agree are as clear as can be", "[evaluate][rank_statistics]") {
  const RankTest found = compare_ranks(known({{3, 2, 1}, {6, 5, 4}, {9, 8, 7}}));
  REQUIRE(found.tests);
  CHECK(found.tests->friedman == Approx(6));
  CHECK(std::isinf(found.tests->iman_davenport));
  CHECK(found.tests->iman_davenport_p == 0);
  const RankTest tied = compare_ranks(known({{1, 1, 1}, {2, 2, 2}}));
  CHECK(tied.tests->friedman == 0);
  CHECK(tied.tests->iman_davenport_p == 1);
  CHECK(tied.tests->alike == std::vector<std::vector<std::size_t>>{{0, 1, 2}});
  // What differs by rounding is a tie.
  CHECK(ranks_of(std::vector<double>{0.1 + 0.2, 0.3, 0.2}) == std::vector<double>{1.5, 1.5, 3});
}

TEST_CASE("rank_statistics: tails of distributions agree with integrals of their densities",
          "[evaluate][rank_statistics]") {
  for (const double x : {0.3, 2.0, 9.28}) {
    for (const std::size_t freedom : {2, 3, 4, 7, 10}) {
      const double half = static_cast<double>(freedom) / 2;
      const double below = integral(
          [&](double r) {  // with x = r^2, that the density has no pole
            return r <= 0 ? 0.0
                          : 2 * std::exp((2 * half - 1) * std::log(r) - r * r / 2 - std::lgamma(half)) /
                                std::pow(2.0, half);
          },
          0, std::sqrt(x));
      CHECK(chi_square_upper(x, freedom) == Approx(1 - below).margin(1e-9));
    }
  }
  CHECK(chi_square_upper(3.841458820694124, 1) == Approx(0.05).epsilon(1e-10));
  for (const double f : {0.2, 1.0, 3.69, 20.0}) {
    for (const double a : {2.0, 3.0, 4.0}) {
      for (const double b : {4.0, 39.0, 212.0}) {
        const double scale = std::exp(std::lgamma((a + b) / 2) - std::lgamma(a / 2) - std::lgamma(b / 2)) *
                             std::pow(a / b, a / 2);
        const double below = integral(
            [&](double t) { return scale * std::pow(t, a / 2 - 1) * std::pow(1 + a * t / b, -(a + b) / 2); },
            0, f, 400000);
        CHECK(fisher_upper(f, a, b) == Approx(1 - below).margin(1e-7));
      }
    }
  }
  CHECK(chi_square_upper(0, 3) == 1);
  CHECK(fisher_upper(0, 3, 4) == 1);
}

TEST_CASE("rank_statistics: the range of normal numbers is what drawing them gives",
          "[evaluate][rank_statistics]") {
  Rng rng(3);
  constexpr int kDraws = 20000;
  for (const std::size_t k : {2, 5}) {
    int below = 0;
    for (int i = 0; i < kDraws; ++i) {
      double least = rng.normal(), largest = least;
      for (std::size_t j = 1; j < k; ++j) {
        const double z = rng.normal();
        least = std::min(least, z);
        largest = std::max(largest, z);
      }
      below += largest - least <= 2.5 ? 1 : 0;
    }
    CHECK(normal_range_below(2.5, k) == Approx(static_cast<double>(below) / kDraws).margin(0.015));
  }
  // Two numbers: their difference has variance 2.
  CHECK(normal_range_below(1, 2) == Approx(std::erf(0.5)).epsilon(1e-13));
  CHECK(normal_range_below(0, 4) == 0);
  CHECK(normal_range_below(40, 4) == Approx(1).epsilon(1e-13));
}

TEST_CASE("rank_statistics: paired differences count what both have", "[evaluate][rank_statistics]") {
  const CaseScores a = {0.9, 0.8, std::nullopt, 0.7, 0.1 + 0.2}, b = {0.8, 0.9, 0.5, std::nullopt, 0.3};
  const PairedDifference found = compare_pairs(a, b);
  CHECK(found.difference.count == 3);
  CHECK(found.wins == 1);
  CHECK(found.losses == 1);
  CHECK(found.ties == 1);
  CHECK(found.difference.mean == Approx(0).margin(1e-15));
  CHECK(found.difference.deviation == Approx(0.1));
  CHECK(found.difference.error() == Approx(0.1 / std::sqrt(3.0)));
  CHECK_FALSE(found.clearly_below());

  const auto difference = [](const CaseScores& from) {
    return compare_pairs(from, CaseScores(from.size(), 0.0));
  };
  CHECK(difference({-0.03, -0.02, -0.04}).clearly_below());
  CHECK(difference({0.03, 0.02, 0.04}).clearly_above());
  CHECK_FALSE(difference({-0.03, 0.02, -0.04}).clearly_below());
  CHECK_FALSE(difference({-0.03, -0.02, 0.005}).clearly_below());  // 1.4 standard errors
  CHECK(difference({-0.01, -0.01}).clearly_below());               // without any spread
  CHECK_FALSE(difference({0.0, 0.0}).clearly_below());
  CHECK_FALSE(difference({-0.5}).clearly_below());  // one number tells nothing of its error
  CHECK(sample_mean({}).count == 0);
  CHECK(sample_mean(std::vector<double>{4}).error() == 0);
}

}  // namespace bagwise
