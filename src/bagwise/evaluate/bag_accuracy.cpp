#include "bagwise/evaluate/bag_accuracy.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <tuple>
#include <vector>

namespace bagwise {
namespace {

constexpr std::uint64_t kMostExactRows = 64;
constexpr double kEdge = 1e-6;  // shares are kept this far from 0 and 1

// Equal bags are looked at once.
struct BagKind {
  std::uint64_t positives = 0, negatives = 0, predicted = 0;
  double times = 0;
};

std::vector<BagKind> kinds_of(std::span<const CountedBag> bags) {
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, double> counted;
  for (const CountedBag& bag : bags) {
    const auto rows = static_cast<double>(bag.rows);
    const auto positives = static_cast<std::uint64_t>(std::clamp(std::round(bag.positives), 0.0, rows));
    counted[{positives, bag.rows - positives, bag.predicted}] += 1;
  }
  std::vector<BagKind> out;
  for (const auto& [kind, times] : counted)
    out.push_back({std::get<0>(kind), std::get<1>(kind), std::get<2>(kind), times});
  return out;
}

double log_binomial(std::uint64_t n, std::uint64_t k, double log_p, double log_q) {
  const auto m = static_cast<double>(n), c = static_cast<double>(k);
  return std::lgamma(m + 1) - std::lgamma(c + 1) - std::lgamma(m - c + 1) + c * log_p + (m - c) * log_q;
}

double log_exact(const BagKind& bag, double a, double b) {
  const double log_a = std::log(a), log_1a = std::log1p(-a), log_b = std::log(b), log_1b = std::log1p(-b);
  const std::uint64_t least = bag.predicted > bag.negatives ? bag.predicted - bag.negatives : 0;
  const std::uint64_t most = std::min(bag.positives, bag.predicted);
  double sum = 0;
  for (std::uint64_t i = least; i <= most; ++i) {
    sum += std::exp(log_binomial(bag.positives, i, log_a, log_1a) +
                    log_binomial(bag.negatives, bag.predicted - i, log_b, log_1b));
  }
  return std::log(std::max(sum, 1e-300));
}

struct CountMoments {
  double mean = 0, variance = 0;
};
CountMoments predicted_count(const BagKind& bag, double a, double b) {
  const auto n = static_cast<double>(bag.positives), m = static_cast<double>(bag.negatives);
  return {n * a + m * b, n * a * (1 - a) + m * b * (1 - b)};
}

double log_normal(const BagKind& bag, double a, double b) {
  auto [mean, variance] = predicted_count(bag, a, b);
  variance += 1.0 / 12;  // of a count's rounding
  const double off = static_cast<double>(bag.predicted) - mean;
  return -0.5 * (std::log(2 * std::numbers::pi * variance) + off * off / variance);
}

double log_likelihood(std::span<const BagKind> kinds, double a, double b) {
  a = std::clamp(a, kEdge, 1 - kEdge);
  b = std::clamp(b, kEdge, 1 - kEdge);
  double out = 0;
  for (const BagKind& bag : kinds) {
    const bool exact = bag.positives + bag.negatives <= kMostExactRows;
    out += bag.times * (exact ? log_exact(bag, a, b) : log_normal(bag, a, b));
  }
  return out;
}

struct Peak {
  double at = 0, value = 0;
};
// The largest value of f on [low, high], by golden section.
template <class F>
Peak golden_maximum(double low, double high, const F& f) {
  constexpr int kSteps = 32;  // 2e-7 of the range
  constexpr double kGolden = 0.6180339887498949;
  double left = high - kGolden * (high - low), right = low + kGolden * (high - low);
  double at_left = f(left), at_right = f(right);
  for (int i = 0; i < kSteps; ++i) {
    if (at_left >= at_right) {
      high = right;
      right = left;
      at_right = at_left;
      left = high - kGolden * (high - low);
      at_left = f(left);
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = low + kGolden * (high - low);
      at_right = f(right);
    }
  }
  return at_left >= at_right ? Peak{left, at_left} : Peak{right, at_right};
}

// Likelihoods by accuracy: over all (a, b) that have it, the largest one.
class Profile {
 public:
  Profile(std::vector<BagKind> kinds, double share) : kinds_(std::move(kinds)), share_(share) {}

  // a runs over the values for which b stays in [0, 1]: A = pi a + (1 - pi)(1 - b).
  [[nodiscard]] Peak best_sensitivity(double accuracy) const {
    const double low = std::max(0.0, (accuracy - (1 - share_)) / share_);
    const double high = std::min(1.0, accuracy / share_);
    return golden_maximum(low, high, [&](double a) { return log_likelihood(kinds_, a, other(accuracy, a)); });
  }
  [[nodiscard]] double other(double accuracy, double a) const {
    return std::clamp(1 - (accuracy - share_ * a) / (1 - share_), 0.0, 1.0);
  }
  [[nodiscard]] double value(double accuracy) const { return best_sensitivity(accuracy).value; }
  [[nodiscard]] std::span<const BagKind> kinds() const { return kinds_; }

 private:
  std::vector<BagKind> kinds_;
  double share_;
};

// Where the profile falls below `level` between `inside`, where it does not, and `outside`.
double crossing(const Profile& profile, double inside, double outside, double level) {
  if (profile.value(outside) >= level) return outside;
  for (int i = 0; i < 20; ++i) {
    const double middle = (inside + outside) / 2;
    (profile.value(middle) >= level ? inside : outside) = middle;
  }
  return inside;
}

}  // namespace

double log_likelihood(std::span<const CountedBag> bags, double sensitivity, double false_positives) {
  return log_likelihood(kinds_of(bags), sensitivity, false_positives);
}

std::optional<BagAccuracy> estimate_bag_accuracy(std::span<const CountedBag> bags, double confidence) {
  double rows = 0, positives = 0, spread = 0;
  for (const CountedBag& bag : bags) {
    rows += static_cast<double>(bag.rows);
    positives += bag.positives;
  }
  const double share = positives / rows;
  for (const CountedBag& bag : bags) {
    const auto size = static_cast<double>(bag.rows);
    const double off = bag.rows > 0 ? bag.positives / size - share : 0;
    spread += size * off * off;
  }
  if (bags.size() < 3 || !(share > 0 && share < 1) || !(spread > 1e-12 * rows)) return std::nullopt;
  const Profile profile(kinds_of(bags), share);
  const Peak best = golden_maximum(0.0, 1.0, [&](double accuracy) { return profile.value(accuracy); });
  BagAccuracy out;
  out.accuracy = best.at;
  out.sensitivity = profile.best_sensitivity(best.at).at;
  out.false_positives = profile.other(best.at, out.sensitivity);
  double misfit = 0;
  for (const BagKind& bag : profile.kinds()) {
    const auto [mean, variance] = predicted_count(bag, out.sensitivity, out.false_positives);
    const double off = static_cast<double>(bag.predicted) - mean;
    misfit += bag.times * off * off / (variance + 1.0 / 12);
  }
  const auto freedom = static_cast<double>(bags.size() - 2);
  out.dispersion = std::max(1.0, misfit / freedom);
  const double t = student_quantile(confidence, freedom);
  const double level = best.value - out.dispersion * t * t / 2;
  out.interval = {crossing(profile, best.at, 0, level), crossing(profile, best.at, 1, level)};
  return out;
}

}  // namespace bagwise
