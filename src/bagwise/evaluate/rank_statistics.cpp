#include "bagwise/evaluate/rank_statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "bagwise/evaluate/diagnosis_statistics.h"

namespace bagwise {
namespace {

// Indices 0.. by what a function makes of them, the smallest first.
template <class Key>
std::vector<std::size_t> order_by(std::size_t count, const Key& key) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

// The largest stretches of methods, by mean rank, whose ends are less than `distance` apart.
std::vector<std::vector<std::size_t>> groups_within(const std::vector<double>& mean_ranks, double distance) {
  const auto order = order_by(mean_ranks.size(), [&](std::size_t j) { return mean_ranks[j]; });
  std::vector<std::vector<std::size_t>> groups;
  std::size_t reached = 0;  // the end of the last group
  for (std::size_t first = 0; first < order.size(); ++first) {
    std::size_t end = first + 1;
    while (end < order.size() && mean_ranks[order[end]] - mean_ranks[order[first]] < distance) ++end;
    if (end - first > 1 && end > reached) {
      groups.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(first),
                          order.begin() + static_cast<std::ptrdiff_t>(end));
    }
    reached = std::max(reached, end);
  }
  return groups;
}

// The regularised incomplete beta function I_x(a, b) by its continued fraction (Lentz), for x below
// (a + 1)/(a + b + 2), where some tens of terms are enough.
double beta_by_fraction(double x, double a, double b) {
  const double front =
      std::exp(a * std::log(x) + b * std::log1p(-x) + std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b)) /
      a;
  constexpr double kTiny = 1e-300;
  const auto away_from_0 = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1, d = 1 / away_from_0(1 - (a + b) * x / (a + 1));
  double value = d;
  for (int m = 1; m <= 10000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double step = 1;
    for (const double term : {even, odd}) {
      d = 1 / away_from_0(1 + term * d);
      c = away_from_0(1 + term / c);
      step = d * c;
      value *= step;
    }
    if (std::abs(step - 1) < 1e-15) break;
  }
  return front * value;
}

double incomplete_beta(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  return x < (a + 1) / (a + b + 2) ? beta_by_fraction(x, a, b) : 1 - beta_by_fraction(1 - x, b, a);
}

RankTest::Tests test_ranks(const std::vector<double>& mean_ranks, double squares, double cases,
                           double alpha) {
  const auto k = static_cast<double>(mean_ranks.size());
  RankTest::Tests out;
  double between = 0;
  for (const double rank : mean_ranks) between += std::pow(cases * (rank - (k + 1) / 2), 2);
  const double within = squares - cases * k * (k + 1) * (k + 1) / 4;
  // Ranks are halves of whole numbers: what is smaller is rounding, and all methods tie in all cases.
  if (within > 0.1) out.friedman = (k - 1) * between / within;
  out.friedman_p = chi_square_upper(out.friedman, mean_ranks.size() - 1);
  const double rest = cases * (k - 1) - out.friedman;
  out.iman_davenport =
      rest > 1e-9 * cases * k ? (cases - 1) * out.friedman / rest : std::numeric_limits<double>::infinity();
  out.iman_davenport_p = fisher_upper(out.iman_davenport, k - 1, (k - 1) * (cases - 1));
  out.critical_difference = nemenyi_quantile(mean_ranks.size(), alpha) * std::sqrt(k * (k + 1) / (6 * cases));
  out.alike = groups_within(mean_ranks, out.critical_difference);
  return out;
}

}  // namespace

std::vector<double> ranks_of(std::span<const double> scores) {
  const auto order = order_by(scores.size(), [&](std::size_t j) { return -scores[j]; });
  std::vector<double> ranks(scores.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t end = first + 1;
    while (end < order.size() && scores[order[end - 1]] - scores[order[end]] < kTiedScores) ++end;
    for (std::size_t i = first; i < end; ++i) ranks[order[i]] = static_cast<double>(first + 1 + end) / 2;
    first = end;
  }
  return ranks;
}

