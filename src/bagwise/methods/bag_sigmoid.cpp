#include "bagwise/methods/bag_sigmoid.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <vector>

#include "bagwise/core/sigmoid.h"

namespace bagwise {
namespace {

constexpr double kSlopeDeviation = 10;  // of the prior on the slope, in units of 1 / spread
constexpr double kLeastSlope = 1e-3;

// Slope and offset for scores in standard units.
struct Point {
  double a = 1, b = 0;
};

struct Derivatives {
  double value = 0;
  double a = 0, b = 0;            // gradient
  double aa = 0, ab = 0, bb = 0;  // Hessian
};

// Scores as (f - centre) / spread, in units of the largest so that nothing overflows.
struct StandardScores {
  std::vector<double> u;
  double largest = 0, centre = 0, spread = 0;  // the latter two in units of `largest`

  explicit StandardScores(std::span<const double> scores) : u(scores.begin(), scores.end()) {
    for (const double f : scores) largest = std::max(largest, std::abs(f));
    if (largest == 0) largest = 1;
    const auto count = static_cast<double>(scores.size());
    for (double& f : u) centre += (f /= largest);
    centre /= count;
    for (double& f : u) spread += std::abs(f -= centre);
    spread /= count;
    constexpr double kRounding = 1e-14;
    if (spread <= kRounding * std::abs(centre) || spread == 0) {  // all alike
      std::fill(u.begin(), u.end(), 0.0);
      spread = 1;
    }
    for (double& f : u) f /= spread;
  }

  [[nodiscard]] Probability original(const Point& at) const {
    constexpr double kLargest = std::numeric_limits<double>::max();
    const double slope = at.a / spread;
    return {std::clamp(slope / largest, std::numeric_limits<double>::denorm_min(), kLargest),
            at.b - slope * centre};
  }
};

// The problem's negative in standard units.
class BagLikelihood {
 public:
  BagLikelihood(const StandardScores& scores, std::span<const std::size_t> bag_start,
                std::span<const double> proportions)
      : u_(scores.u), start_(bag_start), target_(proportions.begin(), proportions.end()) {
    double positives = 0, negatives = 0;
    for (std::size_t k = 0; k < target_.size(); ++k) {
      positives += size(k) * target_[k];
      negatives += size(k) * (1 - target_[k]);
    }
    const double high = (positives + 1) / (positives + 2), low = 1 / (negatives + 2);
    for (double& t : target_) t = t * high + (1 - t) * low;
    for (std::size_t k = 0; k < target_.size(); ++k) share_ += size(k) * target_[k];
    share_ /= positives + negatives;
  }

  [[nodiscard]] double share() const { return share_; }  // of positives over all rows, by the targets

  [[nodiscard]] double value(const Point& at) const {
    double sum = 0.5 * square(at.a / kSlopeDeviation);
    for (std::size_t k = 0; k < target_.size(); ++k) {
      double q = 0, rest = 0;  // sums of the sigmoid and of 1 less it, each without cancellation
      for (std::size_t i = start_[k]; i < start_[k + 1]; ++i) {
        const Sigmoid s(at.a * u_[i] + at.b);
        q += s.positive;
        rest += s.negative;
      }
      sum += loss(k, floored(q), floored(rest));
    }
    return sum;
  }

  [[nodiscard]] Derivatives derivatives(const Point& at) const {
    Derivatives d;
    d.value = 0.5 * square(at.a / kSlopeDeviation);
    d.a = at.a / square(kSlopeDeviation);
    d.aa = 1 / square(kSlopeDeviation);
    for (std::size_t k = 0; k < target_.size(); ++k) add_bag(k, at, d);
    return d;
  }

 private:
  static double square(double x) { return x * x; }
  // Far out a sum may underflow: any finite logarithm will do, as no step ends there.
  static double floored(double sum) { return std::max(sum, std::numeric_limits<double>::min()); }
  [[nodiscard]] double size(std::size_t k) const { return static_cast<double>(start_[k + 1] - start_[k]); }
  [[nodiscard]] double loss(std::size_t k, double q, double rest) const {
    const double n = size(k);
    if (n == 0) return 0;
    return -n * (target_[k] * std::log(q / n) + (1 - target_[k]) * std::log(rest / n));
  }

