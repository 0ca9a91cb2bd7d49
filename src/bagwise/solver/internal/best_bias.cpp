#include "bagwise/solver/internal/best_bias.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bagwise/comm/over_ranks.h"
#include "bagwise/linalg/compensated.h"
#include "bagwise/solver/internal/blocks.h"

namespace bagwise::internal {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kInside = 1e-12;      // far enough from a kink for rounding not to cross it
constexpr std::size_t kSample = 4096;  // with more kinks than twice this, a sample narrows the search first

struct Kink {
  double at, slope;  // the loss grows by `slope` per unit more of bias beyond `at`
  bool operator<(const Kink& other) const { return at < other.at; }
};

double at(const std::vector<double>& values, std::size_t i) { return values.empty() ? 0.0 : values[i]; }

// Calls use(task, kink, pulls_up) for the kinks of row i; those of the lower side pull the bias up before it.
template <class Use>
void kinks_of_row(const TubeProblem& p, const Unbiased& rows, std::size_t i, const Use& use) {
  const std::size_t t = p.task_of(i);
  const double rest = p.target[i] - rows.z[static_cast<Eigen::Index>(i)], g = rows.along[t];
  if (p.cost_above[i] > 0) use(t, Kink{rest + p.tube[i] - at(p.shift_above, i) * g, p.cost_above[i]}, false);
  if (p.cost_below[i] > 0) use(t, Kink{rest - p.tube[i] + at(p.shift_below, i) * g, p.cost_below[i]}, true);
}

// A task's kinks between two values, sorted, and the slope just before them.
struct Window {
  double low = -kInfinity, high = kInfinity;
  CompensatedSum slope;  // before the first kink above `low`
  double total = 0;      // the slope before all kinks, without its sign
  std::vector<Kink> kinks;

  [[nodiscard]] double noise() const { return 1e-13 * total; }
  // Whether the best bias, and the kink after it, are surely among these.
  [[nodiscard]] bool holds_best() const {
    if (low == -kInfinity && high == kInfinity) return true;
    double after = slope.value();
    if (after >= -noise() || kinks.size() < 2) return false;
    for (std::size_t k = 0; k + 1 < kinks.size(); ++k) after += kinks[k].slope;
    return after > noise();
  }
};

// Where each task's best bias lies, judged by every `stride`-th row: a fifth of the sample around it.
void narrow(const TubeProblem& p, const Unbiased& rows, std::vector<Window>& windows) {
  std::vector<std::vector<Kink>> sample(p.tasks());
  std::vector<double> slope(p.tasks(), 0.0);
  const std::size_t stride = std::max<std::size_t>(1, p.size() / kSample);
  for (std::size_t i = stride / 2; i < p.size(); i += stride) {
    kinks_of_row(p, rows, i, [&](std::size_t t, const Kink& kink, bool pulls_up) {
      sample[t].push_back(kink);
      if (pulls_up) slope[t] -= kink.slope;
    });
  }
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    sample[t] = gather_over_ranks(p.comm, std::move(sample[t]));
    slope[t] = sum_over_ranks(p.comm, slope[t]);
    auto& kinks = sample[t];
    if (kinks.size() < 100) continue;
    std::sort(kinks.begin(), kinks.end());
    std::size_t k = 0;
    for (double s = slope[t]; k + 1 < kinks.size() && s + kinks[k].slope < 0; ++k) s += kinks[k].slope;
    const std::size_t margin = kinks.size() / 20;
    windows[t].low = k > margin ? kinks[k - margin].at : -kInfinity;
    windows[t].high = k + margin < kinks.size() ? kinks[k + margin].at : kInfinity;
  }
}

void collect(const TubeProblem& p, const Unbiased& rows, unsigned threads, std::vector<Window>& windows) {
  std::vector<Window> empty = windows;
  for (Window& w : empty) w = {w.low, w.high, {}, 0, {}};
  const auto parts = parts_of_blocks(
      p.size(), threads, empty, [&](std::size_t from, std::size_t to, std::vector<Window>& part) {
        for (std::size_t i = from; i < to; ++i) {
          kinks_of_row(p, rows, i, [&](std::size_t t, const Kink& kink, bool pulls_up) {
            Window& w = part[t];
            if (pulls_up) {
              w.slope.add(-kink.slope);
              w.total += kink.slope;
            }
            if (kink.at <= w.low)
              w.slope.add(kink.slope);
            else if (kink.at <= w.high)
              w.kinks.push_back(kink);
          });
        }
      });
  windows = std::move(empty);
  for (const auto& part : parts) {
    for (std::size_t t = 0; t < p.tasks(); ++t) {
      windows[t].slope.add(part[t].slope);
      windows[t].total += part[t].total;
      windows[t].kinks.insert(windows[t].kinks.end(), part[t].kinks.begin(), part[t].kinks.end());
    }
  }
  for (Window& w : windows) {
    w.slope = sum_over_ranks(p.comm, w.slope);
    w.total = sum_over_ranks(p.comm, w.total);
    w.kinks = gather_over_ranks(p.comm, std::move(w.kinks));
  }
  for (Window& w : windows) std::sort(w.kinks.begin(), w.kinks.end());
}

double best_bias(const Window& w) {
  const auto& kinks = w.kinks;
  if (kinks.empty()) return 0;
  if (w.total == 0)  // nothing pulls up: any bias below all kinks is best
    return kinks[0].at - kInside * (1 + std::abs(kinks[0].at));
  CompensatedSum slope = w.slope;
  std::size_t k = 0;
  while (k + 1 < kinks.size() && slope.value() + kinks[k].slope < -w.noise()) slope.add(kinks[k++].slope);
  // The slope turns from negative at kink k. If it is zero after it, the loss is flat up to kink k + 1.
  slope.add(kinks[k].slope);
  const bool flat = std::abs(slope.value()) <= w.noise();
  if (flat && k + 1 < kinks.size()) return (kinks[k].at + kinks[k + 1].at) / 2;
  return kinks[k].at + (flat ? kInside * (1 + std::abs(kinks[k].at)) : 0);
}

}  // namespace

std::vector<double> best_biases(const TubeProblem& p, const Unbiased& rows, unsigned threads) {
  std::vector<Window> windows(p.tasks());
  if (any_over_ranks(p.comm, p.size() > kSample)) narrow(p, rows, windows);
  collect(p, rows, threads, windows);
  if (!std::all_of(windows.begin(), windows.end(), [](const Window& w) { return w.holds_best(); })) {
    for (Window& w : windows) w = {};
    collect(p, rows, threads, windows);
  }
  std::vector<double> biases;
  for (const Window& w : windows) biases.push_back(best_bias(w));
  return biases;
}

}  // namespace bagwise::internal
