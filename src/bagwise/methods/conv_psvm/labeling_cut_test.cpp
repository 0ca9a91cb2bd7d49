#include "bagwise/methods/conv_psvm/labeling_cut.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "bagwise/core/random.h"
#include "support/labelings.h"

namespace bagwise {
namespace {

using test::every_feasible_labeling;

double squared_sum(const DenseRows& rows, const std::vector<double>& alpha, const Labels& y) {
  double out = 0;
  for (std::size_t c = 0; c < rows.columns(); ++c) {
    double sum = 0;
    for (std::size_t j = 0; j < alpha.size(); ++j) sum += alpha[j] * y[j] * rows(j, c);
    out += sum * sum;
  }
  return out;
}

TEST_CASE("labeling_cut: candidates are the best of all feasible labelings, and the longest is taken",
          "[methods][conv_psvm]") {
  Rng rng(1);
  for (int round = 0; round < 60; ++round) {
    std::vector<std::size_t> starts = {0};
    std::vector<double> proportions;
    while (starts.size() < 4) {
      const std::size_t size = rng.below(4) + (starts.size() == 1 ? 1 : 0);
      starts.push_back(starts.back() + size);
      proportions.push_back(rng.uniform());
    }
    const std::size_t n = starts.back(), d = 1 + rng.below(4);
    DenseRows rows(n, d);
    std::vector<double> alpha(n);
    for (std::size_t j = 0; j < n; ++j) {
      alpha[j] = rng.below(4) == 0 ? 0.0 : rng.uniform();
      for (std::size_t c = 0; c < d; ++c) rows(j, c) = rng.below(5) == 0 ? 0.0 : rng.normal();
    }
    if (std::ranges::max(alpha) == 0) continue;
    const FeasibleLabels feasible(starts, proportions, round % 2 == 0 ? 0.1 : 0.4);
    const std::vector<Labels> all = every_feasible_labeling(feasible);
    const LabelingCut cut(rows.view(), d, feasible, 2);
    const auto found = cut.find(alpha);
    CHECK(std::ranges::find(all, found.labels) != all.end());
    CHECK(found.squared_length == Approx(squared_sum(rows, alpha, found.labels)).margin(1e-12));
    double longest = 0, best_coordinate = 0;
    for (const Labels& y : all) {
      longest = std::max(longest, squared_sum(rows, alpha, y));
      for (std::size_t c = 0; c < d; ++c) {
        double sum = 0;
        for (std::size_t j = 0; j < n; ++j) sum += alpha[j] * y[j] * rows(j, c);
        best_coordinate = std::max(best_coordinate, sum * sum);
      }
    }
    CHECK(found.squared_length <= longest * (1 + 1e-9) + 1e-12);
    CHECK(found.squared_length >= best_coordinate * (1 - 1e-9) - 1e-12);
    if (d == 1) CHECK(found.squared_length == Approx(longest).margin(1e-12));
  }
}

TEST_CASE("labeling_cut: sparse rows and threads change nothing", "[methods][conv_psvm]") {
  Rng rng(2);
  const std::size_t n = 60, d = 50;
  DenseRows rows(n, d);
  Csr sparse;
  sparse.columns = d;
  std::vector<double> alpha(n);
  for (std::size_t j = 0; j < n; ++j) {
    alpha[j] = rng.uniform();
    for (std::size_t c = 0; c < d; ++c) {
      if (rng.below(5) != 0) continue;
      rows(j, c) = rng.normal();
      sparse.index.push_back(static_cast<std::int32_t>(c));
      sparse.values.push_back(rows(j, c));
    }
    sparse.start.push_back(static_cast<std::int64_t>(sparse.values.size()));
  }
  const FeasibleLabels feasible({0, 20, 40, 60}, std::vector<double>{0.2, 0.5, 0.7}, 0.1);
  const auto one = LabelingCut(rows.view(), d, feasible, 1).find(alpha);
  CHECK(LabelingCut(rows.view(), d, feasible, 4).find(alpha).labels == one.labels);
  CHECK(LabelingCut(sparse.view(), d, feasible, 2).find(alpha).labels == one.labels);
}

}  // namespace
}  // namespace bagwise