  // Derivatives of q are divided by q (and by 1 - q) at once: the ratios stay small where q is tiny.
  void add_bag(std::size_t k, const Point& at, Derivatives& d) const {
    if (start_[k] == start_[k + 1]) return;
    double q = 0, rest = 0, a = 0, b = 0, aa = 0, ab = 0, bb = 0;
    for (std::size_t i = start_[k]; i < start_[k + 1]; ++i) {
      const double u = u_[i];
      const Sigmoid s(at.a * u + at.b);
      const double first = s.positive * s.negative, second = first * (s.negative - s.positive);
      q += s.positive;
      rest += s.negative;
      a += first * u;
      b += first;
      aa += second * u * u;
      ab += second * u;
      bb += second;
    }
    q = floored(q);
    rest = floored(rest);
    const double n = size(k), up = n * target_[k], down = n * (1 - target_[k]);
    const double slope = down / rest - up / q;  // of the loss in the sum of sigmoids
    d.value += loss(k, q, rest);
    d.a += slope * a;
    d.b += slope * b;
    d.aa += up * (a / q) * (a / q) + down * (a / rest) * (a / rest) + slope * aa;
    d.ab += up * (a / q) * (b / q) + down * (a / rest) * (b / rest) + slope * ab;
    d.bb += up * (b / q) * (b / q) + down * (b / rest) * (b / rest) + slope * bb;
  }

  const std::vector<double>& u_;
  std::span<const std::size_t> start_;
  std::vector<double> target_;
  double share_ = 0;
};

// The Newton step with the Hessian's eigenvalues made positive (their absolute value): downhill always.
Point newton_step(const Derivatives& d, bool slope_held) {
  const double largest = std::max({std::abs(d.aa), std::abs(d.bb), std::abs(d.ab)});
  const double least = std::max(1e-10 * largest, std::numeric_limits<double>::min());
  if (slope_held) return {0, -d.b / std::max(std::abs(d.bb), least)};
  const double half = (d.aa - d.bb) / 2, radius = std::hypot(half, d.ab), middle = (d.aa + d.bb) / 2;
  // The eigenvector of the larger eigenvalue is (cos, sin) of this angle.
  const double angle = 0.5 * std::atan2(d.ab, half), c = std::cos(angle), s = std::sin(angle);
  const double first = (c * d.a + s * d.b) / std::max(std::abs(middle + radius), least);
  const double second = (-s * d.a + c * d.b) / std::max(std::abs(middle - radius), least);
  return {-(c * first - s * second), -(s * first + c * second)};
}

// Damped Newton with the slope kept at or above its least value.
Point descend(const BagLikelihood& likelihood, Point at) {
  constexpr int kSteps = 100, kHalvings = 40;
  constexpr double kArmijo = 1e-4, kSmall = 1e-12, kRounding = 1e-15;
  Derivatives d = likelihood.derivatives(at);
  for (int step = 0; step < kSteps; ++step) {
    const bool held = at.a <= kLeastSlope && d.a >= 0;
    const Point move = newton_step(d, held);
    const double longest = std::max(std::abs(move.a), std::abs(move.b));
    if (!(longest > kSmall * (1 + std::abs(at.a) + std::abs(at.b)))) break;
    double part = std::min(1.0, 20 / longest);  // far from the curvature's validity otherwise
    Point next = at;
    bool lower = false;
    for (int k = 0; k < kHalvings && !lower; ++k, part /= 2) {
      next = {std::max(kLeastSlope, at.a + part * move.a), at.b + part * move.b};
      const double expected = d.a * (next.a - at.a) + d.b * (next.b - at.b);
      lower = likelihood.value(next) <= d.value + kArmijo * std::min(0.0, expected) + kRounding * d.value;
    }
    if (!lower) break;  // as low as rounding lets it be seen
    at = next;
    d = likelihood.derivatives(at);
  }
  return at;
}

}  // namespace

Probability fit_bag_sigmoid(std::span<const double> scores, std::span<const std::size_t> bag_start,
                            std::span<const double> proportions) {
  assert(bag_start.size() == proportions.size() + 1 && bag_start.back() == scores.size());
  if (scores.empty()) return {};
  const StandardScores standard(scores);
  const BagLikelihood likelihood(standard, bag_start, proportions);
  // The score above which the share of rows is that of positives.
  const double share = likelihood.share();
  std::vector<double> sorted = standard.u;
  const auto place = static_cast<std::size_t>((1 - share) * static_cast<double>(sorted.size() - 1));
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(place), sorted.end());
  const double cut = sorted[place];

  constexpr double kGain = 1e-9;  // a later start must be lower by this much: rounding chooses none
  const std::array starts = {Point{0.5, std::log(share / (1 - share))}, Point{2, -2 * cut},
                             Point{8, -8 * cut}};
  Point best;
  double lowest = std::numeric_limits<double>::infinity();
  for (const Point& start : starts) {
    const Point at = descend(likelihood, start);
    const double value = likelihood.value(at);
    if (value < lowest - (std::isfinite(lowest) ? kGain * std::abs(lowest) : 0)) best = at, lowest = value;
  }
  return standard.original(best);
}

}  // namespace bagwise
