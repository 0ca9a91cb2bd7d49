// Comparing methods over many cases: mean ranks with Friedman's and Nemenyi's tests, and paired differences.
//
// A case is what all methods were tried on alike: of an experiment, a data set with a bag size and a share of
// noise. Folds of one data set share their rows, so they are no cases of their own: what is ranked is the
// mean over folds. Even so cases of one data set are related, and the tests, which take them for independent,
// are a little too sure.
//
// See     Demsar (2006), Statistical comparisons of classifiers over multiple data sets.
// Test    rank_statistics_test.cpp has Demsar's example and tables, and counts ranks one by one.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace bagwise {

// Scores nearer than this are ties: they are means of quotients, which differ by rounding alone.
inline constexpr double kTiedScores = 1e-12;

// A score per method, the higher the better; none where the method has not been tried.
using CaseScores = std::vector<std::optional<double>>;

// Rank 1 for the highest; ties share the mean of their ranks.
std::vector<double> ranks_of(std::span<const double> scores);

// Mean ranks R_j of k methods over N cases, and whether they may be alike.
//
//   Friedman         X = (k - 1) sum_j (N R_j - N (k+1)/2)^2 / (sum_ij r_ij^2 - N k (k+1)^2 / 4)
//                    chi-square of k - 1 degrees; without ties 12 N / (k (k+1)) (sum_j R_j^2 - k (k+1)^2 / 4)
//   Iman, Davenport  F = (N - 1) X / (N (k - 1) - X), of k - 1 and (k - 1)(N - 1) degrees
//   Nemenyi          CD = q sqrt(k (k+1) / (6 N)): mean ranks that differ by CD or more differ
struct RankTest {
  std::size_t cases = 0;     // that have all methods: only they count
  std::size_t left_out = 0;  // cases that lack some, but not all
  std::vector<double> mean_ranks;
  // Only with two cases and two methods or more.
  struct Tests {
    double friedman = 0, friedman_p = 1;
    double iman_davenport = 0, iman_davenport_p = 1;  // infinite where all cases have the same ranks
    double critical_difference = 0;
    std::vector<std::vector<std::size_t>> alike;  // largest groups within the CD, of two or more, by rank
  };
  std::optional<Tests> tests;
};
RankTest compare_ranks(const std::vector<CaseScores>& cases, double alpha = 0.05);

// Mean of some numbers, their deviation (divided by one less than their number) and the mean's error.
struct SampleMean {
  std::size_t count = 0;
  double mean = 0, deviation = 0;
  [[nodiscard]] double error() const;  // deviation / sqrt(count)
};
SampleMean sample_mean(std::span<const double> values);  // all 0 where there are none

// a - b, where both are known. Between cases the spread is that over cases, within one that over folds.
struct PairedDifference {
  SampleMean difference;
  std::size_t wins = 0, ties = 0, losses = 0;  // of a

  // More than two standard errors below (above) 0: that needs two numbers at least.
  [[nodiscard]] bool clearly_below() const;
  [[nodiscard]] bool clearly_above() const;
};
PairedDifference compare_pairs(std::span<const std::optional<double>> a,
                               std::span<const std::optional<double>> b);

double chi_square_upper(double x, std::size_t freedom);               // P(chi-square > x), exact
double fisher_upper(double f, double numerator, double denominator);  // P(F > f)
// P(Q <= q) for the range Q of k standard normal numbers: k integral phi(z) (Phi(z) - Phi(z - q))^(k-1) dz.
double normal_range_below(double q, std::size_t k);
// The q of Nemenyi's test: the upper alpha point of that range, over sqrt 2.
double nemenyi_quantile(std::size_t k, double alpha);

}  // namespace bagwise
