#include "bagwise/solver/bag_count.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>

#include "bagwise/core/sigmoid.h"

namespace bagwise {
namespace {

// The theta at which what is seen is what is expected: sum_j q_j(f_j + theta) + s^2 theta = n. The left side
// rises with theta. Near enough will do: theta only keeps numbers in range.
double tilt(std::span<const double> f, const CountSeen& seen) {
  const auto [least, most] = std::minmax_element(f.begin(), f.end());
  const double square = seen.deviation * seen.deviation;
  constexpr double kWide = 50;
  double low = -*most - kWide, high = -*least + kWide;
  double theta = std::clamp(-(*least + *most) / 2, low, high);
  for (int step = 0; step < 100; ++step) {
    double sum = square * theta - seen.positives, slope = square;
    for (const double z : f) {
      const Sigmoid q(z + theta);
      sum += q.positive;
      slope += q.positive * q.negative;
    }
    if (std::abs(sum) < 0.25 * std::min(1.0, std::sqrt(slope))) break;
    (sum > 0 ? high : low) = theta;
    const double newton = theta - sum / slope;
    theta = newton > low && newton < high ? newton : (low + high) / 2;
  }
  return theta;
}

}  // namespace

CountSeen count_seen(double proportion, double noise, std::size_t rows) {
  const auto size = static_cast<double>(rows);
  const double positives = proportion * size;
  return {noise > 0 ? positives : std::round(positives), noise * size};
}

double BagCount::operator()(std::span<const double> f, const CountSeen& seen, std::span<double> slope,
                            double& variance) {
  assert(f.size() == slope.size());
  q_.resize(f.size());
  rest_.resize(f.size());
  variance = 0;
  for (std::size_t j = 0; j < f.size(); ++j) {
    const Sigmoid q(f[j]);
    q_[j] = q.positive;
    rest_[j] = q.negative;
    variance += q.positive * q.negative;
  }
  return f.size() <= exact_up_to_ ? exact(f, seen, slope) : normal(seen, slope);
}

double BagCount::exact(std::span<const double> f, const CountSeen& seen, std::span<double> slope) {
  const std::size_t rows = f.size();
  if (rows == 0) {  // has 0 positives, whatever was seen
    const double off = seen.deviation == 0 ? 0 : seen.positives / seen.deviation;
    return off * off / 2;
  }
  if (seen.deviation == 0 && (seen.positives <= 0 || seen.positives >= static_cast<double>(rows))) {
    const bool none = seen.positives <= 0;
    double nll = 0;
    for (std::size_t j = 0; j < rows; ++j) {
      nll += softplus(none ? f[j] : -f[j]);
      slope[j] = none ? q_[j] : -rest_[j];
    }
    return nll;
  }
  if (seen.deviation == 0 && 2 * seen.positives > static_cast<double>(rows)) {
    // The same of the negatives: fewer counts to sum over.
    turned_.resize(rows);
    std::transform(f.begin(), f.end(), turned_.begin(), std::negate());
    q_.swap(rest_);
    const double nll = exact(turned_, {static_cast<double>(rows) - seen.positives, 0}, slope);
    std::transform(slope.begin(), slope.end(), slope.begin(), std::negate());
    return nll;
  }
  // Counts above an exact one are of no use.
  const std::size_t top = seen.deviation == 0 ? static_cast<std::size_t>(seen.positives) : rows;
  weight_.assign(top + 1, 0.0);
  const auto log_weight = [&](std::size_t count, double theta) {
    if (seen.deviation == 0) return 0.0;
    const double off = (static_cast<double>(count) - seen.positives) / seen.deviation;
    return -off * off / 2 - theta * static_cast<double>(count);
  };
  const auto set_weights = [&](double theta) {
    if (seen.deviation == 0) {
      weight_[top] = 1;
      return -theta * static_cast<double>(top);
    }
    double largest = log_weight(0, theta);
    for (std::size_t c = 1; c <= top; ++c) largest = std::max(largest, log_weight(c, theta));
    for (std::size_t c = 0; c <= top; ++c) weight_[c] = std::exp(log_weight(c, theta) - largest);
    return largest;
  };
  constexpr double kTooSmall = 1e-120;  // below, what matters may underflow on the way
  const double largest = set_weights(0);
  const double plain = sums(f, 0, slope);
  if (plain > kTooSmall) return -std::log(plain) - largest;
  const double theta = tilt(f, seen);
  for (std::size_t j = 0; j < rows; ++j) {
    const Sigmoid q(f[j] + theta);
    q_[j] = q.positive;
    rest_[j] = q.negative;
  }
  double log_factor = set_weights(theta);
  for (const double z : f) log_factor += softplus(z + theta) - softplus(z);
  const double tilted = sums(f, theta, slope);
  return -std::log(tilted) - log_factor;
}

// With rows 0 ... i-1 seen and c positives among them, backward_(i, c) is the weight to be expected:
//   backward_(rows, c) = weight_c,   backward_(i, c) = q_i backward_(i+1, c+1) + (1 - q_i) backward_(i+1, c)
// and forward_(c) the probability of c. Their products over c add up to the answer at every i.
double BagCount::sums(std::span<const double> f, double theta, std::span<double> slope) {
  const std::size_t rows = f.size(), top = weight_.size() - 1, width = top + 2;
  backward_.resize((rows + 1) * width);
  double* next = backward_.data() + rows * width;
  std::copy(weight_.begin(), weight_.end(), next);
  next[top + 1] = 0;
  for (std::size_t i = rows; i-- > 1;) {
    double* now = next - width;
    const double q = q_[i], rest = rest_[i];
    for (std::size_t c = 0; c <= std::min(i, top); ++c) now[c] = q * next[c + 1] + rest * next[c];
    now[top + 1] = 0;
    next = now;
  }
  const double answer = q_[0] * next[1] + rest_[0] * next[0];

  forward_.assign(width, 0.0);
  forward_[0] = 1;
  for (std::size_t i = 0; i < rows; ++i) {
    const double q = q_[i], rest = rest_[i];
    const double* after = backward_.data() + (i + 1) * width;
    double difference = 0, positive = 0;
    const std::size_t most = std::min(i, top);
    for (std::size_t c = 0; c <= most; ++c) {
      difference += forward_[c] * (after[c] - after[c + 1]);
      positive += forward_[c] * after[c + 1];
    }
    // q_j of f less that given the count. The latter is of f + theta, or of f: the same.
    slope[i] = theta == 0 ? q * rest * difference / answer : Sigmoid(f[i]).positive - q * positive / answer;
    for (std::size_t c = std::min(i + 1, top); c > 0; --c)
      forward_[c] = forward_[c] * rest + forward_[c - 1] * q;
    forward_[0] *= rest;
  }
  return answer;
}

double BagCount::normal(const CountSeen& seen, std::span<double> slope) const {
  double mean = 0, variance = 1.0 / 12 + seen.deviation * seen.deviation;
  for (std::size_t j = 0; j < q_.size(); ++j) {
    mean += q_[j];
    variance += q_[j] * rest_[j];
  }
  const double off = seen.positives - mean;
  const double by_mean = -off / variance, by_variance = (1 - off * off / variance) / (2 * variance);
  for (std::size_t j = 0; j < q_.size(); ++j)
    slope[j] = q_[j] * rest_[j] * (by_mean + by_variance * (rest_[j] - q_[j]));
  return 0.5 * std::log(variance) + off * off / (2 * variance);
}

}  // namespace bagwise
