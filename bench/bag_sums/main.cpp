// Rows in memory to sums per bag: compensated, in fixed blocks, beside the plain loop that keeps neither
// promise.
//
// The answers are compared first, with sums in long double; then the times, as ratios to the plain loop.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "bagwise/bags/bagged_data.h"
#include "bagwise/core/random.h"
#include "bagwise/core/timing.h"

namespace {

using namespace bagwise;

BaggedData make_data(std::size_t rows, std::size_t features, std::size_t bags) {
  Rng rng(1);
  BaggedData data;
  DenseRows values(rows, features);
  for (std::size_t i = 0; i < rows; ++i) {
    for (double& x : values.row(i)) x = 1e3 + rng.uniform();
    data.bag_of_row.push_back(static_cast<std::uint32_t>(rng.below(bags)));
  }
  for (std::size_t k = 0; k < bags; ++k) {
    data.bags.names.push_back(fmt::format("{:07}", k));
    data.bags.proportions.push_back(0.5);
  }
  for (std::size_t j = 0; j < features; ++j) data.feature_names.push_back(fmt::format("x{}", j));
  data.features = Features(std::move(values));
  return data;
}

template <class Sum>
std::vector<Sum> plain_sums(const BaggedData& data) {
  const auto rows = std::get<DenseView>(data.features.view());
  std::vector<Sum> sums(data.bags.size() * rows.columns, 0);
  for (std::size_t i = 0; i < rows.rows; ++i) {
    Sum* to = sums.data() + data.bag_of_row[i] * rows.columns;
    for (std::size_t j = 0; j < rows.columns; ++j) to[j] += rows.row(i)[j];
  }
  return sums;
}

double best_seconds(const std::function<void()>& run) {
  double best = 1e300;
  for (int k = 0; k < 5; ++k) {
    const Stopwatch watch;
    run();
    best = std::min(best, watch.seconds());
  }
  return best;
}

void compare(std::size_t rows, std::size_t features, std::size_t bags) {
  const BaggedData data = make_data(rows, features, bags);
  const auto exact = plain_sums<long double>(data);
  const auto worst = [&](const auto& value) {
    long double error = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      if (exact[i] != 0) error = std::max(error, std::abs((value(i) - exact[i]) / exact[i]));
    }
    return static_cast<double>(error);
  };
  std::vector<double> plain;
  ReducedBags ours;
  const double plain_seconds = best_seconds([&] { plain = plain_sums<double>(data); });
  const double one = best_seconds([&] { ours = reduce(data, 1); });
  const double two = best_seconds([&] { ours = reduce(data, 2); });
  const double gigabytes = static_cast<double>(rows * features * sizeof(double)) / 1e9;
  fmt::print(
      "{:>9}{:>6}{:>9} |{:>8.2f} GB/s  error {:.0e} |{:>8.2f} GB/s{:>7.2f}x |{:>8.2f} GB/s{:>7.2f}x  error "
      "{:.0e}\n",
      rows, features, bags, gigabytes / plain_seconds,
      worst([&](std::size_t i) { return static_cast<long double>(plain[i]); }), gigabytes / one,
      plain_seconds / one, gigabytes / two, plain_seconds / two, worst([&](std::size_t i) {
        return static_cast<long double>(ours.sums.sum(i / features, i % features));
      }));
}

}  // namespace

int main() {
  fmt::print("{:>9}{:>6}{:>9} |{:<26} |{:<21} |{}\n", "rows", "cols", "bags", "  plain loop",
             "  ours, 1 thread", "  ours, 2 threads");
  compare(1'000'000, 50, 100);
  compare(1'000'000, 50, 10'000);
  compare(1'000'000, 50, 500'000);
  compare(200'000, 200, 25'000);
  return 0;
}