RankTest compare_ranks(const std::vector<CaseScores>& cases, double alpha) {
  RankTest out;
  double squares = 0;
  std::vector<double> scores;
  for (const CaseScores& one_case : cases) {
    scores.clear();
    for (const std::optional<double>& score : one_case) {
      if (score) scores.push_back(*score);
    }
    if (scores.empty()) continue;
    if (scores.size() < one_case.size()) {
      ++out.left_out;
      continue;
    }
    ++out.cases;
    out.mean_ranks.resize(scores.size());
    const std::vector<double> ranks = ranks_of(scores);
    for (std::size_t j = 0; j < ranks.size(); ++j) {
      out.mean_ranks[j] += ranks[j];
      squares += ranks[j] * ranks[j];
    }
  }
  const auto n = static_cast<double>(out.cases);
  for (double& rank : out.mean_ranks) rank /= n;
  if (out.cases > 1 && out.mean_ranks.size() > 1) out.tests = test_ranks(out.mean_ranks, squares, n, alpha);
  return out;
}

double SampleMean::error() const { return count > 0 ? deviation / std::sqrt(static_cast<double>(count)) : 0; }

SampleMean sample_mean(std::span<const double> values) {
  SampleMean out{.count = values.size()};
  if (values.empty()) return out;
  const auto n = static_cast<double>(values.size());
  out.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  if (values.size() == 1) return out;
  double squares = 0;
  for (const double v : values) squares += (v - out.mean) * (v - out.mean);
  out.deviation = std::sqrt(squares / (n - 1));
  return out;
}

bool PairedDifference::clearly_below() const {
  return difference.count > 1 && difference.mean < -2 * difference.error() - kTiedScores;
}
bool PairedDifference::clearly_above() const {
  return difference.count > 1 && difference.mean > 2 * difference.error() + kTiedScores;
}

PairedDifference compare_pairs(std::span<const std::optional<double>> a,
                               std::span<const std::optional<double>> b) {
  assert(a.size() == b.size());
  PairedDifference out;
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!a[i] || !b[i]) continue;
    const double difference = *a[i] - *b[i];
    differences.push_back(difference);
    ++(std::abs(difference) < kTiedScores ? out.ties : difference > 0 ? out.wins : out.losses);
  }
  out.difference = sample_mean(differences);
  return out;
}

// With y = x/2: an even number of degrees gives exp(-y) (1 + y + ... + y^(h-1)/(h-1)!), h = freedom/2, an odd
// one the same series in half powers after erfc(sqrt y).
double chi_square_upper(double x, std::size_t freedom) {
  if (x <= 0) return 1;
  const double y = x / 2;
  const bool odd = freedom % 2 == 1;
  double sum = odd ? std::erfc(std::sqrt(y)) : 0;
  for (double power = odd ? 0.5 : 0; power < static_cast<double>(freedom) / 2; ++power)
    sum += std::exp(power * std::log(y) - y - std::lgamma(power + 1));
  return std::min(sum, 1.0);
}

double fisher_upper(double f, double numerator, double denominator) {
  if (f <= 0) return 1;
  if (std::isinf(f)) return 0;
  return incomplete_beta(denominator / (denominator + numerator * f), denominator / 2, numerator / 2);
}

double normal_range_below(double q, std::size_t k) {
  if (q <= 0) return 0;
  // The integrand is smooth and 0 at both ends: the plain sum is exact to rounding from steps of 1/8 on.
  constexpr double kStep = 1.0 / 16, kFar = 9;
  const auto power = static_cast<double>(k - 1);
  double sum = 0;
  for (double z = -kFar; z <= kFar; z += kStep) {
    const double inside = normal_tail(z - q) - normal_tail(z);
    sum += std::exp(-z * z / 2) * std::pow(inside, power);
  }
  return static_cast<double>(k) * kStep * sum / std::sqrt(2 * std::numbers::pi);
}

double nemenyi_quantile(std::size_t k, double alpha) {
  assert(k > 1 && alpha > 0 && alpha < 1);
  double low = 0, high = 20;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (normal_range_below(middle, k) < 1 - alpha ? low : high) = middle;
  }
  return (low + high) / 2 / std::numbers::sqrt2;
}

}  // namespace bagwise
